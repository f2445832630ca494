package linearize

import "slices"

// coreRuns is how many smaller cores are tried.
const coreRuns = 300

// coreOf reduces acts that no order explains to those that the contradiction follows from: as long
// as it stays one, whatever an act noticed is ignored, and it may have taken effect or not. Most of
// a history is not needed, and what is left is a proof that a person can read. of says what acts
// are; stuck is the one at whose return nothing was possible any more, so later ones do not matter.
func coreOf(spec *specification, acts []KeyOp, of []int32, stuck int32, t *timer) []int32 {
	end := acts[stuck].Return
	c := &coreSearch{spec: spec, timer: t}
	for i, a := range acts {
		if a.Call <= end {
			c.acts, c.needed = append(c.acts, a), append(c.needed, true)
			c.acts[i].Return = min(a.Return, end+1)
			c.acts[i].Maybe = a.Maybe || a.Return > end && a.Do != Leave
			c.needed[i] = !c.acts[i].Maybe && a.Return <= end
		}
	}
	for _, reads := range []bool{true, false} {
		c.reduce(reads)
	}
	var core []int32
	for i := range c.acts {
		if c.needed[i] {
			core = append(core, of[i])
		}
	}
	return core
}

type coreSearch struct {
	spec   *specification
	timer  *timer
	acts   []KeyOp
	needed []bool
	runs   int
}

// reduce takes out as many acts of one kind as it can: halves, quarters, …, single ones.
func (c *coreSearch) reduce(reads bool) {
	var left []int
	for i := range c.acts {
		if c.needed[i] && (c.acts[i].Do == Leave) == reads {
			left = append(left, i)
		}
	}
	for size := len(left); size > 0; size /= 2 {
		for from := 0; from < len(left); {
			to := min(from+size, len(left))
			if c.without(left[from:to]) {
				left = slices.Delete(left, from, to)
			} else {
				from = to
			}
		}
	}
}

// without says whether the contradiction stays one without what these acts say, and leaves it out.
func (c *coreSearch) without(these []int) bool {
	if c.runs++; c.runs > coreRuns || c.timer.stopped(0) {
		return false
	}
	for _, i := range these {
		c.needed[i] = false
	}
	if answer, _ := follow(c.spec, c.relaxed(), c.timer.stopped); answer == Contradiction {
		return true
	}
	for _, i := range these {
		c.needed[i] = true
	}
	return false
}

// relaxed are the acts with those that are not needed free: reads are gone, others may have
// happened at any time from their call on, or never.
func (c *coreSearch) relaxed() []KeyOp {
	acts := make([]KeyOp, 0, len(c.acts))
	for i, a := range c.acts {
		switch {
		case c.needed[i]:
		case a.Do == Leave:
			continue
		case !a.Maybe:
			a.See, a.Seen, a.Maybe = Nothing, 0, true
		}
		acts = append(acts, a)
	}
	return acts
}
