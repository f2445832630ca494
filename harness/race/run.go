package race

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/harness/parallel"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/system/sim"
)

// Outcome is what came of a case.
type Outcome struct {
	// Held is true when the first activity came to where it was to be held.
	Held bool
	// Signature is that of a failure; empty: every promise held.
	Signature   string
	Hash, Steps uint64
	// Passes are where the first can be held, or until when, as the case asked.
	Passes []Pass
}

// String is the outcome as a line of a journal.
func (o *Outcome) String() string {
	words := []string{
		fmt.Sprint(o.Held), strconv.Quote(o.Signature), fmt.Sprintf("%016x", o.Hash),
		fmt.Sprint(o.Steps),
	}
	for i := range o.Passes {
		words = append(words, o.Passes[i].String())
	}
	return strings.Join(words, " ")
}

// ParseOutcome is the inverse of String.
func ParseOutcome(line string) (o Outcome, err error) {
	words := strings.Fields(line)
	if len(words) < 4 {
		return o, fmt.Errorf("%q is no outcome of a run", line)
	}
	o.Held = words[0] == "true"
	if o.Signature, err = strconv.Unquote(words[1]); err != nil {
		return o, fmt.Errorf("the outcome %q has no signature: %w", line, err)
	}
	if o.Hash, err = strconv.ParseUint(words[2], 16, 64); err != nil {
		return o, fmt.Errorf("the outcome %q has no trace hash: %w", line, err)
	}
	if o.Steps, err = strconv.ParseUint(words[3], 10, 64); err != nil {
		return o, fmt.Errorf("the outcome %q has no steps: %w", line, err)
	}
	for _, word := range words[4:] {
		p, err := parsePass(word)
		if err != nil {
			return o, err
		}
		o.Passes = append(o.Passes, p)
	}
	return o, nil
}

// Options say how a plan is carried out.
type Options struct {
	Targets target.Set
	Workers int
	// Known is the outcome of a run that was made before, by its number from 0; nil: none was.
	Known func(number int) *Outcome
	// Stop, when set, ends the sweep early when it is true.
	Stop func() bool
	// Done is given every run that was not known in the order of their numbers, and its result if a
	// promise was broken. It says whether to go on.
	Done func(number int, c *Case, o *Outcome, failed *runner.Result) (more bool)
}

// ran is a case that was run.
type ran struct {
	Outcome
	known  bool
	failed *runner.Result
	err    error
}

// Run carries the plan out. The error says which case could not be run.
func Run(p *Plan, o Options) (err error) {
	pools := make([]*sim.Pool, max(o.Workers, 1))
	for i := range pools {
		pools[i] = &sim.Pool{}
		defer pools[i].Close()
	}
	for number, more := 0, true; more; {
		cases := p.Turn()
		work := func(worker, i int) ran {
			return o.one(number+i, &cases[i], p.passes, pools[worker])
		}
		taken := parallel.Do(len(pools), len(cases), o.Stop, work, func(i int, r ran) bool {
			if err = r.err; err != nil {
				return false
			}
			p.Learn(i, &cases[i], &r.Outcome)
			more = r.known || o.Done(number+i, &cases[i], &r.Outcome, r.failed)
			return more
		})
		number += taken
		more = more && err == nil && len(cases) > 0 && taken == len(cases)
	}
	return err
}

func (o *Options) one(number int, c *Case, passes int, pool *sim.Pool) ran {
	if o.Known != nil {
		if known := o.Known(number); known != nil {
			return ran{Outcome: *known, known: true}
		}
	}
	var points []runner.InjectionPoint
	options := runner.Options{Targets: o.Targets, Pool: pool}
	if c.Until == nil {
		options.InjectionPoints = &points
	}
	r, err := runner.Run(c.Scenario(), options)
	if err != nil {
		return ran{err: fmt.Errorf("running %s: %w", c, err)}
	}
	came := ran{Outcome: Outcome{
		Held:      r.Faults["pause"] > 0,
		Signature: r.Signature(),
		Hash:      r.Hash,
		Steps:     r.Steps,
		Passes:    c.learn(points, passes),
	}}
	if came.Signature != "" {
		came.failed = r
	}
	return came
}

// learn is what the run of a case is for besides its verdict: where the first activity can be held,
// at up to so many passes of each site, or until when.
func (c *Case) learn(points []runner.InjectionPoint, passes int) []Pass {
	switch {
	case c.Until != nil:
		return nil
	case c.Held != nil:
		return events(passesOf(c.Second, points), c.Held.At, c.Held.At+longHold)
	}
	return some(passesOf(c.First, points), passes)
}
