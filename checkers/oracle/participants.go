package oracle

import (
	"slices"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
)

// stopping are the kinds of faults with which a step of a migration may fail although its node
// remains the primary: also a primary that was asked to hand over, and has found nobody, refuses
// writes for a while.
var stopping = []string{
	"kill-operation", "error", "stepdown", "stale-request", "stale-task", "lost-outcome",
}

// move is what is known of one migration.
type move struct {
	id, ns, min, max string
	from, to         string
	// request is the name under which it was asked for.
	request string
	// began is the step at which its donor knew the collection, life that at which this was made,
	// identity the one under which the donor had it.
	began, life uint64
	identity    string
	// cloning is the step at which its donor began to clone, 0 before, by the node which does; done
	// is set when that is no longer at work on it.
	cloning uint64
	by      string
	done    bool
	// nameless says that there was no collection of that name then, or that it was about to give
	// way to another one, so that migrations of it were forbidden: this one is about the collection
	// that its donor finds when it begins to clone, with the placement (protocol 5).
	nameless bool
	// asked is the step at which the donor asked the config server to commit, and in which term.
	asked, askedIn uint64
	// blocked is the step at which the donor blocked writes, 0 before, term the donor's then; donor
	// the documents of the range at that moment.
	blocked uint64
	term    uint64
	donor   map[string]model.Doc
	// received is how many documents of the range the recipient had when it had all that it was sent.
	received int
	// miscounted is by how many documents the donor's count of orphans is too high since it was
	// taken over by a later primary.
	miscounted int
	// history is what the donor had on record of retryable writes when it blocked writes, cutOff
	// which of it was incomplete when it began to clone, by a note or as its log did not reach back.
	history, cutOff model.History
	// commit is the newest entry of the config server that commits it; committed is the step at
	// which a majority had it, and confirmed when that was; decided what the donor persisted, and
	// when. A decision to abort that a primary has told of after it was deposed is in denied: it may
	// have persisted that before.
	commit    *trace.Event
	committed uint64
	confirmed int64
	decided   trace.Decision
	decision  uint64
	denied    bool
	// arrived is set when the recipient has everything that it was sent. reported is set when the
	// donor has told how it ended, swept when it has begun to delete what it gave away, ended is
	// the step at which it completed the migration. The shards in promised have recorded a task for
	// it that waits for the decision, those in cleaned have removed theirs.
	arrived, reported bool
	swept             bool
	// returned is the step at which the donor's newest request to commit returned, answered or not,
	// and returnedIn the donor's term.
	returned, returnedIn uint64
	// sure says that the config server acknowledged a write of the donor after that request
	// returned and before the donor left its critical section.
	sure bool
	// gaveUp is the step at which a donor of 4.2 that had asked for the commit treated it as failed.
	gaveUp uint64
	// aborted says that a donor's primary has ended it without a commit, and let writes pass again.
	aborted           bool
	ended             uint64
	promised, cleaned []string
	// completed says that the donor which began it has also completed it after the commit.
	completed bool
	// told is the node that was answered that the migration is committed, if any was.
	told string
}

// aborts says that a primary of the donor has decided to abort.
func (m *move) aborts() bool {
	return m.decided == trace.Aborted || m.decided == 0 && m.denied
}

func (o *Oracle) move(id string) *move {
	m := o.moves[id]
	if m == nil {
		m = &move{id: id}
		o.moves[id] = m
	}
	return m
}

// isCommitted says whether a majority of the config server has the commit.
func (o *Oracle) isCommitted(id string) bool {
	m := o.moves[id]
	return m != nil && m.committed != 0
}

// node is what one node holds in memory.
type node struct {
	sections []held
	receives []reception
	cursors  []cursor
}

type held struct {
	ns, id string
	step   uint64
}

type reception struct {
	id, ns, min, max string
	state            trace.RecipientState
}

// cursor is an open cursor with the ranges it may see.
type cursor struct {
	id, ns string
	step   uint64
	owned  []trace.Chunk
}

func (o *Oracle) node(name string) *node {
	n := o.nodes[name]
	if n == nil {
		n = &node{}
		o.nodes[name] = n
	}
	return n
}

// follow keeps up with what nodes and migrations are about.
func (o *Oracle) follow(e *trace.Event) {
	switch e.Kind {
	case trace.NodeDown, trace.NodeUp:
		delete(o.nodes, e.Node)
		o.down[e.Node] = e.Kind == trace.NodeDown
	case trace.SteppedDown:
		n := o.node(e.Node)
		n.sections, n.receives = nil, nil
	case trace.MigrationRequested, trace.DonorAdvanced:
		o.followDonor(e)
	case trace.PrimaryMoving:
		if o.primaries[e.Migration()] == nil {
			o.primaries[e.Migration()] = &primaryMove{
				database: e.NS, from: e.Shard, began: e.Step,
			}
		}
		o.noteCopying(e)
	case trace.CatalogWritten:
		o.noteUnfenced(e)
		o.followLives(e)
	case trace.Executed:
		o.noteExecution(e)
	case trace.Applied:
		o.noteCopied(e)
		o.noteBesideCopy(e)
		o.noteRemains(e)
		o.followStrays(e)
	case trace.Elected:
		o.elections[e.Shard], o.elected[e.Node] = e.Step, e.Step
		o.noteLost(e)
	case trace.MigrationEnded:
		m := o.move(e.Migration())
		m.reported, m.aborted = true, m.aborted || e.Decision() == trace.Aborted
		// Without a decision on record, as in 4.2, nobody was fenced.
		if m.decided != 0 && o.world.Set(e.Shard).Leader == e.Node {
			m.ended = e.Step
		}
	case trace.Fault:
		if slices.Contains(stopping, e.FaultKind()) {
			o.killed = e.Step
		}
	case trace.PointHit:
		if e.StepFailed() {
			o.killed = e.Step
		}
	case trace.RangeDeletion:
		if m := o.move(e.Migration()); m.from == e.Shard {
			m.swept = true
		}
		if o.world.Set(e.Shard).Leader == e.Node {
			o.followTask(e)
		}
	case trace.CriticalSection:
		o.noteUnread(e)
		o.followSection(e)
	case trace.CallEnded, trace.MetadataInstalled, trace.MetadataCleared:
		o.lookUp(e)
	case trace.RecipientAdvanced:
		o.followReception(e)
	case trace.CursorOpened:
		o.openCursor(e)
	case trace.CursorClosed:
		o.closeCursor(e)
	}
}

// followDonor keeps up with what a donor has been asked for, and how far it is.
func (o *Oracle) followDonor(e *trace.Event) {
	m := o.move(e.Migration())
	m.ns, m.min, m.max, m.from, m.to = e.NS, e.Min, e.Max, e.Shard, e.Peer
	if m.began == 0 && e.Kind == trace.DonorAdvanced {
		m.began, m.life, m.identity = e.Step, o.lives[e.NS], o.identity(e.Node, e.NS)
		m.nameless = o.world.Latest(e.NS) == nil || o.forbids[e.NS]
	}
	if e.Kind == trace.DonorAdvanced && e.DonorState() == trace.DonorCloning {
		o.beginCloning(m, e)
	}
	if e.Kind == trace.MigrationRequested {
		m.request = e.Request()
	} else {
		m.done = m.done || e.DonorState().Terminal()
	}
	o.askCommit(e)
}

func (o *Oracle) closeCursor(e *trace.Event) {
	n := o.node(e.Node)
	n.cursors = slices.DeleteFunc(n.cursors, func(c cursor) bool { return c.id == e.Cursor() })
}

// CutOff says how the oracle gets to know the sessions of which a member's log does not reach back
// to the first statement, with their transactions.
func (o *Oracle) CutOff(of func(node string) map[string]uint64) { o.cutOff = of }

// beginCloning: the donor has the placement of the collection that it gives a range of.
func (o *Oracle) beginCloning(m *move, e *trace.Event) {
	if m.cloning == 0 {
		m.cloning, m.by, m.cutOff = e.Step, e.Node, o.world.Set(m.from).History().CutOff()
		if o.cutOff != nil {
			m.cutOff.Note(o.cutOff(e.Node))
		}
	}
	if m.nameless {
		m.nameless, m.life, m.identity = false, o.lives[e.NS], o.identity(e.Node, e.NS)
	}
}

func (o *Oracle) followReception(e *trace.Event) {
	if m := o.moves[e.Migration()]; m != nil {
		switch e.RecipientState() {
		case trace.RecipientEnteredCritSec:
			m.received = len(o.world.Set(e.Shard).Documents(e.NS, e.Min, e.Max))
		case trace.RecipientDone:
			m.arrived = true
		}
	}
	o.node(e.Node).receive(reception{e.Migration(), e.NS, e.Min, e.Max, e.RecipientState()})
}

// followTask keeps up with tasks on record. Deletions that are only in a primary's memory, as in
// 4.2, are begun as often as somebody asks. One that no donor has asked for, but an operator, is
// about the collection that its primary has when it begins.
func (o *Oracle) followTask(e *trace.Event) {
	m := o.move(e.Migration())
	if m.from == "" && m.life == 0 {
		m.life, m.identity = o.lives[e.NS], o.identity(e.Node, e.NS)
	}
	switch {
	case e.Orphans() < 0:
	case e.DeletionState() == trace.DeletionPending:
		m.promised = append(m.promised, e.Shard)
	case e.DeletionState().Terminal():
		m.cleaned = append(m.cleaned, e.Shard)
	}
}

func (n *node) receive(r reception) {
	n.receives = slices.DeleteFunc(n.receives, func(old reception) bool { return old.id == r.id })
	n.receives = append(n.receives, r)
}

// leftSince says whether the recipient has left the cluster since a migration began. A shard of 4.2
// whose new primary knows of no migration may leave; who adds it again drops what it had received,
// and the donor's late commit gives the range to it all the same (H-21).
func (o *Oracle) leftSince(m *move) bool { return o.older() && o.left[m.to] > m.began }

// historyOf is the session history that the donor of a move has of what moves, or that it had when
// it blocked writes. A note that a history is incomplete, on record when the clone begins, moves
// with every range: nobody knows where the missing part wrote (protocol 7). One that a movePrimary
// brings later is about that database's unsharded collections.
func (o *Oracle) historyOf(id, ns string, r model.Move) model.History {
	donor := o.world.Set(r.From)
	m, had := o.move(id), donor.History()
	if m.blocked != 0 {
		had = m.history
	}
	moves := had.In(ns, r.Min, r.Max, func(st string, txn uint64) bool {
		return o.executedIn(o.lives[ns], st, txn)
	}, func(st string, txn uint64) bool {
		return o.primaries[id] == nil && o.adopted(donor.Leader, ns, st, txn)
	})
	if o.primaries[id] == nil {
		moves.Add(m.cutOff, had)
	}
	return moves
}

// remain is a document that a movePrimary of 4.2 has copied to a shard.
type remain struct{ move, shard, ns, id, key string }

// noteRemains notes what movePrimaries copy: what one that fails has copied stays (protocol 15).
func (o *Oracle) noteRemains(e *trace.Event) {
	if e.Actor == trace.Recipient && o.older() && o.primaries[e.For()] != nil &&
		o.world.Set(e.Shard).Leads(e) {
		o.remains = append(o.remains, remain{e.For(), e.Shard, e.NS, e.DocID, e.Key})
	}
}

// noteResurrected looks, when the commit of a movePrimary is written, for what earlier ones have
// left on the new primary shard in collections that have been dropped or renamed since: nobody has
// looked at those.
func (o *Oracle) noteResurrected(e *trace.Event, p *primaryMove) {
	donor, recipient := o.world.Set(p.from), o.world.Set(e.Chunks[0].Shard)
	for _, r := range o.remains {
		if r.shard == recipient.Name && r.move != e.Migration() && databaseOf(r.ns) == p.database &&
			!o.world.Sharded(r.ns) && recipient.Document(r.ns, r.id) != (model.Doc{}) &&
			donor.Document(r.ns, r.id) == (model.Doc{}) {
			o.leaveBehind(e.Migration(), r.ns, r.key, e.Step, e.At)
		}
	}
}

// stray is a write that a deposed primary has and its successor has not, made before the election
// or since, and what the successor had then. While the deposed one does not know of it and the
// successor has not fenced it, it may move a range with what it has, also with what no majority of
// its shard will ever have.
type stray struct{ wrote, successor model.Doc }

func strayID(shard, ns, id string) string { return shard + "\x00" + ns + "\x00" + id }

func (o *Oracle) followStrays(e *trace.Event) {
	set := o.world.Set(e.Shard)
	if e.Actor == trace.User && e.Term < set.Term && set.Leader != "" && set.Leader != e.Node {
		wrote := model.Doc{Key: e.Key, Hash: e.Hash}
		if e.Hash == 0 { // it has deleted the document
			wrote = model.Doc{}
		}
		o.strays[strayID(e.Shard, e.NS, e.DocID)] = stray{wrote, set.Document(e.NS, e.DocID)}
	}
}

// noteLostWrites: what an election has undone, the deposed primary still has.
func (o *Oracle) noteLostWrites(elected *trace.Event) {
	for _, w := range o.world.Set(elected.Shard).Lost() {
		o.strays[strayID(elected.Shard, w.NS, w.ID)] = stray{w.Wrote, w.Found}
	}
}
