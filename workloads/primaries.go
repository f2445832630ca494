package workloads

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
)

// PrimaryParams say how often the primary of a database moves.
type PrimaryParams struct {
	Database string
	Shards   int
	// Count moves start from Start on, each Gap after the one before, more or less by half.
	Count      int
	Start, Gap time.Duration
	FirstID    int
}

// PrimariesAbout says what DrawPrimaries does, for lists.
const PrimariesAbout = "the primary shard of a database moves back and forth while clients use " +
	"its unsharded collections"

// DrawPrimaries plans p.Count moves of a primary that begins on the first shard, ordered by start
// time: mostly back and forth between two shards, so that data returns to where it is still being
// cleaned up. p.Shards is at least 2.
func DrawPrimaries(source Source, p PrimaryParams) []scenario.MovePrimary {
	moves := make([]scenario.MovePrimary, p.Count)
	at, on := p.Start, 0
	for i := range moves {
		id := p.FirstID + i
		pick := func(what string, n int) int {
			return source(fmt.Sprintf("moveprimary/%d/%s", id, what), n)
		}
		to := source("moveprimary/partner", p.Shards-1)
		if pick("third", 100) < 25 {
			to = pick("to", p.Shards-1)
		}
		if to >= on {
			to++
		}
		moves[i] = scenario.MovePrimary{ID: id, At: at, Database: p.Database, To: to}
		at += p.Gap/2 + time.Duration(int64(p.Gap)*int64(pick("gap", 1000))/1000)
		on = to
	}
	return moves
}
