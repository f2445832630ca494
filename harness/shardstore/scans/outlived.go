package scans

import (
	"slices"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/oplog"
)

// reader is a query whose cursor is open on a member: what it reads, and up to which entry of the
// log its collection is known to have stayed what it was.
type reader struct {
	find  *command.Find
	upto  uint64
	began env.Time
}

// Outlived is the entry of the log by which a query of a collection that a member goes on to answer
// should have ended, as that was dropped, renamed or sharded there; 0 for none. What is read for a
// snapshot stays as it was, and an answer that waits for a proof of leadership may have been read
// before such an entry, so that neither is judged; nor is the first batch of a member that is not
// the primary: it may know the next collection of the name before it has made it.
func (s *Scans) Outlived(
	m Member, primary bool, x *env.Exchange, asked env.Message, b *command.Batch,
) (ns string, entry uint64) {
	r := reader{upto: x.Mark.Newest, began: x.Began}
	switch req := asked.(type) {
	case *command.Find:
		r.find = req
		if p := req.Place; primary && p.Versioned && !p.Database && p.Shard.Major > 0 {
			entry = endsFor(m, req.NS, r.upto)
		}
	case *command.GetMore:
		of, open := s.readers[req.Cursor]
		if !open {
			return "", 0
		}
		r = of
		entry = endOf(m, r.find.NS, r.upto)
		delete(s.readers, req.Cursor)
	default:
		return "", 0
	}
	undone, ever := s.undone[x.To]
	if ever && undone >= r.began || r.find.Concern == command.Snapshot ||
		r.find.Concern == command.Linearizable {
		return "", 0
	}
	if b.Cursor != "" {
		r.upto = m.Applied().Index
		s.readers[b.Cursor] = r
	}
	return r.find.NS, entry
}

// endOf is the first entry behind an index that ends what a name stands for, 0 for none, or when
// the log does not say.
func endOf(m Member, ns string, behind uint64) uint64 {
	for i := behind + 1; i <= m.Applied().Index; i++ {
		e, _, kept := m.Entry(i)
		if !kept {
			return 0
		}
		if slices.ContainsFunc(e.Ops, func(op oplog.Op) bool { return ends(&op, ns) }) {
			return i
		}
	}
	return 0
}

// endsFor is endOf if nothing has got the name since: a primary would not have let in a query with
// a version after that.
func endsFor(m Member, ns string, behind uint64) uint64 {
	if _, there := m.Store().Options(ns); there {
		return 0
	}
	return endOf(m, ns, behind)
}

func ends(op *oplog.Op, ns string) bool {
	switch op.Kind {
	case oplog.Drop, oplog.Shard:
		return op.NS == ns
	case oplog.Rename:
		return op.NS == ns || op.ID == ns
	}
	return false
}
