package sim

import (
	"fmt"
	"io"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
)

// traceHash is the record of a run: always its rolling hash, and text on demand.
type traceHash struct {
	step   uint64
	hash   uint64
	out    io.Writer
	window Window
	// last is the machine of the latest step, to blame for what inline code does.
	last *machine
}

// traceStep says what a step was.
type traceStep uint8

const (
	stepStart traceStep = iota + 1
	stepRun
	stepTimer
	stepControl
	stepDeliver
	stepLose
	stepRefuse
	stepHold
	stepDisk
	stepDecision
	stepEmit
	stepUp
	stepDown
)

var stepNames = [...]string{
	stepStart:    "start",
	stepRun:      "run",
	stepTimer:    "fire",
	stepControl:  "control",
	stepDeliver:  "deliver",
	stepLose:     "lose",
	stepRefuse:   "refuse",
	stepHold:     "hold",
	stepDisk:     "disk",
	stepDecision: "decide",
	stepEmit:     "emit",
	stepUp:       "up",
	stepDown:     "down",
}

// Hash is the rolling hash over every step so far.
func (w *World) Hash() uint64 { return w.trace.hash }

// note counts a step and adds it to the trace. The name goes into the text only, for which id
// stands in the hash.
func (w *World) note(s traceStep, m *machine, name string, n, id uint64) {
	t := &w.trace
	t.step++
	t.last = m
	index := uint64(0)
	if m != nil {
		index = uint64(m.index) + 1
	}
	t.hash = addToHash(addToHash(t.hash, id^(uint64(s)<<32|index)),
		uint64(w.now)^n*0x9fb21c651e98df25)
	if t.out != nil && t.window.contains(t.step) {
		w.write(s, m, name, n)
	}
	if w.opts.OnStep != nil {
		w.opts.OnStep(Step{stepNames[s], nameOf(m), name, n})
	}
}

func nameOf(m *machine) env.NodeID {
	if m == nil {
		return "-"
	}
	return m.id
}

// write prints one step: number, virtual time, node, what.
func (w *World) write(s traceStep, m *machine, name string, n uint64) {
	what := stepNames[s] + " " + name
	if n != 0 {
		what = fmt.Sprintf("%s #%d", what, n)
	}
	fmt.Fprintf(w.trace.out, "%8d %14s %-12s %s\n", w.trace.step, time.Duration(w.now), nameOf(m),
		what)
}

func (w *World) emit(m *machine, e *trace.Event) {
	if w.frozen || w.broken != nil {
		return
	}
	e.At, e.Node = int64(w.now), ""
	if m != nil {
		e.Node = string(m.id)
		e.SetClock(func() int64 { return int64(m.wall()) })
	}
	text := e.Kind.String()
	if w.trace.out != nil {
		text = eventLine(e)
	}
	w.note(stepEmit, m, text, 0, hashEvent(e))
	e.Step = w.trace.step
	if w.opts.Observer != nil {
		w.opts.Observer.Observe(e)
	}
}

func hashEvent(e *trace.Event) uint64 {
	h := addToHash(uint64(e.Kind)<<8|uint64(e.Actor), e.Term)
	h = addToHash(addToHash(h, e.Index), e.Hash)
	subject, says, n := e.Details()
	h = addToHash(h, uint64(n))
	for _, s := range [...]string{
		e.Shard, e.Peer, e.NS, e.Key, e.DocID, e.Min, e.Max, subject, says,
	} {
		if s != "" {
			h = hashString(h, s)
		} else {
			h = addToHash(h, 1)
		}
	}
	for i := range e.Chunks {
		h = hashChunk(h, &e.Chunks[i])
	}
	return h
}

func hashChunk(h uint64, c *trace.Chunk) uint64 {
	h = hashString(hashString(h, c.Min), c.Max)
	h = hashString(hashString(h, c.Shard), c.Epoch)
	h = addToHash(h, uint64(c.Major)<<32|uint64(c.Minor))
	for _, p := range c.History {
		h = hashString(addToHash(h, p.ValidAfter), p.Shard)
	}
	return h
}

// eventLine is an event in one line; keys are quoted since they are bytes.
func eventLine(e *trace.Event) string {
	text := e.Kind.String()
	if e.Actor != trace.Nobody {
		text += " by " + e.Actor.String()
	}
	subject, says, n := e.Details()
	for _, f := range [...]struct{ name, value string }{
		{"shard", e.Shard}, {"peer", e.Peer}, {"ns", e.NS}, {"value", says}, {"id", subject},
	} {
		if f.value != "" {
			text += " " + f.name + "=" + f.value
		}
	}
	for _, f := range [...]struct{ name, value string }{
		{"key", e.Key}, {"doc", e.DocID}, {"min", e.Min}, {"max", e.Max},
	} {
		if f.value != "" {
			text += fmt.Sprintf(" %s=%q", f.name, f.value)
		}
	}
	if e.Term|e.Index != 0 {
		text += fmt.Sprintf(" at=%d/%d", e.Term, e.Index)
	}
	if n != 0 {
		text += fmt.Sprintf(" n=%d", n)
	}
	if e.Hash != 0 {
		text += fmt.Sprintf(" hash=%016x", e.Hash)
	}
	for _, c := range e.Chunks {
		text += fmt.Sprintf(" [%q, %q)@%s:%d|%d", c.Min, c.Max, c.Shard, c.Major, c.Minor)
	}
	return text
}
