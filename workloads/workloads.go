// Package workloads says what clients do: which operations on which keys at which times, and which
// migrations run meanwhile. Everything is drawn as a plan before a run starts, so that a scenario
// can hold it as text.
//
// A workload is one file that declares itself: its name, its weights in the mixes, and how one of
// its operations is drawn. The number is its place in lists.
//
// Promise: a plan is a pure function of the source and the parameters; every written identity is
// unique in the plan; each kind of key sees only operations for which the identity check is
// complete, so that a verdict is never a guess.
//
// Refusal: it sends nothing and judges nothing; the runner and the checkers do.
package workloads

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/listed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Source answers a question with a number from 0 to n-1. Equal questions get equal answers, in any
// order, so that one operation can be left out and all others stay as they are. n is at least 1.
type Source func(question string, n int) int

// Params say how much to draw, and for which collection.
type Params struct {
	NS            string
	Keys, Preload int
	Clients       int
	// Count operations start from Start on, spread evenly over Span with some jitter.
	Count       int
	Start, Span time.Duration
	// Hot is how many percent of the operations go to the first key of their class; the others
	// choose evenly.
	Hot int
	// FirstID numbers the first operation; the next ones follow. Identities are made of the
	// numbers.
	FirstID int
}

// Workload is one way to use a collection.
type Workload struct {
	Name, About string
	// Standard is its weight in the mix of a standard run, Weak in what Weak adds to a mix; zero
	// for a workload that has no part in it.
	Standard, Weak int
	draw           func(p *plan, o *scenario.Op)
}

// Share is a workload and its weight in a mix.
type Share struct {
	Name   string
	Weight int
}

var declaredWorkloads listed.Entries[Workload]

// declare adds a workload. It is called from package-level variables only. The place must be free.
func declare(place int, w Workload) Workload { return declaredWorkloads.Declare(place, w) }

// Catalog is every workload, in the order in which they are listed.
func Catalog() []Workload { return declaredWorkloads.All() }

// Standard is the mix that a standard run uses.
func Standard() []Share {
	return shares(nil, func(w *Workload) int { return w.Standard })
}

// Weak adds to a mix what its reads of other concerns and from other members are drawn from.
func Weak(mix []Share) []Share {
	return shares(mix, func(w *Workload) int { return w.Weak })
}

func shares(mix []Share, weight func(*Workload) int) []Share {
	mix = slices.Clone(mix)
	for _, w := range Catalog() {
		if n := weight(&w); n > 0 {
			mix = append(mix, Share{w.Name, n})
		}
	}
	return mix
}

// Find is the workload of that name.
func Find(name string) (Workload, bool) {
	return declaredWorkloads.Find(func(w *Workload) bool { return w.Name == name })
}

// Draw plans p.Count operations, each from one workload of the mix, ordered by start time. The mix
// must name known workloads with weights of which at least one is positive.
func Draw(source Source, p Params, mix []Share) []scenario.Op {
	plan := &plan{Params: p, source: source, written: map[int64][]string{}, last: map[int]int64{}}
	ops := make([]scenario.Op, p.Count)
	for i := range ops {
		plan.id = p.FirstID + i
		ops[i] = scenario.Op{
			ID: plan.id, At: plan.start(i), Client: plan.pick("client", p.Clients), NS: p.NS,
		}
		plan.choose(mix).draw(plan, &ops[i])
		plan.weaken(&ops[i])
	}
	return ops
}

// plan is a plan being drawn.
type plan struct {
	Params
	source Source
	// id is the number of the operation being drawn.
	id int
	// written holds the identities planned for each key so far, oldest first.
	written map[int64][]string
	// turned is the key of the operation before in the workload of documents that come and go; nil
	// for the first.
	turned *int64
	// last is the key that each client wrote last in a causal workload.
	last map[int]int64
}

// pick answers a question about the operation being drawn.
func (p *plan) pick(what string, n int) int {
	return p.source("op/"+strconv.Itoa(p.id)+"/"+what, n)
}

// chance is true in so many percent of all cases.
func (p *plan) chance(what string, percent int) bool { return p.pick(what, 100) < percent }

// start puts operation i somewhere in its own slot, which keeps start times ascending.
func (p *plan) start(i int) time.Duration {
	slot := int64(p.Span) / int64(p.Count)
	if slot == 0 {
		return p.Start
	}
	jitter := int64(p.pick("jitter", 1000)) * slot / 1000
	return p.Start + time.Duration(int64(i)*slot+jitter)
}

func (p *plan) choose(mix []Share) Workload {
	share := keyed.Choose(p.pick, "workload", mix, func(s Share) (string, int) {
		return s.Name, s.Weight
	})
	w, known := Find(share.Name)
	if !known {
		panic("there is no workload " + share.Name)
	}
	return w
}

// majorityReads is how many percent of the reads and scans are of majority concern: they may be
// old, but what they show must never be rolled back.
const majorityReads = 15

func (p *plan) weaken(o *scenario.Op) {
	if o.Kind.Of().Reads() && o.Concern == "" && p.chance("majority", majorityReads) {
		o.Concern = "majority"
	}
}

// identity is what the operation being drawn writes to the key.
func (p *plan) identity(key int64) string {
	v := fmt.Sprintf("w%d", p.id)
	p.written[key] = append(p.written[key], v)
	return v
}

// expectation is what a CAS of the key asks for: mostly the newest identity planned for it,
// sometimes an older one or absence.
func (p *plan) expectation(key int64) string {
	earlier := p.written[key]
	if key < int64(p.Preload) {
		earlier = append([]string{histories.PreloadValue(key)}, earlier...)
	}
	switch {
	case len(earlier) == 0 || p.chance("expect absent", 10):
		return ""
	case p.chance("expect newest", 70):
		return earlier[len(earlier)-1]
	}
	return earlier[p.pick("expected", len(earlier))]
}
