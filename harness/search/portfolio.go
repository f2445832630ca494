package search

import (
	"fmt"

	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/histories/keyed"
)

// portfolio asks one strategy after the other, random for each profile apart. Which one is next is
// drawn, with the weight of what it has led to of late for what it cost; none is ever given up, as
// what has led nowhere for long may do so again on another build.
type portfolio struct {
	Start
	arms   []arm
	rounds int
	now    *arm
	// repeating is true while the strategy makes what an earlier search has made: it keeps its turn
	// until it is through with that.
	repeating bool
	trials    []Trial
}

// arm is a strategy of a portfolio.
type arm struct {
	Strategy
	name string
	// found are the situations that its trials were the first to go through, cost the steps they
	// took; both fade.
	found, cost int
	spent       bool
}

// ArmMark is where a strategy of a portfolio stands, and what is known of its yield.
type ArmMark struct {
	Checkpoint
	Name  string `json:"name"`
	Found int    `json:"found,omitempty"`
	Cost  int    `json:"cost,omitempty"`
	Spent bool   `json:"spent,omitempty"`
}

func newPortfolio(s Start) Strategy {
	p := &portfolio{Start: s, rounds: s.At.Trials}
	for _, in := range Strategies() {
		if in.Name != "random" && in.Name != "portfolio" {
			p.add(in.Name, in.New)
		}
	}
	for _, profile := range generate.Profiles() {
		if profile.Weight > 0 {
			p.add("random of "+profile.Name, func(s Start) Strategy {
				return ofProfile(s, profile)
			})
		}
	}
	return p
}

// add has a strategy go on from where it stood.
func (p *portfolio) add(name string, begin func(Start) Strategy) {
	s, a := p.Start, arm{name: name}
	s.At = Checkpoint{}
	for _, m := range p.At.Arms {
		if m.Name == name {
			s.At, a.found, a.cost, a.spent = m.Checkpoint, m.Found, m.Cost, m.Spent
		}
	}
	a.Strategy = begin(s)
	p.arms = append(p.arms, a)
}

// fadePercent is how much of what is counted a round leaves, in hundredths.
const fadePercent = 90

// Next has a strategy make the next round, and those that have ended leave.
func (p *portfolio) Next() []Trial {
	for p.repeating || p.turn() {
		p.trials = p.now.Next()
		if p.repeating = len(p.trials) > 0 && p.trials[0].Again; len(p.trials) > 0 {
			return p.trials
		}
		p.now.spent = true
	}
	return nil
}

// turn gives the next strategy its turn; false when all have ended.
func (p *portfolio) turn() bool {
	i, ok := p.draw()
	if ok {
		p.rounds++
		p.now = &p.arms[i]
		p.now.found, p.now.cost = p.now.found*fadePercent/100, p.now.cost*fadePercent/100
	}
	return ok
}

// draw picks a strategy by its yield; false when all have ended.
func (p *portfolio) draw() (int, bool) {
	total := 0
	for i := range p.arms {
		total += p.arms[i].weight()
	}
	if total == 0 {
		return 0, false
	}
	at := keyed.New(p.Seed).IntN(fmt.Sprintf("round %d", p.rounds), total)
	for i := range p.arms {
		if at -= p.arms[i].weight(); at < 0 {
			return i, true
		}
	}
	panic("explore: a draw beyond the sum of the weights")
}

// weight is the yield in situations for a million steps, within bounds; one that was not asked yet
// has the upper one.
func (a *arm) weight() int {
	const least, most = 50, 2000
	switch {
	case a.spent:
		return 0
	case a.cost == 0:
		return most
	}
	return min(max(a.found*1_000_000/a.cost, least), most)
}

// Learn hands the outcome on and counts what it was worth.
func (p *portfolio) Learn(trial int, o *Outcome) {
	if !o.Again {
		p.now.found += len(o.New)
		p.now.cost += int(o.Steps)
	}
	p.now.Learn(trial, o)
}

// Over is what the strategy that is furthest has done with.
func (p *portfolio) Over() (most int) {
	for i := range p.arms {
		most = max(most, p.arms[i].Over())
	}
	return most
}

// Mark is that of every strategy; its own trials are the turns it has given.
func (p *portfolio) Mark() Checkpoint {
	m := Checkpoint{Seeds: p.Over(), Trials: p.rounds}
	for i := range p.arms {
		a := &p.arms[i]
		m.Arms = append(m.Arms, ArmMark{a.Mark(), a.name, a.found, a.cost, a.spent})
	}
	return m
}

// Corpus is that of the strategy that has one.
func (p *portfolio) Corpus() (all []Known) {
	for i := range p.arms {
		all = append(all, CorpusOf(p.arms[i].Strategy)...)
	}
	return all
}
