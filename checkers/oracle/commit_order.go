package oracle

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// This file has what the rule order promises of commits: who must know of one before it is written,
// and who after.

// TakesOver is called when a new primary of 4.2 that finds a record of commits begins to serve: the
// record has a config time, and whether a commit is counted that may be in progress. Every commit
// that its shard asked for is covered by one of them, unless it took effect behind the donor's
// back. Where there is no record, no commit was asked for.
func (o *Oracle) TakesOver(node, shard string, known uint64, counted bool) {
	delete(o.unsureOf, node)
	if counted {
		o.unsureOf[node] = tookOver{o.elected[node], o.causes.now}
		return
	}
	var missed []string
	//shardproof:allow map the first by name is reported
	for id, m := range o.moves {
		from := m.from
		if p := o.primaries[id]; p != nil {
			from = p.from
		}
		if from == shard && m.committed != 0 && m.committed < o.elections[shard] &&
			known < o.order.commitTimes[id] && !o.isUnfenced(id) {
			missed = append(missed, id)
		}
	}
	if len(missed) == 0 {
		return
	}
	id := slices.Min(missed)
	o.report(orderRule, verdict.Violation{
		Signature: timeNotKept, NS: o.moves[id].ns,
		Broke: fmt.Sprintf("%s takes over and finds no commit in progress", node),
		Because: []string{fmt.Sprintf("its shard has had %s committed at config time %d, and has "+
			"recorded %d: it may read a catalog older than the commit",
			id, o.order.commitTimes[id], known)},
	}, o.moves[id].committed)
}

// CommitsOnRecord sets how the oracle reads what the next primary of a shard of 4.2 would find: a
// config time, and whether a commit is counted as in progress, by what the member knows of the
// majority. Other protocols do not call it.
func (o *Oracle) CommitsOnRecord(of func(node string) (known uint64, counted bool)) {
	o.order.onRecord = of
}

// uninformed is a commit of which the next primary of a shard may have to be informed, and the
// primary that has asked for it.
type uninformed struct {
	id, shard, node string
	written         uint64
}

// noteCommit notes the time of a commit, and begins to follow it, when it is written. One for which
// a request has failed before may come behind the back of the primary that had sent it (protocol
// 15).
func (r *order) noteCommit(e *trace.Event, id, request string) {
	if request == "" || r.newest == nil || !r.world.Set(e.Shard).Leads(e) {
		return
	}
	r.commitTimes[id] = r.newest(e.Node)
	m := r.move(id)
	from, began := m.from, m.began
	if p := r.primaries[id]; p != nil {
		from, began = p.from, p.began
		r.judgeArrival(e, id, p)
	}
	leader := r.world.Set(from).Leader
	if r.onRecord != nil && leader != "" && r.elections[from] < began &&
		r.causes.of(leader).handed[request] == 0 {
		r.uninformed = append(r.uninformed, uninformed{id, from, leader, r.step})
		r.judgeReceived(e, id)
	}
}

// forgotRange is the signature of a recipient of 4.2 that forgets what it has received before it
// knows that it owns the range: a cleanup would take the documents for orphans (protocol 10.2).
const forgotRange verdict.Signature = "arrived-range-forgotten"

// ReceivedRanges says how the oracle gets to know whether a member remembers that it receives keys
// of a range, or has received them without knowing yet that it owns the range. Other protocols than
// 4.2 have that on record, and do not call it.
func (o *Oracle) ReceivedRanges(of func(node, ns, min, max string) bool) { o.order.receiving = of }

// judgeReceived judges the recipient when the commit is first written, unless its primary is
// another one by then, or has started again, and knows nothing of the migration.
func (r *order) judgeReceived(e *trace.Event, id string) {
	m, p := r.moves[id], r.pairs[id]
	if r.receiving == nil || m == nil || p == nil || p.recipient != trace.RecipientDone {
		return
	}
	leader := r.world.Set(m.to).Leader
	if leader == "" || !r.causes.of(leader).settledSince(p.recipientSince) ||
		r.receiving(leader, m.ns, m.min, m.max) {
		return
	}
	r.report(orderRule, verdict.Violation{
		Signature: forgotRange, NS: e.NS,
		Broke: fmt.Sprintf("migration %s commits %s", id, r.span(m.min, m.max)),
		Because: []string{fmt.Sprintf("the recipient %s no longer remembers that it has received "+
			"the range: a cleanup would delete its documents as orphans", leader)},
	}, e.Step)
}

// fencedTooEarly is the signature of a donor of 8.0 that goes on to end a migration before its
// recipient has released its critical section (protocol 9.1).
const fencedTooEarly verdict.Signature = "fenced-before-release"

// startedAs is by what a donor fences a migration: the session and the transaction number with
// which it was started.
type startedAs struct {
	lsid string
	txn  int64
}

// start is a migration that was started at a step. Outside says that the recipient was no shard of
// the cluster then.
type start struct {
	migration string
	step      uint64
	outside   bool
}

// Starts is called when a donor tells the recipient to start a migration.
func (o *Oracle) Starts(migration, session, lsid string, txn int64) {
	members := o.world.Cluster()
	outside := members.Knows() && !members.Has(o.move(migration).to)
	o.order.starts[startedAs{lsid, txn}] = start{migration, o.step, outside}
	o.order.sessions[session] = migration
}

// begunTooLate is the signature of a donor of 4.2 that answers the first request of a recipient
// although it has blocked writes for the migration: a recipient that asks so late was told to start
// by a message that was delayed, and would first delete what has been received (protocol 4).
const begunTooLate verdict.Signature = "begun-after-writes-were-blocked"

// LetBegin is called when a donor has answered the first request of a recipient.
func (o *Oracle) LetBegin(node, session string) {
	id, started := o.order.sessions[session]
	if !started || !o.older() {
		return
	}
	p, m := o.order.pairs[id], o.move(id)
	if p == nil || p.donor < trace.DonorCriticalSection || p.donor.Terminal() ||
		o.world.Set(m.from).Leader != node {
		return
	}
	o.report(orderRule, verdict.Violation{
		Signature: begunTooLate, NS: m.ns,
		Broke:   fmt.Sprintf("%s lets a recipient of migration %s begin", node, id),
		Because: []string{fmt.Sprintf("the donor is in state %s", p.donor)},
	}, o.step)
}

// Released is called when a donor is answered that the recipient has released its critical section.
func (o *Oracle) Released(migration string) { o.order.released[migration] = true }

// Fences is called when a primary asks for a session to be fenced at a transaction number. A
// recipient that has left the cluster, before the start or since then, is not asked to release
// anything (H-38).
func (o *Oracle) Fences(node, lsid string, txn int64) {
	s, started := o.order.starts[startedAs{lsid, txn - 1}]
	if !started || s.outside || o.order.released[s.migration] ||
		o.left[o.move(s.migration).to] >= s.step {
		return
	}
	o.report(orderRule, verdict.Violation{
		Signature: fencedTooEarly, NS: o.move(s.migration).ns,
		Broke:   fmt.Sprintf("%s fences migration %s", node, s.migration),
		Because: []string{"no answer says that the recipient has released its critical section"},
	}, o.step)
}

// judgeInformed: from when a majority of the config server has a commit until a majority of the
// shard has recorded a time that is not older, the commit is counted there. A primary that takes
// over may come at any moment.
func (r *order) judgeInformed() {
	r.uninformed = slices.DeleteFunc(r.uninformed, func(u uninformed) bool {
		m, at := r.moves[u.id], r.commitTimes[u.id]
		if r.world.Set(u.shard).Leader != u.node || r.elections[u.shard] > u.written ||
			r.isUnfenced(u.id) {
			return true
		}
		known, counted := r.onRecord(u.node)
		if m.committed == 0 || counted && known < at {
			return false
		}
		if known < at {
			r.report(orderRule, verdict.Violation{
				Signature: timeNotKept, NS: m.ns,
				Broke: fmt.Sprintf("%s does not count commit %s as one in progress", u.shard, u.id),
				Because: []string{fmt.Sprintf("it took effect at config time %d, and a majority of "+
					"%s has recorded %d: the next primary may read a catalog older than the commit",
					at, u.shard, known)},
			}, m.committed)
		}
		return true
	})
}

// notedTooEarly is the signature of a move of 4.2 whose recipient has noted the arrival of the
// database while the donor still let clients write: who resumes to watch a collection between the
// note and such a write is not told to begin again, and misses the write (protocol 12).
const notedTooEarly verdict.Signature = "arrival-noted-too-early"

// notNoted is the signature of a movePrimary whose recipient has not noted that the database has
// arrived, be there collections to copy or not (protocol 12).
const notNoted verdict.Signature = "arrival-not-noted"

// Arrived is called when the recipient of a movePrimary has answered that it has what the move
// brought, with whether a majority of it has noted the arrival of the database.
func (o *Oracle) Arrived(move string, noted bool) {
	p := o.primaries[move]
	if p == nil {
		return
	}
	p.arrived = o.step
	o.order.arriving[p.from+" "+p.database] = p
	if !noted {
		o.report(orderRule, verdict.Violation{
			Signature: notNoted, NS: p.database,
			Broke: fmt.Sprintf("the recipient answers that it has copied %s for move %s",
				p.database, move),
			Because: []string{"no majority of it has an entry that notes the arrival"},
		}, o.step)
	}
}

// noteChanged notes what clients change of a database that leaves the shard.
func (r *order) noteChanged(e *trace.Event) {
	if e.Actor != trace.User {
		return
	}
	if p := r.arriving[e.Shard+" "+databaseOf(e.NS)]; p != nil &&
		r.world.Set(e.Shard).Leads(e) && !r.world.Sharded(e.NS) {
		p.changed = e.Step
	}
}

// judgeArrival judges a move of 4.2 when its commit is first written, unless that takes effect
// unfenced, or the donor has elected another primary since the move began.
func (r *order) judgeArrival(e *trace.Event, id string, p *primaryMove) {
	if r.onRecord == nil || p.written != 0 || p.changed <= p.arrived ||
		r.elections[p.from] > p.began || r.movesUnfenced(e, id, p) {
		return
	}
	r.report(orderRule, verdict.Violation{
		Signature: notedTooEarly, NS: e.NS,
		Broke: fmt.Sprintf("%s is moved by %s, and its recipient has noted the arrival too early",
			e.NS, id),
		Because: []string{fmt.Sprintf("it had done so by step %d, and %s let a client change "+
			"something at step %d", p.arrived, p.from, p.changed)},
	}, p.arrived, p.changed)
}

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
