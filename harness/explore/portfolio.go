package explore

import (
	"fmt"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/histories/scenario"
)

// portfolio asks one strategy after the other, random for each profile apart. Which one is next is drawn, with the weight of what it has led to of late for what
// it cost; none is ever given up, as what has led nowhere for long may do so again on another build.
type portfolio struct {
	Start
	arms   []arm
	rounds int
	now    *arm
}

// arm is a strategy of a portfolio.
type arm struct {
	Strategy
	// found are the situations that its trials were the first to go through, cost the steps they took; both fade.
	found, cost int
	spent       bool
}

func newPortfolio(s Start) Strategy {
	p := &portfolio{Start: s}
	for _, in := range Strategies() {
		if in.Name != "random" && in.Name != "portfolio" {
			p.arms = append(p.arms, arm{Strategy: in.New(s)})
		}
	}
	for _, profile := range harness.Profiles() {
		if profile.Weight > 0 {
			p.arms = append(p.arms, arm{Strategy: ofProfile(s, profile)})
		}
	}
	return p
}

// faded is how much of what is counted a round leaves, in hundredths.
const faded = 90

// Next has a strategy make the next round, and those that have ended leave.
func (p *portfolio) Next() []Trial {
	for {
		i, ok := p.draw()
		if !ok {
			return nil
		}
		p.rounds++
		p.now = &p.arms[i]
		p.now.found, p.now.cost = p.now.found*faded/100, p.now.cost*faded/100
		if trials := p.now.Next(); len(trials) > 0 {
			return trials
		}
		p.now.spent = true
	}
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
	at := harness.Dice(p.Seed)(fmt.Sprintf("round %d", p.rounds), total)
	for i := range p.arms {
		if at -= p.arms[i].weight(); at < 0 {
			return i, true
		}
	}
	panic("explore: a draw beyond the sum of the weights")
}

// weight is the yield in situations for a million steps, within bounds; one that was not asked yet has the upper one.
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
	p.now.found += o.New
	p.now.cost += int(o.Steps)
	p.now.Learn(trial, o)
}

// Over is what the strategy that is furthest has done with.
func (p *portfolio) Over() (most int) {
	for i := range p.arms {
		most = max(most, p.arms[i].Over())
	}
	return most
}

// Corpus is that of those strategies that have one.
func (p *portfolio) Corpus() (all []*scenario.Scenario) {
	for i := range p.arms {
		if c, ok := p.arms[i].Strategy.(interface{ Corpus() []*scenario.Scenario }); ok {
			all = append(all, c.Corpus()...)
		}
	}
	return all
}
