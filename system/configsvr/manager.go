package configsvr

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/statedoc"
)

// Migrations holds the migrations of 4.2 that the config server has asked for and whose end it does
// not know (config.migrations, protocol 2.1).
const Migrations = "config.migrations"

// migrationDoc is a document of config.migrations. Its identity makes it unique for a collection
// and a lower bound.
type migrationDoc struct {
	ID         string               `bson:"_id"`
	NS         string               `bson:"ns"`
	Min        []byte               `bson:"min"`
	Max        []byte               `bson:"max"`
	From       string               `bson:"fromShard"`
	To         string               `bson:"toShard"`
	Version    string               `bson:"chunkVersion"`
	WaitDelete bool                 `bson:"waitForDelete"`
	ForceJumbo command.ForceJumbo   `bson:"forceJumbo"`
	Throttle   command.WriteConcern `bson:"secondaryThrottle"`
	Name       string               `bson:"name"`
	Balancer   bool                 `bson:"balancer,omitempty"`
	ChunkBytes int64                `bson:"maxChunkSizeBytes,omitempty"`
}

func migrationOf(req *command.MoveRange, c catalog.Chunk) migrationDoc {
	return migrationDoc{
		ID:         req.NS + "-min_" + c.Min.String(),
		NS:         req.NS,
		Min:        []byte(c.Min),
		Max:        []byte(c.Max),
		From:       c.Shard,
		To:         req.To,
		Version:    c.Version.String(),
		WaitDelete: req.WaitDelete,
		ForceJumbo: req.ForceJumbo,
		Throttle:   req.Throttle,
		Name:       req.Name,
		Balancer:   req.Balancer,
		ChunkBytes: req.ChunkBytes,
	}
}

func (d *migrationDoc) chunk() key.Range {
	return key.Range{Min: key.Key(d.Min), Max: key.Key(d.Max)}
}

// request is what the donor was asked for, so that a request which is sent again is identical and
// joins it.
func (d *migrationDoc) request() *command.MoveRange {
	return &command.MoveRange{
		NS:         d.NS,
		Min:        key.Key(d.Min),
		Max:        key.Key(d.Max),
		To:         d.To,
		WaitDelete: d.WaitDelete,
		ForceJumbo: d.ForceJumbo,
		Throttle:   d.Throttle,
		Name:       d.Name,
		Balancer:   d.Balancer,
		ChunkBytes: d.ChunkBytes,
	}
}

// same reports whether a request for d is answered by other's migration.
func (d *migrationDoc) same(other *migrationDoc) bool {
	return d.chunk() == other.chunk() && d.From == other.From && d.To == other.To &&
		d.WaitDelete == other.WaitDelete &&
		d.ForceJumbo == other.ForceJumbo && d.Throttle == other.Throttle
}

// migrationManager carries the migrations of 4.2 out: one term's (protocol 4 steps 1 and 13, 9.5).
// Later versions do without, as the requester of a migration repeats its request.
type migrationManager struct {
	s       *Server
	docs    *statedoc.Journal[migrationDoc]
	locks   *distLocks
	running map[string]*runningMigration
	// whole are the locks that operations on whole collections hold, also while they pause after a
	// failure.
	whole map[string]*distLock
	// inherited are the locks of the migrations of earlier terms, by migration, as this term found
	// them. When a migration is taken over, another operation may have the name locked.
	inherited map[string]*distLock
	// recovering is true until the migrations of earlier terms are taken over; nobody begins one
	// before.
	recovering bool
	recovered  env.Cond
}

// Receiving is the range and the collection of a migration to the shard that the config server of
// 4.2 has on record; "" when there is none. A recipient of 4.2 is done before the commit, so that
// the shard itself cannot tell that one is to come.
func (s *Server) Receiving(shard string) string {
	if s.manager == nil {
		return ""
	}
	for _, d := range s.manager.docs.All() {
		if d.To == shard {
			return fmt.Sprintf("%s of %s", d.chunk(), d.NS)
		}
	}
	return ""
}

// runningMigration is a migration in this term.
type runningMigration struct {
	doc   migrationDoc
	lock  *distLock
	over  bool
	err   error
	ended env.Cond
}

func newManager(s *Server) *migrationManager {
	return &migrationManager{
		s:         s,
		docs:      statedoc.New[migrationDoc](s.member, Migrations, trace.System),
		locks:     newDistLocks(s),
		running:   make(map[string]*runningMigration),
		whole:     make(map[string]*distLock),
		inherited: make(map[string]*distLock),
	}
}

func (m *migrationManager) awaitRecovered(t env.Task) error {
	return m.recovered.WaitFor(t, 0, func() bool { return !m.recovering })
}

// recoveredManager is the manager of the task's term, once it has taken over the migrations of
// earlier ones. The term may have ended together with the task's last wait, or before the task has
// begun: then there is no manager, or that of another term.
func (s *Server) recoveredManager(t env.Task) (*migrationManager, error) {
	if err := t.Err(); err != nil {
		return nil, err
	}
	m := s.manager
	return m, m.awaitRecovered(t)
}

// AwaitMigrations waits until the migrations of earlier terms are taken over, and those that run
// now have ended (4.2).
func (s *Server) AwaitMigrations(t env.Task) error {
	m, err := s.recoveredManager(t)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(m.running)) {
		r := m.running[id]
		if r == nil {
			continue
		}
		if err := r.ended.WaitFor(t, 0, func() bool { return r.over }); err != nil {
			return err
		}
	}
	return nil
}

// moveChunk has a whole chunk moved, or joins the migration that does, and waits for its end.
func (m *migrationManager) moveChunk(t env.Task, req *command.MoveRange, c catalog.Chunk) error {
	doc := migrationOf(req, c)
	r := m.running[doc.ID]
	switch {
	case r == nil:
		r = m.begin(doc, nil)
	case !r.doc.same(&doc):
		return conflictError("chunk %v of %s is moved to %s already",
			r.doc.chunk(), r.doc.NS, r.doc.To)
	}
	if err := r.ended.WaitFor(t, 0, func() bool { return r.over }); err != nil {
		return err
	}
	return r.err
}

// begin carries a migration out; it has the lock already when it is one that was taken over.
func (m *migrationManager) begin(doc migrationDoc, lock *distLock) *runningMigration {
	r := &runningMigration{doc: doc, lock: lock}
	m.running[doc.ID] = r
	m.s.node.Spawn(m.s.member.TermScope(), "migration "+doc.ID, func(t env.Task) {
		r.err = m.carryOut(t, r)
		m.conclude(t, r)
		delete(m.running, doc.ID)
		r.over = true
		r.ended.Broadcast()
	})
	return r
}

// carryOut is step 1 of protocol 4, and asks the catalog for the outcome.
func (m *migrationManager) carryOut(t env.Task, r *runningMigration) (err error) {
	d := &r.doc
	if r.lock == nil {
		if err := t.Point(
			failpoint.ConfigMigrationsInsert, env.Note{Peer: d.From, ID: d.ID},
		); err != nil {
			return err
		}
		if err := statedoc.Commit(t, m.s.member, m.docs.Put(d.ID, *d)); err != nil {
			return err
		}
		if r.lock, err = m.locks.acquire(t, d.NS, migrationLockReason(d.NS), 0); err != nil {
			return err
		}
	}
	return m.s.movePiece(t, d.request(), d.chunk(), d.From, m.s.moveEnds())
}

// migrationLockReason is why a collection is locked, the same for all its migrations.
func migrationLockReason(ns string) string { return "migrate chunks of " + ns }

// conclude is the end of step 13: nothing is left of the migration. When the term is over, the next
// primary goes on with it.
func (m *migrationManager) conclude(t env.Task, r *runningMigration) {
	if _, kept := m.docs.Get(r.doc.ID); kept && t.Err() == nil {
		_ = m.s.retryUntil(t, m.docs.Remove(r.doc.ID))
	}
	if r.lock != nil && t.Err() == nil {
		m.locks.release(t, r.lock)
	}
}

// lockPatience is how long an operation on a whole collection waits for migrations to end before it
// begins again.
const lockPatience = 20 * time.Second

// whileLocked runs an operation on a whole collection that has its names to itself. It keeps the
// locks until it has succeeded, which may take several tries. Two operations lock their names in
// the same order.
func (m *migrationManager) whileLocked(t env.Task, op *ddlOperation, run func() error) error {
	for _, ns := range op.names() {
		if m.whole[ns] != nil {
			continue
		}
		lock, err := m.locks.acquire(t, ns, op.reason(), lockPatience)
		if err != nil {
			return err
		}
		m.whole[ns] = lock
	}
	if err := run(); err != nil {
		return err
	}
	for _, ns := range op.names() {
		lock := m.whole[ns]
		delete(m.whole, ns)
		m.locks.release(t, lock)
	}
	return nil
}

// reason is why a collection is locked for the operation.
func (op *ddlOperation) reason() string { return string(op.Kind) + " " + op.NS }

// takeOver makes the locks of unfinished migrations and operations this term's, and releases all
// others, before any request can ask for one (protocol 9.5). A migration that had its document and
// not yet the lock, as an operation had it, has none.
func (m *migrationManager) takeOver(t env.Task) error {
	var ops []oplog.Op
	for _, op := range m.s.ddl.records.All() {
		for _, ns := range op.names() {
			if l, locked := m.locks.docs.Get(ns); locked && l.Why == op.reason() {
				m.whole[ns] = m.locks.hold(ns, l.Why)
			}
		}
	}
	for _, d := range m.docs.All() {
		if m.whole[d.NS] == nil {
			m.inherited[d.ID] = m.locks.hold(d.NS, migrationLockReason(d.NS))
		}
	}
	for _, ns := range slices.Sorted(maps.Keys(m.locks.held)) {
		ops = append(ops, m.locks.keep(m.locks.held[ns]))
		m.locks.held[ns].kept = true
	}
	for _, l := range m.locks.docs.All() {
		if m.locks.held[l.Name] == nil {
			ops = append(ops, m.locks.docs.Remove(l.Name))
		}
	}
	if len(ops) > 0 {
		if _, err := m.s.member.Write(t, ops...); err != nil {
			return err
		}
	}
	m.recovering = true
	m.s.node.Spawn(m.s.member.TermScope(), "recover migrations", m.recover)
	return nil
}

// recover takes over every migration of earlier terms, and retries until it has.
func (m *migrationManager) recover(t env.Task) {
	for m.resume(t) != nil {
		if t.Sleep(m.s.settings.HeartbeatInterval) != nil {
			return
		}
	}
	m.recovering = false
	m.recovered.Broadcast()
}

// resume asks each donor again, which joins the migration that it may still run, or begins it
// again. A document that does not fit the catalog any more belongs to a migration that has
// committed, or cannot.
func (m *migrationManager) resume(t env.Task) error {
	if err := m.s.member.AwaitMajority(t); err != nil {
		return err
	}
	for _, d := range m.docs.All() {
		if m.running[d.ID] != nil {
			continue
		}
		if err := t.Point(
			failpoint.ConfigRecoverMigrations, env.Note{Peer: d.From, ID: d.ID},
		); err != nil {
			return err
		}
		lock := m.inherited[d.ID]
		switch c, err := m.s.owner(d.NS, key.Key(d.Min)); {
		case err != nil && !errcode.Is(err, errcode.NamespaceNotFound):
			return err
		case err == nil && lock != nil && c.Range == d.chunk() && c.Shard == d.From:
			m.s.node.Sometimes("a new config primary takes over a migration")
			m.begin(d, lock)
		default:
			m.s.node.Sometimes("a new config primary drops a migration that has ended")
			m.conclude(t, &runningMigration{doc: d, lock: lock})
		}
	}
	return nil
}
