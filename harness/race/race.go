// Package race runs every two activities of a store against each other: one is held at each of its
// sites until the other, which starts then, has passed each of its own.
//
// The sites that the first passes alone, and when both start together, are those where it can be
// held. A first run holds it there for longer than any timeout, another while its node steps down.
// What the second passes meanwhile are the events until which the first is then held, one run for
// each. As a run is the same up to the event, each of them occurs.
//
// Promise: a plan is a pure function of its pairs and of the outcomes it is told of. The pairs take
// turns, each with holds that it has not tried yet in a scattered order: every beginning covers all
// pairs.
//
// Refusal: it keeps no files; where a sweep stands is for the command line to remember.
package race

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/harness/activity"
	"github.com/shardproof/shardproof/harness/sweep"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// System is the target that a race sweep is of.
const System = activity.System

// Pair is two activities in the order in which they begin. The first is held.
type Pair struct {
	First, Second *activity.Activity
	// Protocol is the version; empty for the newest.
	Protocol string
}

// Pairs are all ordered pairs of the activities of these names, or of all when there are none, each
// with itself too, in each of the versions, in an order of which every beginning is spread over
// all. With held, only those in which that activity is.
func Pairs(names []string, held string, protocols []string) (all []Pair, err error) {
	of := activity.All()
	if len(names) > 0 {
		of = make([]*activity.Activity, len(names))
	}
	for i, name := range names {
		if of[i], err = activity.Find(name); err != nil {
			return nil, err
		}
	}
	first := of
	if held != "" {
		only, err := activity.Find(held)
		if err != nil {
			return nil, err
		}
		first = []*activity.Activity{only}
	}
	for _, protocol := range protocols {
		for _, a := range first {
			for _, b := range of {
				all = append(all, Pair{a, b, protocol})
			}
		}
	}
	scattered := make([]Pair, len(all))
	for i := range all {
		scattered[i] = all[sweep.Scatter(i, len(all))]
	}
	return scattered, nil
}

const (
	// longHold is longer than anybody waits for an answer in a script.
	longHold = 1300 * time.Millisecond
	// soon is how long after the first is held the second begins.
	soon = 100 * time.Microsecond
	// electing is longer than an election takes.
	electing = 500 * time.Millisecond
	// settling is how much longer than the last fault, and the last that a script has to do, faults
	// may last.
	settling = 300 * time.Millisecond
)

// Case is a run of the plan. Without a second activity the first is alone.
type Case struct {
	Pair
	// Behind has the second activity begin when the first is held; otherwise they begin together.
	Behind bool
	// Held is where the first is held; nil: nowhere. Deposed has its node lose its primacy then.
	Held    *Pass
	Deposed bool
	// Until is the event that it is held until; nil: for longer than anybody waits.
	Until *Pass
}

// Scenario is what is run.
func (c *Case) Scenario() *scenario.Scenario {
	s := c.together()
	end := lastOf(s)
	if c.Held != nil {
		s.Faults = append(s.Faults, c.hold(len(s.Faults)+1))
		if c.Deposed {
			s.Faults = append(s.Faults, scenario.Fault{
				ID: len(s.Faults) + 1, Kind: "stepdown", When: c.Held.trigger(), Target: c.Held.By,
			})
		}
		end = max(end, c.Held.At+longHold)
		if c.Until != nil {
			end = max(lastOf(s), c.Until.At)
		}
	}
	s.FaultsEnd = end + settling
	return s
}

// together are the scripts of both.
func (c *Case) together() *scenario.Scenario {
	if c.Second == nil {
		return c.First.Scenario(c.Protocol)
	}
	begins := time.Duration(0)
	if c.Behind {
		begins = c.Held.At + soon
	}
	return activity.Overlay(c.Protocol, c.First, activity.Start{Activity: c.Second, At: begins})
}

func (c *Case) hold(id int) scenario.Fault {
	f := scenario.Fault{ID: id, Kind: "pause", When: c.Held.trigger(), For: longHold}
	if c.Until != nil {
		until := c.Until.trigger()
		f.Until = &until
	}
	return f
}

// elected is when the set of the node that is held has another primary; where in time is not known.
func (c *Case) elected() *Pass {
	return &Pass{
		Site: failpoint.ReplicaStepUpBeforeWritable.String(), By: setOf(c.Held.By) + ".*", Nth: 1,
		At: c.Held.At + electing,
	}
}

// lastOf is when the last thing in a scenario begins or ends.
func lastOf(s *scenario.Scenario) (last time.Duration) {
	for _, o := range s.Ops {
		last = max(last, o.At)
	}
	for _, m := range s.Migrations {
		last = max(last, m.At)
	}
	for _, m := range s.Primaries {
		last = max(last, m.At)
	}
	for _, c := range s.Commands {
		last = max(last, c.At)
	}
	for _, f := range s.Faults {
		last = max(last, f.When.At+f.For)
	}
	return last
}

// String is the case in a few words.
func (c *Case) String() string {
	if c.Second == nil {
		return c.First.Name + " alone"
	}
	text := fmt.Sprintf("%s and %s", c.First.Name, c.Second.Name)
	if c.Held != nil {
		text += ", held at " + c.Held.where()
	}
	if c.Deposed {
		text += ", deposed"
	}
	if c.Until != nil {
		text += ", until " + c.Until.where()
	}
	return text
}

// unseen are those passes whose site nobody of the set passed in others.
func unseen(passes, others []Pass) []Pass {
	return slices.DeleteFunc(slices.Clone(passes), func(p Pass) bool {
		return slices.ContainsFunc(others, func(q Pass) bool { return q.Site == p.Site })
	})
}
