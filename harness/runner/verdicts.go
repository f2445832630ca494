package runner

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/sim"
)

// conclude saves the run where that is wanted, and then judges it.
func (r *run) conclude() (*Result, error) {
	r.record.close()
	result := &Result{
		Scenario: r.scenario, History: r.record.ops, Events: r.events, Hash: r.world.Hash(), Steps: r.world.Steps(),
		Virtual: time.Duration(r.world.Now()), Counters: r.tally.Counters,
		Unfinished: r.unfinished, Coverage: r.coverage.all(),
	}
	for _, d := range r.world.Decisions() {
		result.Decisions = append(result.Decisions, scenario.Decision(d))
	}
	if r.curve != nil {
		result.Curve = r.curve.samples
	}
	result.Runs, result.Counters.Steps, result.Counters.Virtual = 1, result.Steps, int64(result.Virtual)
	if protocolOf(r.scenario) == protocol.V42 {
		result.Older = 1
	}
	result.Sites = r.world.PointHits()
	result.countOps(r.record.ops)
	folder, err := r.save(result)
	result.Verdicts = r.judge(result)
	r.weigh(result)
	if err == nil && folder != nil {
		err = folder.Conclude(result.Verdicts, Markdown(result))
		if r.curve != nil {
			err = errors.Join(err, folder.Add(rundir.CurveFile, []byte(CurveText(result.Curve))))
		}
	}
	return result, err
}

// weigh tells what a version of the protocol is known for from what breaks its promises.
func (r *run) weigh(result *Result) {
	if protocolOf(r.scenario).CoordinatesMigrations() {
		return
	}
	checkers.Excuse(result.Verdicts, r.oracle.Unfenced(), r.places)
	if result.Worst().Outcome == checkers.Documented {
		result.Weaknesses = append(result.Weaknesses, checkers.UnfencedCommit.Name)
	}
	if r.leaked {
		result.Weaknesses = append(result.Weaknesses, checkers.LeakedOrphans.Name)
	}
	for _, name := range result.Weaknesses {
		result.Counters.Weaknesses[name]++
	}
}

// places are the encoded shard keys that a violation's key may stand for: of a hashed collection, checkers of histories name
// the value and oracles the hash.
func (r *run) places(v *checkers.Violation) []string {
	k, err := strconv.ParseInt(v.Key, 10, 64)
	if err != nil {
		return nil
	}
	places := []string{string(key.Int(k))}
	for _, c := range r.scenario.Collections {
		if at, err := founded(c).Key.Of(document(k, "")); c.NS == v.NS && err == nil {
			places = append(places, string(at))
		}
	}
	return places
}

func (r *run) save(result *Result) (*rundir.Folder, error) {
	if r.options.Folder == "" {
		return nil, nil
	}
	where := r.options.Environment
	where.Hash, where.Steps = result.HashText(), result.Steps
	return rundir.Save(r.options.Folder, rundir.Record{
		Scenario: result.Plan(), History: result.History, Events: result.Events, Environment: where,
	})
}

// judge asks every checker. A run that broke inside is judged by that and by what the step oracle saw until then: its
// history ends in the middle.
func (r *run) judge(result *Result) []checkers.Verdict {
	if broken, ok := r.world.Err().(*sim.BrokenInvariant); ok {
		return append([]checkers.Verdict{crashed(broken)}, r.oracle.Verdicts()...)
	}
	progress := checkers.Progress{
		Asked:      len(result.History) + len(r.scenario.Migrations) + len(r.scenario.Primaries),
		Unfinished: r.unfinished, Waiting: r.waiting,
	}
	verdicts := append(checkers.History(result.History, checkers.StandardLimits()), progress.Check())
	for i := range r.audits {
		verdicts = append(verdicts, r.audits[i].Check())
	}
	return append(verdicts, r.oracle.Verdicts()...)
}

// invariant is the promise that the store's own assertions hold and its code does not panic (assertions).
var invariant = checkers.Checker{Name: "assertions", Promise: "No assertion in the store fails, and no code panics."}

// Checkers is every checker that judges a run, in the order in which they are listed.
func Checkers() []checkers.Checker { return append(checkers.Catalogue(), invariant) }

func crashed(b *sim.BrokenInvariant) checkers.Verdict {
	return checkers.Verdict{
		Checker: invariant.Name, Promise: invariant.Promise, Outcome: checkers.Fail, Checked: 1, Found: 1,
		Violations: []checkers.Violation{{
			Signature: "assertion-failed", Broke: b.Error(), Events: []uint64{b.Step},
			Because: []string{fmt.Sprintf("step %d at %s ended the run", b.Step, time.Duration(b.At))},
		}},
	}
}
