package configsvr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
)

// leaveCatalog removes the collection and all its chunks.
func (s *Server) leaveCatalog(t env.Task, op *ddlOperation) error {
	return s.under(t, op, failpoint.ConfigDDLCatalog,
		func(table *catalog.Table) ([]oplog.Op, error) {
			return s.removal(table), nil
		})
}

// removal takes a collection with all its chunks and zones out of the catalog.
func (s *Server) removal(table *catalog.Table) []oplog.Op {
	coll := table.Collection()
	ops := []oplog.Op{deleteOp(Collections, coll.NS)}
	for c := range table.Chunks() {
		ops = append(ops, deleteOp(Chunks, catalog.ChunkID(coll.UUID, c.Min)))
	}
	return append(ops, s.leaveZones(coll.NS)...)
}

// leaveZones takes the ranges of zones from a name, which it may have without being sharded.
func (s *Server) leaveZones(ns string) (ops []oplog.Op) {
	s.scan(Tags, func(doc bson.Raw) error {
		of, _, z, err := catalog.DecodeAnyZone(doc)
		if of == ns {
			ops = append(ops, RemoveZone(ns, z.Min))
		}
		return err
	})
	return ops
}

// renameInCatalog has the collection leave the catalog and enter it again under the new name,
// as another incarnation with the same UUID, in one entry; with the collection that had the name it
// is the same entry, too. Migrations stay forbidden: a donor that has not renamed its data would
// find nothing to move.
func (s *Server) renameInCatalog(t env.Task, op *ddlOperation) error {
	return s.under(t, op, failpoint.ConfigDDLCatalog,
		func(table *catalog.Table) ([]oplog.Op, error) {
			ops := s.removal(table)
			target, err := s.sharded(op.To)
			switch {
			case err == nil:
				ops = append(ops, s.removal(target)...)
			case errcode.Is(err, errcode.NamespaceNotFound):
				ops = append(ops, s.leaveZones(op.To)...)
			default:
				return nil, err
			}
			entry, err := s.renamed(table, op)
			return append(ops, entry...), err
		})
}

// renamed are the collection's documents under its new name, those of its zones too. The new
// incarnation begins now, not with the operation: ranges may have moved since, and snapshots from
// before it would show nothing.
func (s *Server) renamed(table *catalog.Table, op *ddlOperation) ([]oplog.Op, error) {
	coll, now := table.Collection(), s.ep.Clock().Tick()
	coll.NS, coll.Epoch, coll.Timestamp, coll.AllowMigrations = op.To, epochOf(now), now, false
	doc, err := catalog.EncodeCollection(coll)
	if err != nil {
		return nil, err
	}
	why := trace.RenamedFrom.Of(op.NS)
	ops, err := chunkOpsOf(coll, catalog.Rename(table, coll), why)
	if err != nil {
		return nil, err
	}
	for _, z := range s.Zones(op.NS, coll.Key) {
		zone, err := PutZone(coll.NS, coll.Key, z)
		if err != nil {
			return nil, err
		}
		ops = append(ops, zone)
	}
	return append([]oplog.Op{putOp(Collections, coll.NS, doc, why)}, ops...), nil
}

func deleteOp(ns, id string) oplog.Op {
	return oplog.Op{
		Kind:  oplog.Delete,
		NS:    ns,
		ID:    string(key.String(id)),
		Actor: uint8(trace.System),
		Tag:   trace.Dropped.String(),
	}
}
