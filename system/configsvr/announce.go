package configsvr

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/oplog"
)

// announceChanges reports to the oracles what an entry says about shards, zones, and how the
// balancer is to treat a collection.
func (s *Server) announceChanges(index uint64, e *oplog.Entry) {
	for i := range e.Ops {
		if told := s.changeOf(&e.Ops[i]); told != nil {
			told.Shard, told.Term, told.Index = Name, s.member.Term(), index
			s.node.Emit(told.Event())
		}
	}
}

func (s *Server) changeOf(op *oplog.Op) *trace.ClusterChangedEvent {
	switch op.NS {
	case Shards:
		return s.shardChange(op)
	case Tags:
		return s.zoneChange(op)
	case Collections:
		return s.balancingChange(op)
	}
	return nil
}

func (s *Server) shardChange(op *oplog.Op) *trace.ClusterChangedEvent {
	change, known := trace.ParseClusterChange(op.Tag)
	s.node.Assert(known, "shard %q is written for %q", op.ID, op.Tag)
	told := &trace.ClusterChangedEvent{Peer: nameOf(op.ID), Change: change}
	if op.Doc != nil {
		var doc Shard
		err := bson.Unmarshal(op.Doc, &doc)
		s.node.Assert(err == nil, "shard %v cannot be read: %v", op.Doc, err)
		told.Zones, told.MaxBytes = strings.Join(doc.Zones, ","), doc.MaxBytes
	}
	return told
}

// zoneChange reads the bounds by any field name: the collection may not exist yet.
func (s *Server) zoneChange(op *oplog.Op) *trace.ClusterChangedEvent {
	if op.Doc == nil {
		ns, min, err := catalog.ParseZoneID(nameOf(op.ID))
		s.node.Assert(err == nil, "zone %q was removed: %v", op.ID, err)
		return &trace.ClusterChangedEvent{Change: trace.ZoneRange, NS: ns, Min: string(min)}
	}
	ns, _, zone, err := catalog.DecodeAnyZone(op.Doc)
	s.node.Assert(err == nil, "zone %v cannot be read: %v", op.Doc, err)
	return &trace.ClusterChangedEvent{
		Change: trace.ZoneRange,
		NS:     ns,
		Min:    string(zone.Min),
		Max:    string(zone.Max),
		Zones:  zone.Name,
	}
}

// balancingChange reports a change, and a collection that keeps its settings under a new name.
func (s *Server) balancingChange(op *oplog.Op) *trace.ClusterChangedEvent {
	change, _ := trace.ParseClusterChange(op.Tag)
	if change == trace.BalancingOn || change == trace.BalancingOff {
		return &trace.ClusterChangedEvent{Change: change, NS: nameOf(op.ID)}
	}
	if c, _ := trace.ParseCatalogChange(op.Tag); op.Doc == nil || c != trace.RenamedFrom {
		return nil
	}
	coll, err := catalog.DecodeCollection(op.Doc)
	s.node.Assert(err == nil, "collection %v cannot be read: %v", op.Doc, err)
	if !coll.NoBalance {
		return nil
	}
	return &trace.ClusterChangedEvent{Change: trace.BalancingOff, NS: coll.NS}
}
