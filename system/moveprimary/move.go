package moveprimary

import (
	"cmp"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/statedoc"
	"github.com/shardproof/shardproof/system/store"
)

// primaryMove is a move away from this shard. Until the copy is complete it is the work of one
// task; afterwards, and whenever that task fails, it is driven by its record alone, by this primary
// and its successors alike.
type primaryMove struct {
	s      *Service
	record Record
	// serving is set while the recipient may fetch documents.
	serving bool
	// uncount is what in 4.2 has to follow the commit.
	uncount func()
	over    bool
	err     error
	ended   env.Cond
}

// run takes the move to the end of its copying, or fails in it.
func (m *primaryMove) run(t env.Task) {
	err := m.prepare(t)
	if err == nil && len(m.record.Phase) > 0 {
		err = m.clone(t)
	}
	m.serving = false
	if m.over { // with its term
		return
	}
	if _, recorded := m.s.records.Get(m.record.Move); recorded {
		m.err = err
		m.drive()
		return
	}
	m.s.shard.AcceptWrites(m.record.Database, m.record.Move)
	m.end(err)
}

// end wakes the tasks that wait.
func (m *primaryMove) end(err error) {
	if m.s.moves[m.record.Database] == m {
		delete(m.s.moves, m.record.Database)
	}
	m.over, m.err = true, err
	m.ended.Broadcast()
}

// at announces a site, and fails as well when the term has ended together with the wait there.
func (m *primaryMove) at(t env.Task, site failpoint.Site) error {
	return cmp.Or(t.Point(site, env.Note{Peer: m.record.To, ID: m.record.Move}), t.Err())
}

func (m *primaryMove) tell(t env.Task, req env.Message) error {
	return m.s.sendUntil(t, m.record.To, req)
}

// find reads where the database is and what of it has to move; false when it is where it should be.
func (m *primaryMove) find(t env.Task) (here bool, err error) {
	if err := m.at(t, failpoint.MovePrimaryStart); err != nil {
		return false, err
	}
	if err := m.awaitSharded(t); err != nil {
		return false, err
	}
	// What an earlier move has left undone is no longer undone for good.
	if err := m.s.member.AwaitMajority(t); err != nil {
		return false, err
	}
	now, err := m.lookUp(t)
	if err != nil || now.Database.Primary == m.record.To {
		return false, err
	}
	if now.Database.Primary != m.s.shard.Name() {
		return false, errcode.New(errcode.StaleDbVersion, "the primary of %s is %s, not %s",
			m.record.Database, now.Database.Primary, m.s.shard.Name())
	}
	if err := m.s.shard.MayReceive(t, m.record.To); err != nil {
		return false, err
	}
	if slices.ContainsFunc(now.Sharded, m.unsharded) {
		// It was dropped since then, and made again. In 4.2 it may also be what a move has left
		// behind: then the catalog says the same once more.
		if now, err = m.lookUp(t); err != nil {
			return false, err
		}
	}
	m.record.expect(now.Database.Version)
	m.record.Collections = m.list(now.Sharded)
	return true, nil
}

// awaitSharded waits until no collection of the database is being sharded: an operation that begins
// later is refused while the move is in progress.
func (m *primaryMove) awaitSharded(t env.Task) error {
	for m.s.shard.BeingSharded(m.record.Database) != "" {
		if err := t.Sleep(m.s.retryBackoff()); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) retryBackoff() time.Duration { return settings.Pause(s.settings.RetryBackoff) }

// prepare finds out what has to move and makes the record of it durable. A database that is where
// it should be needs no record.
func (m *primaryMove) prepare(t env.Task) error {
	here, err := m.find(t)
	if err != nil || !here {
		return err
	}
	m.s.shard.RefuseWrites(m.record.Database, m.record.Move)
	if err := m.at(t, failpoint.MovePrimaryAssert); err != nil {
		return err
	}
	if err := m.tell(t, &command.AssertNoCollections{
		Database:   m.record.Database,
		Namespaces: m.record.namespaces(),
	}); err != nil {
		return err
	}
	if err := m.at(t, failpoint.MovePrimaryPersist); err != nil {
		return err
	}
	return m.advance(t, Cloning)
}

// lookUp reads the database at or after everything this node has learned of.
func (m *primaryMove) lookUp(t env.Task) (*command.DatabaseReply, error) {
	req := &command.GetDatabase{Name: m.record.Database, After: m.s.shard.Clock().Now().Config}
	return rpc.CallAny[command.DatabaseReply](t, m.s.shard.Set(shard.ConfigSet), req,
		m.s.settings.CommandTimeout)
}

// list returns the collections of the database that are not sharded.
func (m *primaryMove) list(sharded []string) (all []collectionSpec) {
	data := m.s.member.Store()
	for _, ns := range data.Collections(store.Latest) {
		if catalog.DatabaseOf(ns) != m.record.Database || slices.Contains(sharded, ns) ||
			!m.unsharded(ns) {
			continue
		}
		options, _ := data.Options(ns)
		all = append(all, collectionSpec{
			NS: ns, Options: options, Indexes: m.s.shard.Indexes(ns),
			Formerly: m.s.shard.Formerly(ns),
		})
	}
	return all
}

// unsharded reports whether there is an unsharded collection of that name here. The catalog may not
// list a sharded one that is being made or dropped.
func (m *primaryMove) unsharded(ns string) bool {
	pattern, exists := m.s.member.Store().Pattern(ns, store.Latest)
	return exists && pattern.Unsharded
}

// clone has the recipient copy the collections. The critical section begins in one entry with the
// next phase: no write is let in between.
func (m *primaryMove) clone(t env.Task) error {
	if err := m.copyAll(t); err != nil {
		return err
	}
	if err := m.at(t, failpoint.MovePrimaryBlockWrites); err != nil {
		return err
	}
	if err := m.mayHold(); err != nil {
		return err
	}
	if err := m.advance(t, CatchUp, m.holds(false)...); err != nil {
		return err
	}
	m.s.shard.AcceptWrites(m.record.Database, m.record.Move)
	return nil
}

// copyAll has the recipient copy the collections, and compares what it has copied with what there
// is to copy.
func (m *primaryMove) copyAll(t env.Task) error {
	if err := m.at(t, failpoint.MovePrimaryClone); err != nil {
		return err
	}
	m.serving = true
	copied, err := m.askForCopy(t)
	if err != nil {
		return err
	}
	if err := m.at(t, failpoint.MovePrimaryChecked); err != nil {
		return err
	}
	if want := m.record.namespaces(); !slices.Equal(copied.Namespaces, want) {
		return errcode.New(errcode.OperationFailed, "%s has copied %v, not %v",
			m.record.To, copied.Namespaces, want)
	}
	return nil
}

func (m *primaryMove) askForCopy(t env.Task) (*command.ClonedCatalogData, error) {
	return askPrimary[command.ClonedCatalogData](t, m.s, m.record.To, &command.CloneCatalogData{
		Move:        m.record.Move,
		Database:    m.record.Database,
		From:        m.record.From,
		Lsid:        m.record.Lsid,
		Txn:         m.record.Txn,
		Collections: m.record.collections(),
	})
}

// held are the namespaces whose critical sections the move holds: every collection that moves, and
// the database for what is no collection yet. The next primary may have made it while this one is
// still asked for it.
func (m *primaryMove) held() []string {
	return append([]string{m.record.Database}, m.record.namespaces()...)
}

// mayHold fails while an operation on a whole collection holds one of the names: it may have come
// to its end on the shard that had the database before, and not here.
func (m *primaryMove) mayHold() error {
	for _, ns := range m.held() {
		if err := m.s.shard.MayHold(ns, m.record.Move); err != nil {
			return err
		}
	}
	return nil
}

// holds are the operations by which the critical section blocks requests.
func (m *primaryMove) holds(reads bool) (ops []oplog.Op) {
	for _, ns := range m.held() {
		ops = append(ops, m.s.shard.Hold(ns, m.holder(), reads))
	}
	return ops
}

// advance makes the next phase durable, in one entry with what belongs to it.
func (m *primaryMove) advance(t env.Task, next Phase, with ...oplog.Op) error {
	r := m.record
	r.Phase = next
	at, err := m.s.member.Write(t, append(with, m.s.records.Put(r.Move, r))...)
	if err != nil {
		return err
	}
	m.record = r
	m.announce(next.entered())
	return statedoc.AwaitMajority(t, m.s.member, at)
}

// announce reports how far the move has come.
func (m *primaryMove) announce(phase trace.PrimaryMovePhase) {
	r := &m.record
	m.s.node.Emit(trace.PrimaryMovingEvent{
		Shard:     r.From,
		Peer:      r.To,
		NS:        r.Database,
		Migration: r.Move,
		Phase:     phase,
	}.Event())
}

// clonePage serves the recipient. Nothing changes in the collection while the move is in this
// phase, but in 4.2.
func (s *Service) clonePage(
	t env.Task, _ env.NodeID, req *command.ClonePage,
) (*command.Page, error) {
	if err := s.member.NeedPrimary(); err != nil {
		return nil, err
	}
	for _, database := range sortedKeys(s.moves) {
		if m := s.moves[database]; m.record.Move == req.Move && m.serving {
			return m.page(req), nil
		}
	}
	return nil, errcode.New(errcode.StaleSession, "%s does not hand out documents for %s",
		s.node.ID(), req.Move)
}
