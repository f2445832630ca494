// Package envtest is the table of what a world promises to the code that runs in it: one test for
// each promise of system/env, which every world passes. A world's own package calls Run.
//
// Promise: a test says nothing about how a world does it, and takes no longer than a second of the
// world's time.
//
// Refusal: chance, faults of the network and clocks that drift are a world's own matter.
package envtest

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/env"
)

// World is a world with what a test needs to drive it.
type World interface {
	// AddNode adds a node and boots it.
	AddNode(id env.NodeID, boot env.Boot)
	// Crash ends the node's process, Restart boots it again on what its disk kept.
	Crash(id env.NodeID)
	Restart(id env.NodeID)
	// Say notes a line; it may be called from any node at any time. Said are all lines so far.
	Say(line string)
	Said() []string
	// Wait lets the world go on until the condition holds, and reports whether it did within a
	// time that is long for every test here. The condition must look at Said only.
	Wait(until func() bool) bool
	// Broken is why the world, or any node of it, has ended by a mistake of its code; nil for none.
	Broken() error
}

// Text is the only message of these tests. Its codec is Codec.
type Text struct{ Text string }

// Codec turns texts into their bytes.
var Codec env.Codec = textCodec{}

type textCodec struct{}

// Encode implements env.Codec.
func (textCodec) Encode(m env.Message) ([]byte, error) { return []byte(m.(*Text).Text), nil }

// Decode implements env.Codec.
func (textCodec) Decode(b []byte) (env.Message, error) { return &Text{string(b)}, nil }

// promise is one test: a world's nodes, named a and b, note what they see, and these lines must
// come, in this order. A promise with a script drives the world itself.
type promise struct {
	name   string
	a, b   env.Boot
	said   []string
	script func(h *hall)
}

// hall is a world during a test.
type hall struct {
	World
	t *testing.T
}

// Run tests a world: make returns a new one, which the test's end closes.
func Run(t *testing.T, make func(t *testing.T) World) {
	for _, group := range [][]func(h *hall) promise{tasks, timing, messages, disks, endings} {
		for _, of := range group {
			h := &hall{}
			p := of(h)
			t.Run(p.name, func(t *testing.T) {
				h.World, h.t = make(t), t
				p.run(h)
			})
		}
	}
}

func (p *promise) run(h *hall) {
	if p.b != nil {
		h.AddNode("b", p.b)
	}
	if p.a != nil {
		h.AddNode("a", p.a)
	}
	if p.script != nil {
		p.script(h)
	}
	h.wants(p.said...)
	if err := h.Broken(); err != nil {
		h.t.Errorf("the world is broken: %v", err)
	}
}

// wants waits until so many lines were said, and compares them.
func (h *hall) wants(lines ...string) {
	h.t.Helper()
	h.Wait(func() bool { return len(h.Said()) >= len(lines) })
	said := h.Said()
	for i := range max(len(lines), len(said)) {
		want, got := at(lines, i), at(said, i)
		if want != got {
			h.t.Errorf("line %d is %q, and must be %q; all of them: %q", i+1, got, want, said)
			return
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

// heard waits for one line among all.
func (h *hall) heard(line string) {
	h.t.Helper()
	found := h.Wait(func() bool {
		for _, said := range h.Said() {
			if said == line {
				return true
			}
		}
		return false
	})
	if !found {
		h.t.Fatalf("nobody said %q; said was %q", line, h.Said())
	}
}

// idle is long for a message and short for a test.
const idle = 20 * time.Millisecond

// long is longer than any test takes.
const long = time.Minute
