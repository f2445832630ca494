// Package moveprimary moves the primary shard of a database, and with it the database's unsharded
// collections, to another shard (protocol 15, in the form of 7.0 and later, and in that of 4.2):
// the coordinator on the shard that gives the database away, and the recipient that copies it.
//
// Promise: while the collections are copied, writes to them are refused with
// errcode.MovePrimaryInProgress, so the copy is exact. The record of the move is durable before the
// recipient learns of it, and each phase before it is acted on; a new primary goes on where the old
// one was, except in the copying: that is given up, and what was copied is dropped. From the copy
// to the commit no write is let in, not even over a failover: the critical section is written in
// one entry with the phase. Only collections that were listed, with the options they then had,
// are dropped in the end (SERVER-69181). The history of retryable writes moves along, so that a
// write that is retried after the move is not executed twice; the real system does not do this
// (SERVER-32113).
//
// Refusal: a shard does not become a database's primary while it has work left from having been it
// before. Collections must not be made or dropped in a database while its primary moves; a version
// that offers that excludes it. None of these promises holds in the form of 4.2 (see
// runUncoordinated), which neither refuses writes nor survives a failover.
package moveprimary

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/statedoc"
)

// Commits counts what a shard of 4.2 has in progress of which its next primary could not know.
type Commits interface {
	// CountCommit returns when a majority knows that a move asks for its commit. From then until
	// what it returns is called, also after an error, the next primary asks the config server.
	CountCommit(t env.Task, move string) (uncount func(), err error)
}

// Service is one member's part in moves of primaries. Everything in memory belongs to one term.
type Service struct {
	node     env.Node
	shard    *shard.Server
	member   *replset.Member
	settings *settings.Settings
	records  *statedoc.Journal[Record]
	commits  Commits

	moves  map[string]*primaryMove // away from here, by database
	clones map[string]*copyTask    // by session and move
	count  int64                   // moves begun in this term
}

// New adds moves of primaries to a shard's server and serves their commands.
func New(sh *shard.Server, commits Commits) *Service {
	s := &Service{
		commits: commits,
		node:    sh.Node(), shard: sh, member: sh.Member(), settings: sh.Settings(),
		records: statedoc.New[Record](sh.Member(), Namespace, trace.Donor),
		moves:   make(map[string]*primaryMove), clones: make(map[string]*copyTask),
	}
	s.member.Watch(s)
	e := sh.Endpoint()
	rpc.Handle(e, s.movePrimary)
	rpc.Handle(e, s.clonePage)
	rpc.Handle(e, s.assertNoCollections)
	rpc.Handle(e, s.cloneCatalogData)
	rpc.Handle(e, s.importSessions)
	rpc.Handle(e, s.dropClonedData)
	sh.AddAudit(s.audit)
	sh.ExcludeSharding(s.mayShard)
	return s
}

// movePrimary begins a move, or joins an identical one, and waits for its end. Of one that may have
// been committed when the request came, the end says nothing: the database may have come back
// since.
func (s *Service) movePrimary(
	t env.Task, _ env.NodeID, req *command.ShardsvrMovePrimary,
) (*command.Done, error) {
	for {
		if err := s.member.NeedPrimary(); err != nil {
			return nil, err
		}
		m := s.moves[req.Database]
		switch {
		case m == nil:
			m = s.begin(req)
		case m.record.To != req.To:
			return nil, errcode.New(errcode.ConflictingOperationInProgress,
				"database %s moves to %s, not %s", req.Database, m.record.To, req.To)
		}
		late := m.record.committing()
		if err := m.ended.WaitFor(t, 0, func() bool { return m.over }); err != nil {
			return nil, err
		}
		if m.err != nil || !late {
			return &command.Done{}, m.err
		}
	}
}

// mayShard refuses to have a collection sharded while it moves with its database: the copy, or what
// is left here, would be taken for a part of it.
func (s *Service) mayShard(ns string) error {
	database := catalog.DatabaseOf(ns)
	moving := s.moves[database] != nil ||
		slices.ContainsFunc(s.records.All(), func(r Record) bool { return r.Database == database })
	if !moving {
		return nil
	}
	return errcode.New(errcode.ConflictingOperationInProgress,
		"collection %s cannot be sharded while the primary of %s moves", ns, database)
}

// A transaction number holds, from the lowest bit on, twice how many moves its primary has begun,
// the primary's term, and the version of the database.
const countBits, versionShift = 20, 44

func (s *Service) begin(req *command.ShardsvrMovePrimary) *primaryMove {
	s.count++
	// As for migrations, a move has two transaction numbers of a session: its own and the one that
	// fences it. The session is the database's, for the next donor's copies must outrank what is
	// left of this one's: see Record.expect.
	m := &primaryMove{s: s, uncount: func() {},
		record: Record{
			Move:     fmt.Sprintf("%s/%d/p%d", s.shard.Name(), s.member.Term(), s.count),
			Database: req.Database,
			From:     s.shard.Name(),
			To:       req.To,
			Lsid:     "moves of the primary of " + req.Database,
			Txn:      int64(s.member.Term())<<countBits + 2*s.count,
		}}
	s.moves[req.Database] = m
	run := m.run
	if !s.shard.Profile().CoordinatesMovePrimary() {
		run = m.runUncoordinated
	}
	s.node.Spawn(s.member.TermScope(), "movePrimary "+m.record.Move, run)
	return m
}

// askPrimary sends a message that may be repeated to the primary of a replica set.
func askPrimary[Resp any](
	t env.Task, s *Service, set string, req env.Message,
) (resp *Resp, err error) {
	return shard.Ask[Resp](t, s.shard, set, req, s.settings.CommandTimeout)
}

func (s *Service) sendUntil(t env.Task, set string, req env.Message) error {
	_, err := askPrimary[command.Done](t, s, set, req)
	return err
}

// StepUp takes over the moves that an earlier primary has left.
func (s *Service) StepUp(env.Task) error {
	for _, r := range s.records.All() {
		s.node.Sometimes("a move of a primary is resumed")
		m := &primaryMove{s: s, record: r}
		s.moves[r.Database] = m
		m.drive()
	}
	return nil
}

// StepDown forgets the term's moves. Their tasks end with its scope.
func (s *Service) StepDown() {
	ended := s.moves
	s.moves, s.clones, s.count = make(map[string]*primaryMove), make(map[string]*copyTask), 0
	for _, database := range sortedKeys(ended) {
		ended[database].end(errcode.New(errcode.PrimarySteppedDown, "%s is no longer primary of %s",
			s.node.ID(), s.shard.Name()))
	}
}

// Applied does not matter: only a primary takes part.
func (s *Service) Applied(uint64, *oplog.Entry, bool) {}

// RolledBack does not matter: a primary is not rolled back.
func (s *Service) RolledBack(uint64) {}

// Reset does not matter, for the same reason.
func (s *Service) Reset(uint64) {}

// Committed does not matter: steps wait for what they wrote themselves.
func (s *Service) Committed(uint64) {}

func (s *Service) audit(a *command.AuditReply) {
	for _, r := range s.records.All() {
		a.OutstandingTasks = append(a.OutstandingTasks,
			"movePrimary "+r.Move+" in phase "+string(r.Phase))
	}
	for _, database := range sortedKeys(s.moves) {
		if m := s.moves[database]; m.record.Phase == "" {
			a.OutstandingTasks = append(a.OutstandingTasks,
				"movePrimary "+m.record.Move+", which is not on record")
		}
	}
	for _, name := range sortedKeys(s.clones) {
		if c := s.clones[name]; !c.over {
			a.ActiveMigrations = append(a.ActiveMigrations, "the copy of "+c.move) // it may write still
		}
	}
}
