package attack

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// Record is what a run has left to be judged.
type Record struct {
	History []histories.Op
	// Keys is how many keys there are, Final the client of the final reads.
	Keys, Final int
	// Unsettled says why the system was not healthy again when the faults had ended; empty: it was.
	Unsettled string
	// Ended are the processes that ended although nobody had ended them.
	Ended []Ended
}

// Ended is a process that ended by itself.
type Ended struct {
	Node string
	// Why is its last word.
	Why string
}

// What is judged besides histories.
var (
	// Final is held to every key having been read when the faults had ended.
	Final = checkers.Checker{
		Name:    "final-reads",
		Promise: "When the faults have ended, every key can be read.",
	}
	// Alive is held to processes ending only when they are ended.
	Alive = checkers.Checker{
		Name:       "alive",
		Promise:    "No process ends but by a fault that ends it.",
		Signatures: checkers.Meanings{endedByItself: "a process ended by itself"},
	}
)

const endedByItself checkers.Signature = "process-ended"

// Judge gives the verdicts of a run.
func Judge(r Record) []checkers.Verdict {
	all := checkers.Check(r.History, checkers.Limits{})
	return append(all, judgeFinal(r), judgeAlive(r))
}

// judgeFinal looks which keys the final client has read, alone or by a scan that got to its end.
// That one could not be read is not a loss, and not a pass either.
func judgeFinal(r Record) checkers.Verdict {
	v := Final.Begin()
	read := make(map[int64]bool)
	for i := range r.History {
		op := &r.History[i]
		if op.Client == r.Final && op.Outcome == histories.OK && op.Kind == opkind.Read {
			read[op.Key] = true
		}
	}
	v.Checked = r.Keys
	var missing []int64
	for k := range int64(r.Keys) {
		if !read[k] {
			missing = append(missing, k)
		}
	}
	if r.Unsettled != "" {
		v.LeaveOpen("the system was not healthy again: %s", r.Unsettled)
	}
	if len(missing) > 0 {
		v.LeaveOpen("%d of %d keys could not be read at the end, the first is k=%d",
			len(missing), r.Keys, missing[0])
	}
	return v
}

func judgeAlive(r Record) checkers.Verdict {
	v := Alive.Begin()
	v.Checked = len(r.Ended)
	for _, e := range r.Ended {
		v.Add(checkers.Violation{
			Signature: endedByItself,
			Broke:     fmt.Sprintf("%s ended by itself", e.Node),
			Because:   []string{"its last word is: " + e.Why},
		})
	}
	return v
}

// Control is a kind of run that must be clean before a violation is held against movements that
// meet faults.
type Control struct {
	Name, About   string
	Moves, Faults bool
}

// Controls are all of them, in the order in which they run.
var Controls = []Control{
	{Name: "quiet", About: "no faults, nothing moves"},
	{Name: "faults", About: "faults, nothing moves", Faults: true},
	{Name: "moves", About: "movements, no faults", Moves: true},
}

// Of is what the control leaves of an attack.
func (c *Control) Of(p Params) Params {
	if !c.Moves {
		p.Moves = 0
	}
	if !c.Faults {
		p.Faults = nil
	}
	return p
}

// Attribute says, of a run with that outcome, what the outcomes of its controls make of it: in
// which control it shows already, or that it takes movements and faults together.
func Attribute(controls map[string]checkers.Outcome, attack checkers.Outcome) string {
	for _, c := range Controls {
		switch controls[c.Name] {
		case verdict.Fail:
			return fmt.Sprintf("the control %q (%s) fails already", c.Name, c.About)
		case verdict.Undecided:
			return fmt.Sprintf("the control %q (%s) is undecided", c.Name, c.About)
		}
	}
	switch {
	case attack != verdict.Fail:
		return ""
	case len(controls) < len(Controls):
		return "not all controls were run: it is open whether it takes movements and faults"
	}
	return "all controls are clean: it takes movements and faults together"
}

// Signatures are those of the violations of a run, each once.
func Signatures(verdicts []checkers.Verdict) (all []string) {
	for _, v := range verdicts {
		for _, one := range v.Violations {
			all = append(all, string(one.Signature))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Order sorts a history by its calls.
func Order(history []histories.Op) {
	slices.SortFunc(history, func(a, b histories.Op) int { return cmp.Compare(a.Call, b.Call) })
}
