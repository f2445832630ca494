package oracle

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// timeNotKept is the signature of a move that goes on before its party has made sure that no later
// primary of it reads a catalog from before the commit (protocol 2.2, 9.1, 15). What such a primary
// believes is wrong only when the member of the config server that it asks lags, and nobody has
// told it a newer time before.
const timeNotKept verdict.Signature = "config-time-not-durable"

// ConfigTimes says how the oracle gets to know cluster times: that of the newest entry in the log
// of a member, and the config time that a majority of its replica set has on record, as far as the
// member knows. Zero is unknown, and that nothing is on record.
func (o *Oracle) ConfigTimes(newest, kept func(node string) uint64) {
	o.order.newest, o.order.kept = newest, kept
}

// judgeTime looks at the events by which a party has made the time of the commit durable: the end
// of a migration on either side and, of a movePrimary, the phase after the commit. In 4.2 there is
// no such record, no decision on record and no such phase. A recipient ends like that when its
// migration was aborted, too, and then it has heard of no commit.
func (r *order) judgeTime(e *trace.Event) {
	id := e.Migration()
	at := r.commitTimes[id]
	if at == 0 || r.kept == nil {
		return
	}
	switch e.Kind {
	case trace.MigrationEnded:
		if r.move(id).decided != trace.Committed {
			return
		}
	case trace.RecipientAdvanced:
		if e.RecipientState() != trace.RecipientDone || r.move(id).decided != trace.Committed {
			return
		}
	case trace.PrimaryMoving:
		if e.PrimaryMovePhase() != trace.PrimaryExitCritSec {
			return
		}
	default:
		return
	}
	if kept := r.kept(e.Node); kept < at {
		r.outOfOrder(e, timeNotKept,
			fmt.Sprintf("%s goes on to its end on %s", id, e.Shard),
			fmt.Sprintf("the commit has config time %d, and a majority of %s has only %d on "+
				"record: its next primary may read the catalog from before it", at, e.Shard, kept))
	}
}
