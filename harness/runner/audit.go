package runner

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
)

// finalChecks is what is found out when a run is over: what has not ended, and what every node
// holds.
type finalChecks struct {
	*stage
	// final are the operations of the final pass.
	final []histories.Op
	// unfinished is what has not ended, waiting what the tasks that are left wait for.
	unfinished []endstate.Unfinished
	waiting    []endstate.Wait
	audits     []endstate.Audit
	repaired   []string
	statistics map[string]int64
	// trials are what was tried when the system had been surveyed.
	trials endstate.Trials
	// finals are the operations of the final pass by collection.
	finals map[string][]histories.Op
}

func (f *finalChecks) leave(what ...string) {
	for _, w := range what {
		f.unfinished = append(f.unfinished, endstate.Unfinished{What: w})
	}
}

// survey asks every node for what it holds, when the system is quiescent or the time is up.
func (f *finalChecks) survey(repair bool) {
	if f.world.Err() != nil {
		return
	}
	f.unfinished = append(f.unfinished, f.undone()...)
	if left := f.system.Outstanding(); len(f.unfinished)+len(left) > 0 {
		f.waiting = f.waits()
		if len(f.unfinished) > 0 {
			left = f.lasting(left)
		}
		f.leave(left...)
	}
	done := false
	f.world.AddNode(surveyor, func(t env.Task) {
		s := f.system.NewSurvey(t.Node())
		for f.ask(t, s, repair); !f.clean() && t.Sleep(surveyEvery) == nil; {
			f.ask(t, s, repair)
		}
		f.statistics = s.Statistics(t)
		done = true
	})
	f.world.Run(func() bool { return done }, max(f.deadline, f.world.Now()).Add(readyLimit))
	if !done && f.world.Err() == nil {
		f.leave("the final audit got no answer")
	}
}

// probe has an operator try what must be possible now. Nothing that is judged otherwise comes after
// it, so it cannot repair what should have come to rest by itself.
func (f *finalChecks) probe() {
	p, ok := f.system.(target.Prober)
	if !ok || f.world.Err() != nil || len(f.unfinished) > 0 {
		return
	}
	do, tried := p.Probe()
	done := false
	f.world.AddNode(prober, func(t env.Task) {
		do(t)
		done = true
	})
	f.world.Run(func() bool { return done }, f.world.Now().Add(probeLimit))
	f.trials = tried()
}

// probeLimit is how long all probes together may take.
const probeLimit = 2 * time.Minute

// ask surveys once. The copies are completed with what the history knows of their collection.
func (f *finalChecks) ask(t env.Task, s target.Survey, repair bool) {
	if repair {
		f.repaired = append(f.repaired, s.Repair(t)...)
	}
	f.audits = s.Copies(t)
	for i := range f.audits {
		a := &f.audits[i]
		a.Final, a.Whole = f.finalOf(a.NS), f.wholeOf(a.NS)
		a.Busy = len(f.unfinished) > 0
	}
}

// waits is what all tasks wait for. Those that wait for as long as their nodes live are not shown.
func (f *finalChecks) waits() (all []endstate.Wait) {
	for _, w := range f.world.Waiting() {
		all = append(all, endstate.Wait{
			Node: string(w.Node), Task: w.Task, Doing: w.Doing, Told: w.Told,
			Since: time.Duration(w.Since), Serves: w.Serves, About: w.About, On: w.On,
			Idle: f.about.Parked != nil && f.about.Parked(w.String()),
		})
	}
	return all
}

// undone is everything that should have ended by now.
func (f *finalChecks) undone() (undone []endstate.Unfinished) {
	for i := range f.history.ops {
		if op := &f.history.ops[i]; op.Return == 0 {
			undone = append(undone, endstate.Unfinished{
				What: fmt.Sprintf("operation %d of client %d (%s %s k=%d), called at %s",
					op.ID, op.Client, op.Kind, op.NS, op.Key, time.Duration(op.CallAt)),
				Node: string(clientNode(op.Client)), Stream: op.Kind == scenario.Watch,
			})
		}
	}
	if f.world.Steps() >= stepBudget {
		undone = append(undone,
			endstate.Unfinished{What: fmt.Sprintf("the run, within %d steps", stepBudget)})
	}
	for _, name := range f.tasks.names() {
		undone = append(undone, endstate.Unfinished{What: f.entitled(name), Task: name})
	}
	return undone
}

// lasting looks a second time at what is outstanding: while something that has not ended goes on to
// write, such as a stream that waits for its shards, members are behind at any moment, but not for
// long.
func (f *finalChecks) lasting(left []string) []string {
	f.world.Run(nil, f.world.Now().Add(lookAgain))
	still := f.system.Outstanding()
	return slices.DeleteFunc(left, func(what string) bool { return !slices.Contains(still, what) })
}

// lookAgain is how long what is outstanding must last then: no less than an idle replica set takes
// to tell its members what is committed.
const lookAgain = 2 * time.Second

// entitled is the name of a task with the line of the scenario that it carries out.
func (f *finalChecks) entitled(name string) string {
	for i := range f.scenario.Migrations {
		if m := &f.scenario.Migrations[i]; moveName(m.ID) == name {
			return fmt.Sprint(m)
		}
	}
	for i, c := range f.scenario.Commands {
		if n, is := strings.CutPrefix(name, fmt.Sprintf("command %d/", i+1)); is {
			return fmt.Sprintf("%s (command %d, shard %s)", c, i+1, n)
		}
	}
	return name
}

// surveyEvery is how often the survey is repeated while something is left over, such as a cursor
// that a lost scan left open.
const surveyEvery = 200 * time.Millisecond

// clean is true when nothing is left that could go with time, or the time is up.
func (f *finalChecks) clean() bool {
	if f.world.Now() >= f.deadline {
		return true
	}
	for _, a := range f.audits {
		applied := make(map[string]string)
		for _, m := range a.Members {
			// The members are asked one after the other, and a server may still write to its log
			// for itself.
			lags := applied[m.Shard] != "" && applied[m.Shard] != m.Applied
			if m.Unreachable || lags || m.Cursors+len(m.Leftovers)+len(m.Sections) > 0 {
				return false
			}
			applied[m.Shard] = m.Applied
		}
	}
	return true
}

// finalOf are the operations of the final pass on a collection.
func (f *finalChecks) finalOf(ns string) (ops []histories.Op) {
	if len(f.scenario.Collections) == 1 {
		return f.final
	}
	if f.finals == nil {
		f.finals = map[string][]histories.Op{}
		for i := range f.final {
			op := &f.final[i]
			f.finals[op.NS] = append(f.finals[op.NS], *op)
		}
	}
	return f.finals[ns]
}

// wholeOf are the operations on a collection as a whole.
func (f *finalChecks) wholeOf(ns string) (ops []histories.Op) {
	for i := range f.history.ops {
		op := &f.history.ops[i]
		if (op.NS == ns || op.Into == ns) && op.Kind.Whole() {
			ops = append(ops, *op)
		}
	}
	return ops
}
