package configsvr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
)

// Replace writes chunks in one entry. The table is what the change was computed from, under the
// lock that is still held.
func (s *Server) Replace(
	t env.Task, table *catalog.Table, changed []catalog.Chunk, why string,
) error {
	if err := t.Err(); err != nil {
		return err
	}
	coll := table.Collection()
	now, err := s.catalog.latest(coll.NS)
	s.node.Assert(err == nil && now.Version() == table.Version(),
		"the chunks of %s changed from %v under the lock: %v",
		coll.NS, table.Version(), err)
	ops, err := chunkOpsOf(coll, changed, why)
	if err != nil {
		return err
	}
	_, err = s.member.Write(t, append(deleteSwallowed(table, changed), ops...)...)
	return err
}

// deleteSwallowed are the operations that remove the chunks which begin inside a new one.
func deleteSwallowed(table *catalog.Table, changed []catalog.Chunk) (ops []oplog.Op) {
	uuid := table.Collection().UUID
	for _, c := range changed {
		for old := range table.Overlapping(c.Range) {
			if old.Min > c.Min {
				id := string(key.String(catalog.ChunkID(uuid, old.Min)))
				ops = append(ops, oplog.Op{
					Kind:  oplog.Delete,
					NS:    Chunks,
					ID:    id,
					Actor: uint8(trace.System),
				})
			}
		}
	}
	return ops
}

// chunkOpsOf are the operations that write chunks.
func chunkOpsOf(coll catalog.Collection, chunks []catalog.Chunk, why string) ([]oplog.Op, error) {
	ops := make([]oplog.Op, len(chunks))
	for i, c := range chunks {
		doc, err := catalog.EncodeChunk(coll, c)
		if err != nil {
			return nil, err
		}
		ops[i] = putOp(Chunks, catalog.ChunkID(coll.UUID, c.Min), doc, why)
	}
	return ops, nil
}

func putOp(ns, id string, doc bson.Raw, why string) oplog.Op {
	return oplog.Op{
		Kind:  oplog.Update,
		NS:    ns,
		ID:    string(key.String(id)),
		Doc:   doc,
		Actor: uint8(trace.System),
		Tag:   why,
	}
}

// ensureChunkVersionIsGreaterThan fences the commit of a migration whose donor is dead (protocol
// 9.2 step 1). MongoDB looks for a chunk with exactly the bounds asked for; as a moveRange may take
// a part of a chunk only, and a late commit of it must be refused too, here the chunk that contains
// the range counts. A range that is not inside one chunk needs nothing: every change of the bounds
// gave newer versions.
func (s *Server) ensureChunkVersionIsGreaterThan(
	t env.Task, _ env.NodeID, req *command.EnsureChunkVersionIsGreaterThan,
) (*command.Done, error) {
	note := env.Note{ID: req.NS}
	err := s.InTerm(t, "ensureChunkVersion "+req.NS, func(own env.Task) error {
		if err := own.Point(failpoint.ConfigEnsureVersionBefore, note); err != nil {
			return err
		}
		if err := s.Locked(own, func() error { return s.raise(own, req) }); err != nil {
			return err
		}
		if err := own.Point(failpoint.ConfigEnsureVersionAfter, note); err != nil {
			return err
		}
		return s.Majority(own)
	})
	return &command.Done{}, err
}

func (s *Server) raise(t env.Task, req *command.EnsureChunkVersionIsGreaterThan) error {
	table, err := s.catalog.latest(req.NS)
	if errcode.Is(err, errcode.NamespaceNotFound) ||
		err == nil && table.Collection().UUID != req.UUID {
		return nil
	}
	if err != nil {
		return err
	}
	chunk := table.Owner(req.Min)
	if !chunk.ContainsRange(key.Range{Min: req.Min, Max: req.Max}) {
		return nil
	}
	changed, err := catalog.EnsureNewer(table, chunk.Range, req.Version)
	if err != nil || len(changed) == 0 {
		return err
	}
	return s.Replace(t, table, changed, "ensureNewer")
}
