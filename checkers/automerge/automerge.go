// Package automerge judges merges of chunks that nobody has asked for (protocol 13.4): whether
// operators let the config server have chunks merged when it asked for that, and whether it did.
//
// Promise: a request is judged by what its sender had in its own log when the request was chosen
// and when it was sent, so that a switch that was not there yet, or is being rolled back, is held
// against nobody.
//
// Refusal: it does not judge which chunks become one, nor commits: a request may arrive long after
// it was sent. It reads no log; who knows the store tells it what is there.
package automerge

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// Checker is automatic-merges.
var Checker = verdict.Checker{
	Name: "automatic-merges",
	Promise: "The config server starts automatic merges only while the balancer is on and its " +
		"window is open, and only for collections for which they are allowed; and while they are " +
		"allowed, it merges all chunks that can be merged.",
	Signatures: verdict.Meanings{
		whileOff: "chunks were to be merged automatically while the balancer or automatic " +
			"merging was off",
		outsideWindow: "chunks were to be merged automatically outside the active window",
		exempt: "automatic merges were requested for a collection that is excluded from balancing " +
			"or from automatic merging",
		notMerged: "chunks that can be merged were left unmerged in several passes",
	},
}

// The signatures of merges that must not be.
const (
	whileOff      verdict.Signature = "merged-while-off"
	outsideWindow verdict.Signature = "merged-outside-window"
	exempt        verdict.Signature = "merged-exempt-collection"
	notMerged     verdict.Signature = "mergeable-chunks-left"
)

// Catalog is every checker of this package.
func Catalog() []verdict.Checker { return []verdict.Checker{Checker} }

// Request is that a member of the config server asks a shard to merge what it can.
type Request struct {
	Node, Shard, NS string
	// Chosen is the collection as the sender had it when it chose the shard, Set what was set for
	// the cluster when it decided to send the request; nil for what is not known.
	Chosen *Collection
	Set    *Switches
	// Local is the time of day at the sender when it decided; negative if that is not known.
	Local time.Duration
}

// Collection is what is said of a collection.
type Collection struct {
	// NoBalance and NoMerge are what operators have said; Fixed says that an operation forbids
	// migrations; Sessions, that it is the sessions' own, whose chunks are cut on purpose.
	NoBalance, NoMerge, Fixed, Sessions bool
	// Defragment says that it is to have fewer chunks: they are merged for that, whatever else is
	// said of automatic merges.
	Defragment bool
}

// Switches are what operators have set for the whole cluster.
type Switches struct {
	Mode trace.BalancerMode
	// Window is when the balancer may do anything, nil for always.
	Window *Window
	// NoMerge says that automatic merging is off.
	NoMerge bool
}

// Window is from when to when on a day, both included; after the end it begins on the day before.
type Window struct{ Start, Stop time.Duration }

func (w *Window) open(local time.Duration) bool {
	const day = 24 * time.Hour
	since := func(t time.Duration) time.Duration { return ((t-w.Start)%day + day) % day }
	return since(local) <= since(w.Stop)
}

// Judge judges the requests of a run. The zero Judge has seen none.
type Judge struct {
	step    uint64
	checked int
	found   []verdict.Violation
}

// Observe takes note of when events happen.
func (j *Judge) Observe(e *trace.Event) { j.step = e.Step }

// Asked judges a request.
func (j *Judge) Asked(r *Request) {
	j.checked++
	if signature, because := r.forbidden(); because != "" {
		j.found = append(j.found, verdict.Violation{
			Signature: signature,
			NS:        r.NS,
			Broke: fmt.Sprintf("%s asked %s to merge chunks of %s, for which nobody had asked",
				r.Node, r.Shard, r.NS),
			Because: []string{because},
			Events:  []uint64{j.step},
		})
	}
}

// Verdict is the conclusion on all requests.
func (j *Judge) Verdict() verdict.Verdict {
	v := Checker.Begin()
	v.Checked = j.checked
	for _, violation := range j.found {
		v.Add(violation)
	}
	return v
}

// forbidden says what forbids the request; empty when nothing does for certain.
func (r *Request) forbidden() (s verdict.Signature, because string) {
	if c := r.Chosen; c != nil {
		if because = c.exempted(); because != "" {
			return exempt, because + " when " + r.Node + " chose that"
		}
	}
	set := r.Set
	switch {
	case set == nil:
	case set.Mode != trace.BalancerFull:
		return whileOff, "the balancer's mode was " + set.Mode.String()
	case set.NoMerge && r.Chosen != nil && !r.Chosen.Defragment:
		return whileOff, "automatic merging was off in the whole cluster"
	case set.Window != nil && r.Local >= 0 && !set.Window.open(r.Local):
		return outsideWindow, fmt.Sprintf("the window was from %s to %s, and it was %s at %s",
			set.Window.Start, set.Window.Stop, r.Local, r.Node)
	}
	return "", ""
}

// exempted says why chunks of the collection are not merged.
func (c *Collection) exempted() string {
	switch {
	case c.NoBalance:
		return "balancing of the collection was switched off"
	case c.Fixed:
		return "an operation on the collection had its chunks stay as they were"
	case c.Defragment:
		return ""
	case c.NoMerge:
		return "automatic merging of the collection was switched off"
	case c.Sessions:
		return "the chunks of the sessions were cut on purpose"
	}
	return ""
}
