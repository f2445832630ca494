package search

import (
	"slices"

	"github.com/shardproof/shardproof/harness/sweep"
	"github.com/shardproof/shardproof/histories/scenario"
)

// newDelays bounds the delays. The schedule of a base is first come, first served; a trial deviates from it in a few places, at
// each of which one message or task comes just behind what would come next. Most bugs of order want one or two such places, and the
// schedules with few of them are few. A base has a stage of each number of delays. The first begins with a guess for each
// anchor: the trial shows what comes behind it in truth.
func newDelays(start Start) Strategy {
	return goingOn(start, "delay-bounded", func(base *scenario.Scenario, o *Outcome) *stage {
		d := &delays{Start: start, plan: &sweep.Plan{Base: base}, anchors: sweep.Anchors(o.Occasions)}
		d.anchors = d.anchors[:start.some(guessesEach, len(d.anchors))]
		return d.guesses(o.Occasions)
	})
}

// How many trials a base gets with guesses, and behind those with one delay, two and three.
const guessesEach = 20

var delaysEach = [sweep.MostDelays + 1]int{0, 40, 20, 5}

// delays is the search on one base.
type delays struct {
	Start
	plan    *sweep.Plan
	anchors []sweep.Anchor
	// by are the delays by what they cost, in the order in which they are tried.
	by [sweep.MostDelays + 1][]delayed
}

// delayed is a single of the plan.
type delayed struct {
	single, anchor int
	tried          bool
}

func (d *delays) guesses(base []sweep.InjectionPoint) *stage {
	guess := make([]string, len(d.anchors))
	learned := make([][]sweep.Delay, len(d.anchors))
	return &stage{
		count: len(d.anchors),
		trial: func(i int) Trial {
			p := &sweep.Plan{Base: d.plan.Base, Singles: []sweep.FaultCase{d.anchors[i].FaultCase}}
			if behind := d.anchors[i].Behind(base); len(behind) > 0 {
				p.Singles[0] = behind[0].FaultCase
			}
			guess[i] = p.Singles[0].String()
			return Trial{Scenario: p.Scenario(0), Watched: true}
		},
		learn: func(i int, o *Outcome) { learned[i] = d.anchors[i].Behind(o.Occasions) },
		next: func() *stage {
			d.sort(learned, guess)
			return d.spend(1)
		},
	}
}

// sort fills the plan: every anchor has its turn before one has its next.
func (d *delays) sort(learned [][]sweep.Delay, guess []string) {
	for turn, more := 0, true; more; turn++ {
		more = false
		for anchor, of := range learned {
			if turn < len(of) {
				more = true
				one := delayed{len(d.plan.Singles), anchor, of[turn].String() == guess[anchor]}
				d.by[of[turn].Cost] = append(d.by[of[turn].Cost], one)
				d.plan.Singles = append(d.plan.Singles, of[turn].FaultCase)
			}
		}
	}
}

// spend is the stage of that many delays: all of them for one thing, or one each for as many things, in turn.
func (d *delays) spend(cost int) *stage {
	if cost > sweep.MostDelays {
		return nil
	}
	var far [][]int
	for _, one := range d.by[cost] {
		if !one.tried {
			far = append(far, []int{one.single})
		}
	}
	each := alternate(far, d.together(cost))
	return planned(d.plan, d.some(delaysEach[cost], min(len(each), mostPairs)), func(i int) []int { return each[i] }, func() *stage { return d.spend(cost + 1) })
}

// together are sets of so many things that are delayed once each, those of the first ones first.
func (d *delays) together(n int) (all [][]int) {
	near := d.by[1]
	if n < 2 {
		return nil
	}
	var extend func(chosen []delayed, below int)
	extend = func(chosen []delayed, below int) {
		if len(chosen) == n {
			var set []int
			for _, one := range chosen {
				set = append(set, one.single)
			}
			all = append(all, set)
			return
		}
		for i := range below {
			same := func(one delayed) bool { return one.anchor == near[i].anchor }
			if len(all) < mostPairs && !slices.ContainsFunc(chosen, same) {
				extend(append(slices.Clone(chosen), near[i]), i)
			}
		}
	}
	for last := range near {
		extend([]delayed{near[last]}, last)
	}
	return all
}

// alternate has one of each in turn, and then the rest of the longer.
func alternate(a, b [][]int) (all [][]int) {
	for i := range max(len(a), len(b)) {
		if i < len(a) {
			all = append(all, a[i])
		}
		if i < len(b) {
			all = append(all, b[i])
		}
	}
	return all
}
