package race

import (
	"slices"

	"github.com/shardproof/shardproof/harness/sweep"
)

// Plan is a sweep under way.
type Plan struct {
	pairs  []*progress
	passes int
	begun  bool
	turn   []*progress // whose cases were handed out last; nil: of nobody alone
}

// progress is what is left of a pair.
type progress struct {
	Tally
	// levels are the cases that are left: what is learnt from those of a level is added to later
	// ones.
	levels [][]Case
	turns  int
	// alone is what the first passes when the second does not begin.
	alone  []Pass
	sites  map[string]bool
	events map[string]bool
	hashes map[uint64]bool
}

// Tally counts what came of a pair.
type Tally struct {
	Pair
	// Sites are where the first was held, Events until which the second went on.
	Sites, Events int
	// Runs were tried: in Held of them the first was held, Broke broke a promise, Distinct are
	// unlike any other of the pair. Steps is what they took.
	Runs, Held, Broke, Distinct int
	Steps                       uint64
}

// New plans the sweep of some pairs, in which up to so many passes of a site are held.
func New(pairs []Pair, passes int) *Plan {
	p := &Plan{passes: passes}
	for _, of := range pairs {
		p.pairs = append(p.pairs, &progress{
			Tally: Tally{Pair: of}, sites: make(map[string]bool), events: make(map[string]bool),
			hashes: make(map[uint64]bool),
		})
	}
	return p
}

// leastEachTurn is how many cases a turn has at least, while there are so many.
const leastEachTurn = 64

// Turn is what is to be run next: at first every activity that is held alone, then of every pair
// that has some left equally many cases. None are left when it is empty. Learn wants the outcome of
// each before the next turn.
func (p *Plan) Turn() (cases []Case) {
	if p.turn = nil; !p.begun {
		p.begun = true
		return p.probes()
	}
	left := slices.DeleteFunc(slices.Clone(p.pairs), (*progress).over)
	for range max(1, leastEachTurn/max(len(left), 1)) {
		for _, of := range left {
			if !of.over() {
				cases = append(cases, of.next())
				p.turn = append(p.turn, of)
			}
		}
	}
	return cases
}

// probes are the scripts of all that are held, each by itself.
func (p *Plan) probes() (all []Case) {
	for _, of := range p.pairs {
		alone := Pair{First: of.First, Protocol: of.Protocol}
		if !slices.ContainsFunc(all, func(c Case) bool { return c.Pair == alone }) {
			all = append(all, Case{Pair: alone})
		}
	}
	return all
}

// over is true when nothing is left.
func (of *progress) over() bool { return of.left() == 0 }

func (of *progress) left() (n int) {
	for _, level := range of.levels {
		n += len(level)
	}
	return n
}

// next is a case of the first level that has some, and every other time one of the levels in turn.
func (of *progress) next() Case {
	of.turns++
	at := 0
	if of.turns%2 == 0 {
		at = of.turns / 2
	}
	for len(of.levels[at%len(of.levels)]) == 0 {
		at++
	}
	level := &of.levels[at%len(of.levels)]
	c := (*level)[0]
	*level = (*level)[1:]
	return c
}

// Learn takes the outcome of a case of the last turn.
func (p *Plan) Learn(number int, c *Case, o *Outcome) {
	if p.turn == nil {
		p.learnAlone(c, o)
		return
	}
	of := p.turn[number]
	of.count(c, o)
	switch {
	case c.Held == nil:
		of.hold(c, unseen(o.Passes, of.alone))
	case c.Until == nil && c.Deposed:
		of.release(c, o.Passes[max(len(o.Passes)-1, 0):])
	case c.Until == nil:
		of.release(c, o.Passes)
	}
}

// learnAlone gives every pair whose first activity ran alone its holds, and a run in which both
// begin together: what the first passes only then is held, too.
func (p *Plan) learnAlone(c *Case, o *Outcome) {
	for _, of := range p.pairs {
		if of.First == c.First && of.Protocol == c.Protocol {
			of.alone = o.Passes
			of.hold(&Case{Pair: of.Pair, Behind: true}, o.Passes)
			of.add(0, Case{Pair: of.Pair})
		}
	}
}

// hold adds the holds at some places: each by itself, and those of primaries once more while they
// lose their primacy.
func (of *progress) hold(c *Case, places []Pass) {
	for i := range places {
		one := *c
		one.Held = &places[sweep.Scatter(i, len(places))]
		of.add(0, one)
		if one.Held.Leads {
			one.Deposed = true
			of.add(1, one)
			one.Until = one.elected()
			of.add(1, one)
		}
	}
}

// release adds the holds that end with events.
func (of *progress) release(c *Case, events []Pass) {
	for i := range events {
		one := *c
		one.Until = &events[sweep.Scatter(i, len(events))]
		of.add(i+1, one)
	}
}

func (of *progress) add(level int, c Case) {
	for len(of.levels) <= level {
		of.levels = append(of.levels, nil)
	}
	of.levels[level] = append(of.levels[level], c)
}

func (of *progress) count(c *Case, o *Outcome) {
	of.Runs++
	of.Steps += o.Steps
	if o.Signature != "" {
		of.Broke++
	}
	if !of.hashes[o.Hash] {
		of.hashes[o.Hash] = true
		of.Distinct++
	}
	if c.Held == nil || !o.Held {
		return
	}
	of.Held++
	of.sites[c.Held.Site] = true
	if c.Until != nil {
		of.events[c.Until.Site] = true
	}
	of.Sites, of.Events = len(of.sites), len(of.events)
}

// Tallies are those of all pairs.
func (p *Plan) Tallies() (all []Tally) {
	for _, of := range p.pairs {
		all = append(all, of.Tally)
	}
	return all
}

// Left is how many cases are known to be left.
func (p *Plan) Left() (n int) {
	for _, of := range p.pairs {
		n += of.left()
	}
	return n
}
