package verdict

import "slices"

// KnownAnomaly is something that a version of the protocol is documented to do to data (invariants
// 20.1). A run of that version that shows it is no failure; the same in a version that promises
// better is.
type KnownAnomaly struct{ Name, About string }

// The known anomalies: the first three occur in 4.2 only, the last two in both versions.
var (
	// UnfencedCommit can lose and resurrect writes of its range, so that no verdict on these keys
	// means anything after it.
	UnfencedCommit = KnownAnomaly{
		Name: "unfenced-commit",
		About: "4.2: a commit took effect after its donor had aborted or failed over, and served " +
			"the range again (SERVER-44716), or after its recipient had left the cluster",
	}
	// LeakedOrphans stay until an operator removes them.
	LeakedOrphans = KnownAnomaly{
		Name:  "leaked-orphans",
		About: "4.2: orphaned documents stayed on a shard until cleanupOrphaned removed them",
	}
	// LeftBehind concerns single keys of unsharded collections.
	LeftBehind = KnownAnomaly{
		Name: "left-behind",
		About: "4.2: movePrimary did not take along what a client wrote during the copy " +
			"(SERVER-70437), or the history of a retryable write, which was executed again when " +
			"it was retried (SERVER-32113)",
	}
	// ExecutedTwice concerns one key: the history of sessions is a shard's. It does not follow a
	// collection that is dropped and made again on another, and of each session only the newest
	// statement moves with a chunk.
	ExecutedTwice = KnownAnomaly{
		Name: "executed-twice",
		About: "a retried statement was executed on one shard, and again on another after its " +
			"collection had been dropped and made again there, or after its client had given it " +
			"up and gone on before its range moved there",
	}
	// UndeliveredWrite concerns one key. Its client was not told that the write is durable.
	UndeliveredWrite = KnownAnomaly{
		Name: "undelivered-write",
		About: "a write of no session was copied by a migration before a majority of the donor " +
			"had it, and lost by the donor: it is there, and no change stream delivers it",
	}
)

// KnownAnomalies lists them all.
func KnownAnomalies() []KnownAnomaly {
	return []KnownAnomaly{UnfencedCommit, LeakedOrphans, LeftBehind, ExecutedTwice, UndeliveredWrite}
}

// Excuse is an anomaly that a run has shown, and what it explains.
type Excuse struct {
	Anomaly  KnownAnomaly
	Explains func(*Violation) bool
}

// Apply turns failures into documented ones if each of their violations is explained by one of the
// excuses, and names the anomalies of those that were needed.
func Apply(excuses []Excuse, verdicts []Verdict) (shown []string) {
	for i := range verdicts {
		v := &verdicts[i]
		if v.Outcome != Fail {
			continue
		}
		names, ok := explain(excuses, v.Violations)
		if !ok {
			continue
		}
		v.Outcome = Documented
		for _, name := range names {
			if !slices.Contains(shown, name) {
				shown = append(shown, name)
			}
		}
	}
	return shown
}

func explain(excuses []Excuse, violations []Violation) (names []string, all bool) {
	for i := range violations {
		n := slices.IndexFunc(excuses, func(e Excuse) bool { return e.Explains(&violations[i]) })
		if n < 0 {
			return nil, false
		}
		names = append(names, excuses[n].Anomaly.Name)
	}
	return names, len(violations) > 0
}

// Damage is a part of a namespace that an anomaly may have damaged from a moment on: the encoded
// shard keys from Min up to Max, from step Step. Those who read the past may be misled about what
// has happened since the virtual nanosecond From.
type Damage struct {
	NS, Min, Max string
	Step         uint64
	From         int64
}

// Explains reports whether a violation may come from the damage: it is about a single key of the
// range, and its newest evidence lies in or after the moment. The places of a violation are the
// encoded shard keys that its key may stand for, none when it is about no single key; ended says
// when an operation returned.
func (d *Damage) Explains(v *Violation, places []string, ended func(op int) int64) bool {
	in := func(key string) bool { return d.Min <= key && key < d.Max }
	return v.NS == d.NS && slices.ContainsFunc(places, in) && d.reaches(v, ended)
}

// Covers reports whether all that a violation about ranges is about may have been damaged.
func Covers(damaged []Damage, v *Violation) bool {
	covered := func(r KeyRange) bool {
		return slices.ContainsFunc(damaged, func(d Damage) bool {
			return v.NS == d.NS && d.Min <= r.Min && r.Max <= d.Max
		})
	}
	uncovered := func(r KeyRange) bool { return !covered(r) }
	return len(v.Ranges) > 0 && !slices.ContainsFunc(v.Ranges, uncovered)
}

// reaches: a violation without evidence of its own is about the end of the run.
func (d *Damage) reaches(v *Violation, ended func(op int) int64) bool {
	return len(v.Ops)+len(v.Events)+len(v.Times) == 0 ||
		slices.ContainsFunc(v.Ops, func(op int) bool { return ended(op) >= d.From }) ||
		slices.ContainsFunc(v.Events, func(step uint64) bool { return step >= d.Step }) ||
		slices.ContainsFunc(v.Times, func(at int64) bool { return at >= d.From })
}
