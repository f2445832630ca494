package runner

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/sim"
)

// conclude hands the run to whoever records it, and then judges it.
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
	if r.options.Unchecked {
		return result, nil
	}
	var err error
	if r.options.Record != nil {
		err = r.options.Record(result)
	}
	result.Verdicts = r.judge(result)
	r.weigh(result)
	return result, err
}

// weigh tells what a version of the protocol is known for from what breaks its promises.
func (r *run) weigh(result *Result) {
	if protocolOf(r.scenario).CoordinatesMigrations() {
		return
	}
	verdict.Excuse(result.Verdicts, r.oracle.Unfenced(), r.places)
	if result.Worst().Outcome == checkers.Documented {
		result.Weaknesses = append(result.Weaknesses, verdict.UnfencedCommit.Name)
	}
	if r.leaked {
		result.Weaknesses = append(result.Weaknesses, verdict.LeakedOrphans.Name)
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

// judge asks every checker. A run that broke inside is judged by that and by what the step oracle saw until then: its
// history ends in the middle.
func (r *run) judge(result *Result) []checkers.Verdict {
	if broken, ok := r.world.Err().(*sim.BrokenInvariant); ok {
		return append([]checkers.Verdict{crashed(broken)}, r.oracle.Verdicts()...)
	}
	progress := endstate.Progress{
		Asked:      len(result.History) + len(r.scenario.Migrations) + len(r.scenario.Primaries),
		Unfinished: r.unfinished, Waiting: r.waiting,
	}
	verdicts := append(checkers.Check(result.History, checkers.StandardLimits()), progress.Check())
	for i := range r.audits {
		verdicts = append(verdicts, r.audits[i].Check())
	}
	return append(verdicts, r.oracle.Verdicts()...)
}

// Assertions is the promise that the store's own assertions hold and its code does not panic (K-CRASH).
var Assertions = checkers.Checker{Name: "assertions", Promise: "No assertion in the store fails, and no code panics."}

// Checkers is every checker that judges a run, in the order in which they are listed.
func Checkers() []checkers.Checker {
	return slices.Concat(
		checkers.Catalogue(), endstate.Catalogue(), oracle.Catalogue(), []checkers.Checker{Assertions})
}

func crashed(b *sim.BrokenInvariant) checkers.Verdict {
	return checkers.Verdict{
		Checker: Assertions.Name, Promise: Assertions.Promise, Outcome: checkers.Fail, Checked: 1, Found: 1,
		Violations: []checkers.Violation{{
			Signature: "assertion-failed", Broke: b.Error(), Events: []uint64{b.Step},
			Because: []string{fmt.Sprintf("step %d at %s ended the run", b.Step, time.Duration(b.At))},
		}},
	}
}
