// Package replset is a member of a replica set: MongoDB's visible semantics of replication over
// go.etcd.io/raft.
//
// Promise: an entry is applied to the store at the moment it is appended, on every member, so that
// w:1 and local reads need no wait. It is majority-committed when raft commits it, and from then on
// no member ever forgets it. An entry that is not may be rolled back by the next primary; then the
// store, the log history and the watchers go back together. A term has at most one primary; its
// work lives in the scope of its term, which ends with errcode.PrimarySteppedDown. A deposed
// primary that does not know it yet still takes w:1 writes, as in reality, until it misses its
// quorum.
//
// Durable are: entries, term and vote before anything is acknowledged that rests on them, and
// snapshots. The commit index is written with the next record that must be, and learned again after
// a crash.
//
// Refusal: a changing membership, arbiters, hidden members, learners.
package replset

import (
	"math"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/store"
)

// Config describes a member. All fields but Reading are required.
type Config struct {
	// Name is the replica set's, for example "shard-a".
	Name string
	// Self is one of Members, which is the same list in the same order on every member forever.
	Self    env.NodeID
	Members []env.NodeID
	// Settings are read when they are used, but for the quotient of election timeout and heartbeat
	// interval, which is read once.
	Settings *settings.Settings
	Clock    *hlc.Clock
	// Reading is what entries say. Members of one process share it, for they get the very bytes
	// that their primary made; nil is allowed.
	Reading *document.Memo[[]byte, *oplog.Entry]
}

// Member is one incarnation of a member of a replica set.
//
// Invariant: between two calls from outside, raft's output was taken from it completely
// (readyLoop), the store holds exactly the entries of log, and log is exactly raft's.
type Member struct {
	cfg  Config
	node env.Node
	self uint64 // the member's number in raft: its place in Members, from 1

	raft        *raft.RawNode
	stable      stableLog
	voters      pb.ConfState
	dirty       bool // raft was stepped since the last Ready
	inReadyLoop bool
	// probing is set while answers to raft say that a follower's log may have a gap.
	probing bool
	// proposed is the entry being proposed by Write: it need not be decoded again.
	proposed *oplog.Entry

	store       *store.Store
	log         logHistory
	committed   oplog.Time
	committedTS hlc.Timestamp
	watchers    []Watcher
	waiting     []*waiter
	journal     journal

	term      uint64
	lead      uint64 // raft's number of the primary, 0: unknown
	leading   bool
	writable  bool
	led       uint64 // the term of the current or last term
	termScope *env.Scope
	election  electionClock
	beat      env.Timer
	counting  int // waiters that count members
	proofs    proofs

	said trace.Event
}

// Boot recovers the member from the node's disk and starts it. It takes the node's one-way messages
// for itself. Watch must be called before the task waits again.
func Boot(t env.Task, cfg Config) *Member {
	m := &Member{cfg: cfg, node: t.Node(), store: store.New()}
	for i, id := range cfg.Members {
		m.voters.Voters = append(m.voters.Voters, uint64(i)+1)
		if id == cfg.Self {
			m.self = uint64(i) + 1
		}
	}
	if m.self == 0 {
		m.fail("not among the members %v of replica set %s", cfg.Members, cfg.Name)
	}
	m.termScope = env.NewScope(nil)
	m.termScope.Cancel(errcode.New(errcode.NotWritablePrimary,
		"%s does not lead replica set %s yet",
		cfg.Self, cfg.Name))
	fresh := m.revive(t)
	m.proofs = newProofs(m.self, m.voters.Voters)
	m.raft = m.newRaft()
	m.node.Receive(m.receive)
	m.node.Spawn(nil, "journal", m.runJournal)
	m.startElections(fresh)
	return m
}

func (m *Member) newRaft() *raft.RawNode {
	n, err := raft.NewRawNode(&raft.Config{
		ID:                        m.self,
		ElectionTick:              int(m.electionTimeout() / m.tick()),
		HeartbeatTick:             1,
		Storage:                   m.stable,
		Applied:                   m.committed.Index,
		AsyncStorageWrites:        true,
		MaxSizePerMsg:             1 << 20,
		MaxCommittedSizePerReady:  math.MaxUint64,
		MaxInflightMsgs:           1, // what is logged until its answer follows as one append
		CheckQuorum:               true,
		PreVote:                   true,
		DisableProposalForwarding: true,
		Logger:                    raftLogger{m},
	})
	m.check(err)
	return n
}

// Name is the replica set's name.
func (m *Member) Name() string { return m.cfg.Name }

// IsPrimary reports whether the member leads and accepts user writes.
func (m *Member) IsPrimary() bool { return m.writable }

// Leading reports whether the member leads, perhaps not yet writable, perhaps already deposed
// without knowing it.
func (m *Member) Leading() bool { return m.leading }

// Term is the newest term the member knows.
func (m *Member) Term() uint64 { return m.term }

// PrimaryHint is the member believed to lead, empty when unknown.
func (m *Member) PrimaryHint() env.NodeID {
	if m.lead == 0 {
		return ""
	}
	return m.cfg.Members[m.lead-1]
}

// TermScope is the scope of the current leadership, cancelled with errcode.PrimarySteppedDown when
// it ends; of a member that does not lead, a scope that has ended.
func (m *Member) TermScope() *env.Scope { return m.termScope }

// Store holds the member's data. Only the member writes to it.
func (m *Member) Store() *store.Store { return m.store }

// Applied is the last entry of the log, which is applied.
func (m *Member) Applied() oplog.Time { return m.log.last() }

// Committed is the last entry known to be held durably by a majority.
func (m *Member) Committed() oplog.Time { return m.committed }

// CommittedTS is the timestamp of the last committed entry that has one.
func (m *Member) CommittedTS() hlc.Timestamp { return m.committedTS }

// AppliedTS is the timestamp of the last entry of the log that has one.
func (m *Member) AppliedTS() hlc.Timestamp { return m.log.stamp(m.log.last().Index) }

// IndexAt is the index of the state at a cluster time up to which everything is committed here (see
// AwaitTS). Status.SnapshotTooOld means that the store does not hold that state any more; it may do
// so later in a query's life, so a reader asks again after each wait.
func (m *Member) IndexAt(ts hlc.Timestamp) (uint64, error) {
	index, known := m.log.upTo(ts)
	if !known || index < m.store.Oldest() {
		return 0, errcode.New(errcode.SnapshotTooOld, "%s does not hold the state at %s any more",
			m.cfg.Self, ts)
	}
	return index, nil
}

// Since calls fn for every committed entry with a timestamp after ts, in order, until fn returns
// false. It is false, and fn is not called, when the log does not reach back so far any more.
func (m *Member) Since(ts hlc.Timestamp, fn func(e *oplog.Entry) bool) bool {
	index, complete := m.log.after(ts)
	for ; complete && index <= m.committed.Index; index++ {
		if l, _ := m.log.at(index); l.entry.TS > ts && !fn(l.entry) {
			break
		}
	}
	return complete
}

// Entry returns an entry of the log and its term; it is false for one that is compacted away or
// does not exist. Entries by which a leader began its term have no operations and no timestamp.
func (m *Member) Entry(index uint64) (e *oplog.Entry, term uint64, ok bool) {
	l, ok := m.log.at(index)
	return l.entry, l.term, ok
}

// ReadAt is the index at which the store answers reads of a concern. A linearizable read is a local
// one that Confirm must follow. After a wait the store may not know the index any more: a reader
// asks for it again.
func (m *Member) ReadAt(rc command.ReadConcern) uint64 {
	if rc == command.MajorityRead || rc == command.Snapshot {
		return m.committed.Index
	}
	return store.Latest
}

func (m *Member) emit(e *trace.Event) {
	m.said = *e
	m.said.Shard = m.cfg.Name
	m.node.Emit(&m.said)
}
