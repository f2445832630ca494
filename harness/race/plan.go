package race

import (
	"github.com/shardproof/shardproof/harness/sweep"
)

// Plan is a sweep under way.
type Plan struct {
	pairs  []*progress
	passes int
	turn   []*progress // whose cases were handed out last
}

// progress is what is left of a pair.
type progress struct {
	Tally
	// levels are the cases that are left; those of a level come before those of the next.
	levels [][]Case
	// alone is what the first passes when the second begins after it.
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
			Tally:  Tally{Pair: of},
			levels: [][]Case{{{Pair: of, Begins: apart}, {Pair: of}}},
			sites:  make(map[string]bool), events: make(map[string]bool),
			hashes: make(map[uint64]bool),
		})
	}
	return p
}

// leastEachTurn is how many cases a turn has at least, while there are so many.
const leastEachTurn = 64

// Turn is what is to be run next: of every pair that has some left equally many cases. None are left
// when it is empty. Learn wants the outcome of each before the next turn.
func (p *Plan) Turn() (cases []Case) {
	p.turn = nil
	var left []*progress
	for _, of := range p.pairs {
		if of.skip(); len(of.levels) > 0 {
			left = append(left, of)
		}
	}
	for range max(1, leastEachTurn/max(len(left), 1)) {
		for _, of := range left {
			if of.skip(); len(of.levels) > 0 {
				cases = append(cases, of.levels[0][0])
				of.levels[0] = of.levels[0][1:]
				p.turn = append(p.turn, of)
			}
		}
	}
	return cases
}

// skip leaves empty levels behind.
func (of *progress) skip() {
	for len(of.levels) > 0 && len(of.levels[0]) == 0 {
		of.levels = of.levels[1:]
	}
}

// Learn takes the outcome of a case of the last turn.
func (p *Plan) Learn(number int, c *Case, o *Outcome) {
	of := p.turn[number]
	of.count(c, o)
	switch {
	case c.Held == nil && c.Begins > 0:
		of.alone = o.Passes
		of.hold(c, o.Passes)
	case c.Held == nil:
		of.hold(c, unseen(o.Passes, of.alone))
	case c.Until == nil && c.Deposed:
		of.release(c, o.Passes[max(len(o.Passes)-1, 0):])
	case c.Until == nil:
		of.release(c, o.Passes)
	}
}

// hold adds the holds at some places: each by itself, and those of primaries once more while they
// lose their primacy.
func (of *progress) hold(c *Case, places []Pass) {
	for i := range places {
		one := *c
		one.Held = &places[sweep.Scatter(i, len(places))]
		if c.Begins > 0 {
			one.Begins = one.Held.At + soon
		}
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
		for _, level := range of.levels {
			n += len(level)
		}
	}
	return n
}
