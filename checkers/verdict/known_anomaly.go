package verdict

import "slices"

// KnownAnomaly is something that an older version of the protocol is documented to do to data
// (invariants 20.1). A run of that version that shows it is no failure; the same in a version that
// promises better is.
type KnownAnomaly struct{ Name, About string }

// The known anomalies of 4.2.
var (
	// UnfencedCommit can lose and resurrect writes of its range, so that no verdict on these keys
	// means anything after it.
	UnfencedCommit = KnownAnomaly{
		Name: "unfenced-commit",
		About: "4.2: a commit took effect after its donor had aborted or failed over, and served " +
			"the " +
			"range again (SERVER-44716)",
	}
	// LeakedOrphans stay until an operator removes them.
	LeakedOrphans = KnownAnomaly{
		Name:  "leaked-orphans",
		About: "4.2: orphaned documents stayed on a shard until cleanupOrphaned removed them",
	}
)

// KnownAnomalies lists them all.
func KnownAnomalies() []KnownAnomaly { return []KnownAnomaly{UnfencedCommit, LeakedOrphans} }

// KeyRange is a part of a namespace: the encoded shard keys from Min up to Max.
type KeyRange struct{ NS, Min, Max string }

func (s *KeyRange) holds(v *Violation, places []string) bool {
	in := func(key string) bool { return s.Min <= key && key < s.Max }
	return v.NS == "" || v.NS == s.NS && (len(places) == 0 || slices.ContainsFunc(places, in))
}

// Excuse turns the failures of a run of a version that does not fence its commits into documented
// ones, as far as they are about the keys of such a commit, about no single key of its namespace,
// or about no namespace. The places of a violation are the encoded shard keys that its key may
// stand for, none when it is no single key.
func Excuse(verdicts []Verdict, unfenced []KeyRange, places func(*Violation) []string) {
	excused := func(v *Violation) bool {
		return slices.ContainsFunc(unfenced, func(s KeyRange) bool { return s.holds(v, places(v)) })
	}
	for i := range verdicts {
		v := &verdicts[i]
		stranger := func(v Violation) bool { return !excused(&v) }
		if v.Outcome == Fail && len(unfenced) > 0 && !slices.ContainsFunc(v.Violations, stranger) {
			v.Outcome = Documented
		}
	}
}
