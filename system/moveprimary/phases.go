package moveprimary

import (
	"slices"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/statedoc"
)

// drive works on the move until its record is gone or the term ends; a failure of any kind only
// delays it.
func (m *primaryMove) drive() {
	termScope := m.s.member.TermScope()
	m.s.node.Spawn(termScope, "movePrimary "+m.record.Move, func(t env.Task) {
		if m.finish(t) == nil {
			m.end(m.err)
			return
		}
		m.s.node.After(m.s.retryBackoff(), func() {
			if termScope.Err() == nil {
				m.drive()
			}
		})
	})
}

// finish takes one phase after the other, as the record says. It acts on nothing that a failover
// could take back.
func (m *primaryMove) finish(t env.Task) error {
	if err := m.at(t, failpoint.MovePrimaryResume); err != nil {
		return err
	}
	if err := m.s.member.AwaitMajority(t); err != nil {
		return err
	}
	for {
		r, ok := m.s.records.Get(m.record.Move)
		if !ok {
			return nil
		}
		m.record = r
		if err := m.step(t); err != nil {
			return err
		}
	}
}

func (m *primaryMove) step(t env.Task) error {
	if m.record.Phase == Cloning {
		return m.giveUp(t)
	}
	m.err = nil // after any failure of its task the move goes on
	m.s.shard.AcceptWrites(m.record.Database, m.record.Move)
	switch m.record.Phase {
	case CatchUp:
		err := m.catchUp(t)
		if errcode.Is(err, errcode.ShardNotFound) {
			return m.undo(t)
		}
		return err
	case EnterCritSec:
		return m.advance(t, Commit)
	case Commit:
		return m.commit(t)
	case ExitCritSec:
		return m.leave(t)
	}
	return m.clean(t)
}

// giveUp undoes a copy that was not completed by the primary that began it: writes may have
// happened since.
func (m *primaryMove) giveUp(t env.Task) error {
	if m.err == nil {
		m.err = errcode.New(errcode.OperationFailed, "movePrimary %s was given up after a failover",
			m.record.Move)
	}
	m.s.shard.AcceptWrites(m.record.Database, m.record.Move)
	if err := m.at(t, failpoint.MovePrimaryCleanFailed); err != nil {
		return err
	}
	drop := &command.DropClonedData{
		Lsid:        m.record.Lsid,
		Txn:         m.record.Txn,
		Collections: m.record.collections(),
	}
	if err := m.tell(t, drop); err != nil && !errcode.Is(err, errcode.ShardNotFound) {
		return err
	}
	return m.forget(t, trace.PrimaryAborted)
}

// catchUp hands over the history of retryable writes; the documents are there already, as nothing
// was written since.
func (m *primaryMove) catchUp(t env.Task) error {
	if err := m.handOverSessions(t); err != nil {
		return err
	}
	if err := m.at(t, failpoint.MovePrimaryBlockReads); err != nil {
		return err
	}
	return m.advance(t, EnterCritSec, m.holds(true)...)
}

func (m *primaryMove) handOverSessions(t env.Task) error {
	var batch []oplog.Stmt
	most := m.s.settings.SessionsBatch
	for _, rec := range m.s.shard.Sessions() {
		batch = append(batch, m.history(rec)...)
		if most > 0 && len(batch) >= most {
			if err := m.handOver(t, batch); err != nil {
				return err
			}
			batch = nil
		}
	}
	return m.handOver(t, batch)
}

func (m *primaryMove) handOver(t env.Task, stmts []oplog.Stmt) error {
	if err := m.at(t, failpoint.MovePrimarySessions); err != nil || len(stmts) == 0 {
		return err
	}
	return m.tell(t, &command.ImportSessions{
		Move: m.record.Move, Lsid: m.record.Lsid, Txn: m.record.Txn, Stmts: stmts,
	})
}

// history returns the statements of a session that touched what moves, oldest first. History that
// is not complete begins with a dead end, so that the recipient refuses retries it cannot judge.
func (m *primaryMove) history(rec shard.SessionRecord) []oplog.Stmt {
	if rec.Last.Index == 0 {
		return nil
	}
	var chain []oplog.Stmt
	complete := m.s.shard.History(rec, func(st *oplog.Stmt, _ oplog.Time) bool {
		if m.moves(st.NS) && !st.DeadEnd {
			chain = append(chain, *st)
		}
		return true
	})
	if !complete {
		chain = append(chain,
			oplog.Stmt{Session: rec.ID, Txn: rec.Txn, NS: m.record.Database, DeadEnd: true})
	}
	slices.Reverse(chain)
	return chain
}

// moves reports whether statements on a namespace go with the database: those on the collections
// that move, whatever their names then were, and on what is no more, such as the drop of a
// collection, which would take another one if it was repeated on the new primary.
func (m *primaryMove) moves(ns string) bool {
	_, exists := m.s.member.Store().Options(ns)
	return !exists && catalog.DatabaseOf(ns) == m.record.Database ||
		slices.ContainsFunc(m.record.Collections, func(c collectionSpec) bool {
			return c.NS == ns || slices.Contains(c.Formerly, ns)
		})
}

// commit has the config server make the recipient the primary, and goes on only when the catalog
// says so. A refused commit was carried out by an earlier attempt: nobody else changes the version
// while the move is on record. A recipient that is no shard any more, or is about to be none,
// cannot have it.
func (m *primaryMove) commit(t env.Task) error {
	err := m.tellCommit(t, m.record.To)
	if errcode.Is(err, errcode.ShardNotFound) {
		err = m.tellCommit(t, m.record.From)
	}
	if err != nil && !errcode.Is(err, errcode.StaleDbVersion) {
		return err
	}
	if err := m.at(t, failpoint.MovePrimaryVerify); err != nil {
		return err
	}
	now, err := m.lookUp(t)
	if err != nil {
		return err
	}
	if v := now.Database.Version; v.UUID != m.record.UUID || int64(v.LastMod) <= m.record.LastMod {
		return errcode.New(errcode.OperationFailed, "database %s is at version %v still",
			m.record.Database, v)
	}
	if err := m.at(t, failpoint.MovePrimaryConfigTime); err != nil {
		return err
	}
	if err := m.s.shard.PersistConfigTime(t); err != nil {
		return err
	}
	if err := m.at(t, failpoint.MovePrimaryClear); err != nil {
		return err
	}
	m.s.shard.ClearUnsharded(m.record.Database)
	if now.Database.Primary == m.record.From {
		return m.undo(t)
	}
	return m.advance(t, ExitCritSec)
}

// tellCommit gives the database to a shard. Given to the one that has it, under a new version, no
// commit that is still in transit gets through: the move can be given up.
func (m *primaryMove) tellCommit(t env.Task, to string) error {
	return m.s.sendUntil(t, shard.ConfigSet, &command.CommitMovePrimary{
		Database: m.record.Database, Expected: m.record.version(), To: to, Move: m.record.Move,
	})
}

// undo lets requests pass again, here, and has the copy dropped as one that was never completed.
func (m *primaryMove) undo(t env.Task) error {
	m.s.node.Sometimes("a move of a primary is given up because its recipient leaves the cluster")
	m.err = errcode.New(errcode.ShardNotFound,
		"shard %s cannot be the primary of %s: it leaves the cluster",
		m.record.To, m.record.Database)
	return m.advance(t, Cloning, m.unholds()...)
}

// leave lets requests pass again: their answer is to ask the new primary.
func (m *primaryMove) leave(t env.Task) error {
	if err := m.at(t, failpoint.MovePrimaryUnblock); err != nil {
		return err
	}
	return m.advance(t, Cleaning, m.unholds()...)
}

// unholds are the operations that undo holds.
func (m *primaryMove) unholds() (ops []oplog.Op) {
	for _, ns := range m.held() {
		ops = append(ops, m.s.shard.Unhold(ns))
	}
	return ops
}

// clean fences the recipient, drops what was moved, and ends.
func (m *primaryMove) clean(t env.Task) error {
	if err := m.fence(t); err != nil {
		return err
	}
	if err := m.dropMoved(t); err != nil {
		return err
	}
	return m.forget(t, trace.PrimaryDone)
}

// fence has the recipient refuse what of this move is still in transit or stalls there: a session
// history that is recorded after the end would belong to no move. A recipient that is no shard any
// more needs no fence (H-38).
func (m *primaryMove) fence(t env.Task) error {
	if err := m.at(t, failpoint.MovePrimaryFence); err != nil {
		return err
	}
	err := m.tell(t, &command.AdvanceTxn{Lsid: m.record.Lsid, Txn: m.record.Txn + 1})
	if errcode.Is(err, errcode.ShardNotFound) {
		return nil
	}
	return err
}

// dropMoved drops the collections that have moved, each once no query needs it.
func (m *primaryMove) dropMoved(t env.Task) error {
	for _, c := range m.record.Collections {
		if err := m.at(t, failpoint.MovePrimaryClean); err != nil {
			return err
		}
		if err := m.s.shard.Collection(c.NS).AwaitQueries(t, key.Everything); err != nil {
			return err
		}
		if err := m.s.shard.Drop(t, c.NS, c.Options, m.record.Move); err != nil {
			return err
		}
	}
	return nil
}

// forget removes the record, and waits for the majority: brought back by a rollback it would drop
// what has returned since.
func (m *primaryMove) forget(t env.Task, how trace.PrimaryMovePhase) error {
	if err := m.at(t, failpoint.MovePrimaryForget); err != nil {
		return err
	}
	if err := statedoc.Commit(t, m.s.member, m.s.records.Remove(m.record.Move)); err != nil {
		return err
	}
	m.announce(how)
	return nil
}
