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
			fmt.Sprintf("%s went on at %s after the commit", id, e.Shard),
			fmt.Sprintf("the commit has config time %d, and a majority of %s has recorded %d at "+
				"most: the next primary may read a catalog older than the commit",
				at, e.Shard, kept))
	}
}

// moveUnfinished is the signature of a movePrimary whose recipient has not finished an earlier one
// in the other direction: a successor of its primary would drop the collections that have come back
// since (H-74b).
const moveUnfinished verdict.Signature = "unfinished-move-ignored"

// UnfinishedMoves says how the oracle gets to know the movePrimary of a database that a member has
// on record, "" for none.
func (o *Oracle) UnfinishedMoves(of func(node, database string) string) { o.order.unfinished = of }

// primaryEnters: a movePrimary goes through its phases in order. One that has ended has left no
// record with a majority, so that nobody goes on with it.
func (r *order) primaryEnters(e *trace.Event) {
	phase, before := e.PrimaryMovePhase(), r.phases[e.Migration()]
	enters := fmt.Sprintf("the movePrimary enters phase %s", phase)
	follows := phaseFollows[phase]
	switch {
	case before == trace.PrimaryDone || before == trace.PrimaryAborted:
		r.outOfOrder(e, stateSkipped, enters, fmt.Sprintf("it had ended in phase %s", before))
	case follows != 0 && before != 0 && phase != before && follows&setOf(before) == 0:
		r.outOfOrder(e, stateSkipped, enters, fmt.Sprintf("it was in phase %s", before))
	case phase == trace.PrimaryCloning && before == 0:
		r.judgeUnfinished(e)
	}
	r.phases[e.Migration()] = phase
}

// judgeUnfinished: before the first phase is on record, the recipient has said that it has nothing
// of the database, and a majority of it has nothing either.
func (r *order) judgeUnfinished(e *trace.Event) {
	leader := r.world.Set(e.Peer).Leader
	if r.unfinished == nil || leader == "" {
		return
	}
	if earlier := r.unfinished(leader, e.NS); earlier != "" {
		r.outOfOrder(e, moveUnfinished,
			fmt.Sprintf("movePrimary %s begins to copy to %s", e.Migration(), e.Peer),
			fmt.Sprintf("%s has movePrimary %s on record, which may still drop the collections",
				leader, earlier))
	}
}
