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
			told.Kind, told.Shard, told.Term, told.Index = trace.ClusterChanged, Name,
				s.member.Term(), index
			s.node.Emit(told)
		}
	}
}

func (s *Server) changeOf(op *oplog.Op) *trace.Event {
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

func (s *Server) shardChange(op *oplog.Op) *trace.Event {
	told := &trace.Event{Peer: nameOf(op.ID), Value: op.Tag}
	if op.Doc != nil {
		var doc Shard
		err := bson.Unmarshal(op.Doc, &doc)
		s.node.Assert(err == nil, "shard %v cannot be read: %v", op.Doc, err)
		told.ID = strings.Join(doc.Zones, ",")
	}
	return told
}

// zoneChange reads the bounds by any field name: the collection may not exist yet.
func (s *Server) zoneChange(op *oplog.Op) *trace.Event {
	if op.Doc == nil {
		ns, min, err := catalog.ParseZoneID(nameOf(op.ID))
		s.node.Assert(err == nil, "zone %q was removed: %v", op.ID, err)
		return &trace.Event{Value: trace.ZoneRange, NS: ns, Min: string(min)}
	}
	ns, _, zone, err := catalog.DecodeAnyZone(op.Doc)
	s.node.Assert(err == nil, "zone %v cannot be read: %v", op.Doc, err)
	return &trace.Event{
		Value: trace.ZoneRange,
		NS:    ns,
		Min:   string(zone.Min),
		Max:   string(zone.Max),
		ID:    zone.Name,
	}
}

// balancingChange reports a change, and a collection that keeps its settings under a new name.
func (s *Server) balancingChange(op *oplog.Op) *trace.Event {
	if op.Tag == trace.BalancingOn || op.Tag == trace.BalancingOff {
		return &trace.Event{Value: op.Tag, NS: nameOf(op.ID)}
	}
	if op.Doc == nil || !strings.HasPrefix(op.Tag, trace.RenamedFrom) {
		return nil
	}
	coll, err := catalog.DecodeCollection(op.Doc)
	s.node.Assert(err == nil, "collection %v cannot be read: %v", op.Doc, err)
	if !coll.NoBalance {
		return nil
	}
	return &trace.Event{Value: trace.BalancingOff, NS: coll.NS}
}
