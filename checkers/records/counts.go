package records

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// commitCount is how many commits a shard of 4.2 has on record as in progress, and the term in
// which that was written.
type commitCount struct {
	n    int64
	term uint64
}

// Counted judges an entry that says how many commits of a shard of 4.2 are in progress (protocol
// 2.2). What an earlier primary has counted, its successor resets once it knows how far the config
// server is: counted on before that, the reset would drop a commit that is in progress. Step is
// that at which a majority had the entry.
func (j *Judge) Counted(set string, index, step, term uint64, n int64) {
	was := j.counts[set]
	j.counts[set] = commitCount{n, term}
	j.verdict.Checked++
	wrong := ""
	switch {
	case n < 0:
		wrong = "there is no such count"
	case term > was.term && was.n > 0 && n != 0:
		wrong = fmt.Sprintf("an earlier primary had counted %d, which this one has not reset", was.n)
	case n-was.n > 1 || was.n-n > 1 && term == was.term:
		wrong = fmt.Sprintf("the count was %d", was.n)
	default:
		return
	}
	j.verdict.Add(verdict.Violation{
		Signature: miscounted,
		Broke:     fmt.Sprintf("entry %d of %s counts %d commits in progress", index, set, n),
		Because:   []string{wrong},
		Events:    []uint64{step},
	})
}
