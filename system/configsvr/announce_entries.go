package configsvr

import (
	"bytes"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/oplog"
)

// announceEntries reports to the oracles which fields an entry of the log has changed of documents
// that were in the catalog before. Chunks are announced as they are. It compares documents and
// knows no change by name, so that what a change should have left alone shows, too.
func (s *Server) announceEntries(index uint64, e *oplog.Entry) {
	for i := range e.Ops {
		op := &e.Ops[i]
		if op.Doc == nil || op.NS != Collections && op.NS != Shards && op.NS != Databases {
			continue
		}
		before := s.documentBefore(index, e, op)
		if before == nil {
			continue
		}
		if fields := changedFields(before, op.Doc); len(fields) > 0 {
			s.announceEntry(index, op, fields)
		}
	}
}

func (s *Server) announceEntry(index uint64, op *oplog.Op, fields []string) {
	told := trace.EntryChangedEvent{
		Shard: Name, Term: s.member.Term(), Index: index, Why: op.Tag, Fields: fields,
	}
	if name := nameOf(op.ID); op.NS == Shards {
		told.Peer = name
	} else {
		told.NS = name
	}
	s.node.Emit(told.Event())
}

// documentBefore is what the document was before the entry, nil when there was none. A collection
// is known by its UUID, for the entry that renames it removes it under its former name, and removes
// or replaces another one that had the new name.
func (s *Server) documentBefore(index uint64, e *oplog.Entry, op *oplog.Op) bson.Raw {
	old := func(id string) bson.Raw { return s.member.Store().Get(op.NS, id, index-1) }
	if op.NS != Collections {
		return old(op.ID)
	}
	for i := range e.Ops {
		if other := &e.Ops[i]; other.NS == op.NS {
			if doc := old(other.ID); doc != nil && sameField(doc, op.Doc, "uuid") {
				return doc
			}
		}
	}
	return nil
}

// changedFields are the fields that only one of the documents has, or that differ.
func changedFields(before, after bson.Raw) (names []string) {
	for _, doc := range []bson.Raw{before, after} {
		elements, _ := doc.Elements()
		for _, e := range elements {
			if name := e.Key(); !sameField(before, after, name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func sameField(a, b bson.Raw, name string) bool {
	x, y := a.Lookup(name), b.Lookup(name)
	return x.Type == y.Type && bytes.Equal(x.Value, y.Value)
}
