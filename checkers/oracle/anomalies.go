package oracle

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// damagingCommit is a commit, and what it may have damaged. One behind the donor's back is the
// first if its recipient had no chunk of the collection before.
type damagingCommit struct {
	id     string
	damage verdict.Damage
	first  bool
}

// Unfenced lists what was damaged by commits that took effect, and that a majority of the config
// server has, although a primary of the donor led, or had led since the writes were blocked, that
// did not hold the critical section of its migration: it may have let writes pass, or be about to.
// Nobody is sent to the recipient before the commit is written.
func (o *Oracle) Unfenced() []verdict.Damage { return o.committed(o.unfenced) }

// committed lists the damage of those commits that a majority of the config server has.
func (o *Oracle) committed(commits []damagingCommit) (all []verdict.Damage) {
	for _, u := range commits {
		if o.isCommitted(u.id) {
			all = append(all, u.damage)
		}
	}
	return all
}

// noteDamage: what reads the past is misled from the date that the commit gives to its range.
func (o *Oracle) noteDamage(e *trace.Event, lo, hi string) {
	d := verdict.Damage{NS: e.NS, Min: lo, Max: hi, Step: e.Step, From: e.At}
	for _, c := range e.Chunks {
		if c.Min <= lo && lo < c.Max {
			d.From = min(d.From, int64(c.Since>>20)*1e6)
		}
	}
	u := damagingCommit{id: e.Migration(), damage: d}
	if at := model.Table(e.Chunks).Owner(lo); e.NS != "" && o.moves[u.id] != nil {
		u.first = len(o.world.Table(e.NS).Owned(at)) == 0
	}
	o.unfenced = append(o.unfenced, u)
}

// Unannounced lists the collections of which an unfenced commit has given a shard its first chunk:
// what would have told open change streams to read that shard, too, the donor may have lost. They
// may miss all that is written there from then on.
func (o *Oracle) Unannounced() (all []verdict.Damage) {
	for _, u := range o.unfenced {
		if u.first && o.isCommitted(u.id) {
			everything := u.damage
			everything.Min, everything.Max = "", "\xff\xff"
			all = append(all, everything)
		}
	}
	return all
}

// Twice is a statement of a retryable write that two shards have executed, each as the first it
// knew of, since its history could not follow its documents. Found is 0, or the virtual nanosecond
// at which the second found nothing to change.
type Twice struct {
	NS, Key, Session string
	Txn              int64
	Statement        int
	Found            int64
}

// execution is the first execution of a statement that a majority of its shard may have.
type execution struct {
	at   *trace.Event
	step uint64
	// life is that of the collection, 0 for one that is not sharded; identity is the one under which
	// the shard had it.
	life     uint64
	identity string
	// followed is the step at which the shard executed a later statement of the session, 0 before.
	followed uint64
}

// ExecutedTwice lists the statements whose history could not follow their documents. Either a drop
// has separated them: the history stays with the shard that executed them, and the collection of
// the same name was made on another; a majority of the config server had the drop before the second
// execution, or, as it does not list unsharded collections, the second was in another collection
// than the first, which was not sharded. Or their client had given them up and gone on before a
// migration began to clone their range, or a move of the primary of their database when the
// collection is not sharded: what a shard keeps of a session, and hands over, is its newest
// statement (protocol 7, 15). In both a majority of the first shard had the execution before the
// second.
func (o *Oracle) ExecutedTwice() []Twice { return o.twice }

// noteExecution follows executions of primaries for their clients.
func (o *Oracle) noteExecution(e *trace.Event) {
	if e.Actor != trace.User || !o.world.Set(e.Shard).Leads(e) {
		return
	}
	id := executionID(e.Session(), strconv.Itoa(e.Statement()), uint64(e.Txn()))
	first, again := o.executions[id]
	if again && first.at.Shard != e.Shard && first.at.NS == e.NS &&
		(o.replaced(first, e.Node, e.NS) || o.droppedSince(first) && o.sameKey(first, e) ||
			first.at.Key == e.Key && o.movedWithout(first)) {
		o.twice = append(o.twice, Twice{
			NS: e.NS, Key: e.Key, Session: e.Session(), Txn: e.Txn(), Statement: e.Statement(),
		})
		return
	}
	if again && first.at.Shard != e.Shard && first.at.NS == e.NS && first.at.Key == e.Key {
		o.noteHistoryLeft(first, e)
	}
	kept := *e // events are used again
	o.executions[id] = &execution{
		at: &kept, step: e.Step, life: o.shardedLife(e.NS), identity: o.identity(e.Node, e.NS),
	}
	o.followStatement(e, o.executions[id])
}

// shardedLife is the life of the sharded collection of a name, 0 when it is not sharded: an
// unsharded one may have the name that a sharded one had before it was renamed.
func (o *Oracle) shardedLife(ns string) uint64 {
	if o.world.Latest(ns) == nil {
		return 0
	}
	return o.lives[ns]
}

// followStatement notes which statements of the session its shard has forgotten with this one: all
// of the transaction before.
func (o *Oracle) followStatement(e *trace.Event, x *execution) {
	of := e.Shard + " " + e.Session()
	last := o.lastExecuted[of]
	if len(last) > 0 && last[0].at.Txn() < e.Txn() {
		for _, before := range last {
			before.followed = e.Step
		}
		last = last[:0]
	}
	o.lastExecuted[of] = append(last, x)
}

// droppedSince says whether its collection was dropped, and a majority has the statement on record,
// or a later one of the session.
func (o *Oracle) droppedSince(x *execution) bool {
	return o.drops[x.at.NS] > x.step && o.world.Set(x.at.Shard).Refuses(x.at)
}

// sameKey says whether a statement may be on the same key in both of its executions: what it is on
// in a collection that is not sharded cannot be compared with a shard key.
func (o *Oracle) sameKey(first *execution, again *trace.Event) bool {
	return first.at.Key == again.Key || first.life != 0 && o.shardedLife(again.NS) == 0
}

// replaced says whether an unsharded collection has given way to the one that a member has, where
// a statement is executed again, when a majority has that on record, or a later one of the session.
// Collections keep their identity when they move and when they are sharded, but not the shard key
// of the statement.
func (o *Oracle) replaced(first *execution, node, ns string) bool {
	now := o.identity(node, ns)
	return first.life == 0 && first.identity != "" && now != "" && now != first.identity &&
		o.world.Set(first.at.Shard).Refuses(first.at)
}

// movedWithout says whether the key of a statement has left the shard that executed it with a
// migration that began to clone, or a move of the primary that began, when that shard knew a later
// statement of the session only. The donor looks through its sessions as it begins to clone, and
// what is executed from then on is sent in any case (protocol 7).
func (o *Oracle) movedWithout(x *execution) bool {
	if x.followed == 0 || !o.world.Set(x.at.Shard).Refuses(x.at) {
		return false
	}
	if x.life == 0 {
		return o.primaryMovedWithout(x)
	}
	left := false
	//shardproof:allow map any of them will do
	for _, m := range o.moves {
		left = left || m.from == x.at.Shard && m.ns == x.at.NS &&
			m.min <= x.at.Key && x.at.Key < m.max && x.followed < m.cloning && m.cloning < m.committed
	}
	return left
}

func (o *Oracle) primaryMovedWithout(x *execution) bool {
	left := false
	//shardproof:allow map any of them will do
	for _, p := range o.primaries {
		left = left || p.from == x.at.Shard && p.database == databaseOf(x.at.NS) &&
			x.followed < p.began && p.began < p.written
	}
	return left
}

func executionID(session, number string, txn uint64) string {
	return fmt.Sprintf("%s/%d/%s", session, txn, number)
}

// executedIn says whether a statement of a history was executed on a sharded collection, which life
// stands for, whatever name that had.
func (o *Oracle) executedIn(life uint64, statement string, txn uint64) bool {
	session, number, _ := strings.Cut(statement, "\x00")
	first, known := o.executions[executionID(session, number, txn)]
	return known && life != 0 && first.life == life
}

// adopted says whether a statement of a history was executed while the member's present collection
// was unsharded, and the shard key that this got later cannot be told from the key on record.
func (o *Oracle) adopted(member, ns, statement string, txn uint64) bool {
	session, number, _ := strings.Cut(statement, "\x00")
	first, known := o.executions[executionID(session, number, txn)]
	return known && first.life == 0 && first.identity != "" && o.rekeyed[first.at.NS] &&
		first.identity == o.identity(member, ns)
}

// noteHistoryLeft looks for a committed movePrimary of 4.2 away from the shard that executed the
// statement first, and committed after that: it has left the history of sessions behind.
func (o *Oracle) noteHistoryLeft(first *execution, again *trace.Event) {
	left := ""
	//shardproof:allow map any of them will do
	for id, p := range o.primaries {
		if p.from == first.at.Shard && p.database == databaseOf(again.NS) &&
			first.step < p.written && o.move(id).committed != 0 {
			left = id
		}
	}
	if o.older() && first.life == 0 && left != "" {
		o.leaveBehind(left, again.NS, again.Key, first.step, first.at.At)
	}
}

// leaveBehind notes what a move may have damaged since a step and a virtual nanosecond.
func (o *Oracle) leaveBehind(move, ns, at string, step uint64, since int64) {
	o.lacking = append(o.lacking, damagingCommit{id: move, damage: verdict.Damage{
		NS: ns, Min: at, Max: at + "\x00", Step: step, From: since,
	}})
}

// primaryMove is a movePrimary: the shard that it takes the database from, and the steps at which
// it began and at which its commit was first written, 0 before.
type primaryMove struct {
	database, from string
	began, written uint64
	// arrived is when the recipient had last noted that the database arrives, and changed when a
	// client last changed something of it on the donor after the first note; 0 is never.
	arrived, changed uint64
	// beside is what clients changed between the beginning of the copy of 4.2 and the commit; the
	// copy is made from copied[0] to copied[1], in virtual nanoseconds, 0 for not yet.
	beside []besideCopy
	copied [2]int64
}

// home is where the latest movePrimary has brought a database.
type home struct{ move, shard string }

// noteCopying begins to follow what clients change while a movePrimary of 4.2 copies.
func (o *Oracle) noteCopying(e *trace.Event) {
	if p := o.primaries[e.Migration()]; o.older() && e.PrimaryMovePhase() == trace.PrimaryCloning {
		o.copying[e.Shard+" "+e.NS], p.copied[0] = p, e.At
	} else if p.copied[0] != 0 && p.copied[1] == 0 {
		p.copied[1] = e.At
	}
}

// noteBesideCopy notes what a client changes of an unsharded collection while it is copied, so that
// its copy may lack it (protocol 15).
func (o *Oracle) noteBesideCopy(e *trace.Event) {
	p := o.copying[e.Shard+" "+databaseOf(e.NS)]
	if p != nil && p.written == 0 && e.Actor == trace.User && o.world.Set(e.Shard).Leads(e) &&
		!o.world.Sharded(e.NS) {
		p.beside = append(p.beside, besideCopy{e.NS, e.DocID, e.Key, e.Step, e.At})
	}
}

// besideCopy is a change of a document between the beginning of a copy of 4.2 and the commit, made
// at a step and a virtual nanosecond.
type besideCopy struct {
	ns, id, key string
	step        uint64
	at          int64
}

// noteLeftBehind compares, when the commit of a movePrimary is written, what clients have changed
// during the copy with what the new primary has of it.
func (o *Oracle) noteLeftBehind(e *trace.Event, p *primaryMove) {
	donor, recipient := o.world.Set(p.from), o.world.Set(e.Chunks[0].Shard)
	for _, b := range p.beside {
		if donor.Document(b.ns, b.id) != recipient.Document(b.ns, b.id) {
			o.leaveBehind(e.Migration(), b.ns, b.key, b.step, b.at)
		}
	}
}

// Unmoved is a statement that a movePrimary of 4.2 has not taken along, and what that may damage if
// its client was not answered before the virtual nanosecond Committed.
type Unmoved struct {
	Twice
	Damage    verdict.Damage
	Committed int64
	move      string
}

// noteUnmoved notes the statements that the former primary has executed, as far as their clients
// have not gone on. One that is sent again changes nothing on the next primary, which has what it
// wrote, and so is executed there without a record.
func (o *Oracle) noteUnmoved(e *trace.Event, p *primaryMove) {
	//shardproof:allow map each statement is judged by itself
	for _, x := range o.executions {
		at := x.at
		if !o.older() || at.Shard != p.from || databaseOf(at.NS) != p.database || x.life != 0 ||
			x.followed != 0 {
			continue
		}
		o.unmoved = append(o.unmoved, Unmoved{
			Twice: Twice{
				NS: at.NS, Key: at.Key, Session: at.Session(), Txn: at.Txn(), Statement: at.Statement(),
			},
			Damage: verdict.Damage{
				NS: at.NS, Min: at.Key, Max: at.Key + "\x00", Step: x.step, From: at.At,
			},
			Committed: e.At, move: e.Migration(),
		})
	}
}

// Unmoved lists such statements of moves that a majority of the config server has.
func (o *Oracle) Unmoved() (all []Unmoved) {
	for _, u := range o.unmoved {
		if o.isCommitted(u.move) {
			all = append(all, u)
		}
	}
	return all
}

// LeftBehind lists the documents that a movePrimary of 4.2 may have damaged, once a majority of the
// config server has its commit (protocol 15). Either a client changed the document after the copy
// had begun, and the new primary lacked the change at the commit; or a statement that was executed
// before the commit was executed again on another shard. The damage begins with the change, or with
// the first execution.
func (o *Oracle) LeftBehind() (all []verdict.Damage) { return o.committed(o.lacking) }

// Undelivered is a write that no change stream delivers although a reader may meet it: its shard
// has lost it after a migration had copied it.
type Undelivered struct {
	NS, Key string
	// Since is the virtual nanosecond at which the copy was made.
	Since int64
}

// copiedEarly is a write that a migration copied before a majority of its shard had it.
type copiedEarly struct {
	Undelivered
	shard, migration string
	at               model.Entry
	lost             bool
}

// Undelivered lists the writes of no session that a committed migration copied before a majority of
// the donor had them, which the next primaries of the donor did not have. No migration waits for
// such a majority; for statements of sessions it does (protocol 7).
func (o *Oracle) Undelivered() (all []Undelivered) {
	for _, c := range o.early {
		if c.lost && o.move(c.migration).committed != 0 {
			all = append(all, c.Undelivered)
		}
	}
	return all
}

// noteCopied follows what recipients write for migrations that have not committed.
func (o *Oracle) noteCopied(e *trace.Event) {
	m := o.moves[e.For()]
	if e.Actor != trace.Recipient || m == nil || m.from == "" || !o.world.Set(e.Shard).Leads(e) {
		return
	}
	donor := o.world.Set(m.from)
	if at, is := donor.Unconfirmed(e.NS, e.DocID); is &&
		donor.Document(e.NS, e.DocID).Hash == e.Hash {
		o.early = append(o.early, copiedEarly{
			Undelivered: Undelivered{e.NS, e.Key, e.At},
			shard:       m.from, migration: e.For(), at: at,
		})
	}
}

// noteLost: the new leader of a donor has what was copied early, or a majority never will.
func (o *Oracle) noteLost(elected *trace.Event) {
	for i := range o.early {
		if c := &o.early[i]; c.shard == elected.Shard && c.at.Term < elected.Term {
			c.lost = !c.at.In(elected)
		}
	}
}
