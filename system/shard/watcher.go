package shard

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
)

// logWatcher ties the server to its member's log.
type logWatcher struct{ *Server }

// Applied announces the leader's writes to sharded collections and follows the recoverable critical
// sections.
func (s logWatcher) Applied(index uint64, e *oplog.Entry, leading bool) {
	if !leading {
		s.learnPlacements(e)
	}
	for i := range e.Ops {
		op := &e.Ops[i]
		switch op.NS {
		case SectionsNS:
			s.followSections()
		case ParticipationsNS:
			s.followRelease(op, leading)
		}
		switch op.Kind {
		case oplog.Create:
			s.created(op)
		case oplog.Drop, oplog.Shard:
			s.dropped(op.NS)
		case oplog.Rename:
			s.dropped(op.NS)
			s.dropped(op.ID)
		}
		if leading {
			s.announce(index, op)
			if op.Stmt != nil {
				s.drivers.used(op.Stmt.Session, s.node.Mono())
			}
		}
	}
}

// RolledBack puts the critical sections back to what the documents say now. What was known rested
// on the entries undone.
func (s logWatcher) RolledBack(uint64) {
	s.clearAll()
	s.followSections()
}

// Reset does the same after an initial sync, which takes the past from queries.
func (s logWatcher) Reset(uint64) {
	s.dropTermState()
	s.resume()
}

// Committed is of no interest: readers ask the member.
func (s logWatcher) Committed(uint64) {}

// StepUp prepares a term: nothing is known of any placement, and everything that an earlier primary
// has done is majority-committed before the first user's read or write, so that no majority read
// goes back behind it.
func (s logWatcher) StepUp(t env.Task) error {
	s.dropTermState()
	s.resume()
	s.drivers.recall(s.Sessions(), s.node.Mono())
	for _, c := range s.Collections() {
		c.section.announceHeld(c)
	}
	return s.cfg.Member.AwaitMajority(t)
}

// StepDown drops what belonged to the term.
func (s logWatcher) StepDown() { s.dropTermState() }

func (s *Server) dropTermState() {
	s.stateEpoch++
	s.undecided = false
	s.cursors.killAll()
	clear(s.moving)
	s.drivers.recall(nil, 0)
	for _, c := range s.Collections() {
		c.stepDown()
	}
}

// resume builds from the store what memory has to hold.
func (s *Server) resume() {
	s.followSections()
	s.resumeConfigTime()
}

func (s *Server) announce(index uint64, op *oplog.Op) {
	if op.Stmt != nil {
		s.announceStatement(index, op)
	}
	switch op.Kind {
	case oplog.Drop:
		s.announceDrop(index, op)
	case oplog.Rename:
		s.announceRename(index, op)
	case oplog.Shard:
		s.announceShard(index, op)
	}
	if op.Kind != oplog.Insert && op.Kind != oplog.Update && op.Kind != oplog.Delete {
		return
	}
	k, sharded := s.shardKey(index, op)
	if !sharded {
		return
	}
	s.node.Emit(s.applied(index, op, op.NS, k, op.ID, op.Doc))
}

func (s *Server) announceStatement(index uint64, op *oplog.Op) {
	st := op.Stmt
	e := trace.ExecutedEvent{
		Shard:     s.name,
		Term:      s.cfg.Member.Term(),
		Index:     index,
		NS:        st.NS,
		Key:       st.Key,
		Actor:     trace.Actor(op.Actor),
		Session:   st.Session,
		Txn:       st.Txn,
		Statement: int(st.ID),
	}
	if e.Actor == trace.Session {
		e.Migration = op.Tag
	}
	if st.DeadEnd {
		e.Statement = -1
	}
	s.node.Emit(e.Event())
}

// shardKey is that of the document after the operation, or for a deletion of the one before it.
func (s *Server) shardKey(index uint64, op *oplog.Op) (key.Key, bool) {
	data, doc := s.cfg.Member.Store(), op.Doc
	if op.Kind == oplog.Delete && index > data.Oldest() {
		doc = data.Get(op.NS, op.ID, index-1)
	}
	if doc == nil {
		return "", false
	}
	return data.KeyOf(op.NS, doc)
}

// fingerprint is the 64-bit FNV-1a hash of a document, 0 for none.
func fingerprint(doc bson.Raw) uint64 {
	if doc == nil {
		return 0
	}
	h := uint64(14695981039346656037)
	for _, b := range doc {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return max(h, 1)
}
