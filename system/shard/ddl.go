package shard

import (
	"github.com/shardproof/shardproof/histories/event"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/point"
	"github.com/shardproof/shardproof/system/status"
	"github.com/shardproof/shardproof/system/store"
)

// participationsNS holds, for each namespace, the number of the newest operation on the whole collection that is over on
// this shard. It fences the messages of that operation and of earlier ones.
const participationsNS = "config.ddlParticipations"

type participation struct {
	NS       string `bson:"_id"`
	Released int64  `bson:"released"`
}

// participate takes one step of an operation on a whole collection. The answer is given when a majority has it, and when a
// later primary is sure to read a catalogue at least as new as the step.
func (s *Server) participate(t env.Task, _ env.NodeID, req *command.ShardsvrParticipate) (*command.Done, error) {
	note := env.Note{ID: req.Collection.NS + " " + string(req.Step)}
	if err := t.Point(point.RequestDDLParticipant, note); err != nil {
		return nil, err
	}
	if err := s.needPrimary(); err != nil {
		return nil, err
	}
	if s.releasedUpTo(req.Collection.NS) < req.Operation {
		if err := s.take(t, req); err != nil {
			return nil, err
		}
	}
	if err := t.Point(point.RequestDDLApplied, note); err != nil {
		return nil, err
	}
	return &command.Done{}, s.PersistConfigTime(t)
}

func (s *Server) releasedUpTo(ns string) int64 {
	raw := s.cfg.Member.Store().Get(participationsNS, string(key.String(ns)), store.Latest)
	var doc participation
	if raw == nil || !s.decode(raw, &doc) {
		return 0
	}
	return doc.Released
}

// take writes what a step needs, at once.
func (s *Server) take(t env.Task, req *command.ShardsvrParticipate) error {
	ops, err := s.stepOf(req)
	if err == nil && len(ops) > 0 {
		_, err = s.cfg.Member.Write(t, ops...)
	}
	if err == nil && req.Step == command.ParticipantDrop {
		s.Collection(req.Collection.NS).Clear()
	}
	return err
}

// stepOf returns the operations that a step lacks. The incarnation counts: another one is left alone.
func (s *Server) stepOf(req *command.ShardsvrParticipate) ([]oplog.Op, error) {
	ns, here := req.Collection.NS, s.uuid(req.Collection.NS)
	same := here == req.Collection.UUID
	switch req.Step {
	case command.ParticipantBlock:
		return s.block(ns, holderOf(req))
	case command.ParticipantCreate:
		return s.creation(req, here)
	case command.ParticipantDrop:
		return s.when(same, oplog.Op{Kind: oplog.Drop, NS: ns})
	case command.ParticipantCreateIndex:
		return s.when(same, oplog.Op{Kind: oplog.CreateIndex, NS: ns, ID: req.Index, Doc: req.Spec})
	case command.ParticipantDropIndex:
		return s.when(same, oplog.Op{Kind: oplog.DropIndex, NS: ns, ID: req.Index})
	case command.ParticipantRelease:
		return s.release(req), nil
	}
	return nil, status.New(status.BadValue, "unknown step %q of an operation on %s", req.Step, ns)
}

func (s *Server) when(needed bool, op oplog.Op) ([]oplog.Op, error) {
	if !needed {
		return nil, nil
	}
	op.Actor = uint8(event.System)
	return []oplog.Op{op}, nil
}

// holderOf names the operation's hold on the critical section.
func holderOf(req *command.ShardsvrParticipate) string {
	return "operation " + req.Collection.UUID + " " + key.Int(req.Operation).String()
}

// block holds reads and writes back, in a way that survives failovers.
func (s *Server) block(ns, holder string) ([]oplog.Op, error) {
	doc, held := s.recoverable(ns)
	if held && doc.Reason != holder {
		return nil, status.New(status.ConflictingOperationInProgress, "the critical section of %s is held by %s, not %s", ns, doc.Reason, holder)
	}
	if held {
		return nil, nil
	}
	return []oplog.Op{documentOp(oplog.Insert, SectionsNS, ns, sectionDoc{NS: ns, Reason: holder, BlockReads: true, Actor: event.System})}, nil
}

func (s *Server) creation(req *command.ShardsvrParticipate, here string) ([]oplog.Op, error) {
	c := &req.Collection
	if here != "" && here != c.UUID {
		return nil, status.New(status.BadValue, "%s has %s as %q, not %q", s.name, c.NS, here, c.UUID)
	}
	return s.when(here == "", oplog.Op{Kind: oplog.Create, NS: c.NS, Doc: store.EncodeOptions(c.UUID, c.Key)})
}

// release ends the operation here: its hold is gone, and so is the power of its messages.
func (s *Server) release(req *command.ShardsvrParticipate) []oplog.Op {
	ns := req.Collection.NS
	ops := []oplog.Op{documentOp(oplog.Update, participationsNS, ns, participation{ns, req.Operation})}
	if doc, held := s.recoverable(ns); held && doc.Reason == holderOf(req) {
		ops = append(ops, oplog.Op{Kind: oplog.Delete, NS: SectionsNS, ID: string(key.String(ns)), Actor: uint8(event.System)})
	}
	return ops
}

// uuid is the incarnation of the collection whose data this shard has, empty without any.
func (s *Server) uuid(ns string) string {
	options, exists := s.cfg.Member.Store().Options(ns)
	if !exists {
		return ""
	}
	uuid, _, err := store.DecodeOptions(options)
	s.node.Assert(err == nil, "%s has %s with options that are none: %v", s.node.ID(), ns, err)
	return uuid
}

// Indexes lists the indexes of a collection besides that of its shard key.
func (s *Server) Indexes(ns string) (all []command.IndexSpec) {
	for _, i := range s.cfg.Member.Store().Indexes(ns) {
		all = append(all, command.IndexSpec{Name: i.Name, Doc: i.Doc})
	}
	return all
}

// created follows the beginning of an incarnation: that the namespace was free, and its database's, is true no more.
func (s *Server) created(op *oplog.Op) {
	if c := s.collections[op.NS]; c != nil && c.known != nil && c.known.Table.Collection().Unsharded {
		c.Clear()
	}
}

// dropped follows the end of an incarnation, on every member: what was known of it, and every query that reads it, is over.
func (s *Server) dropped(ns string) {
	c := s.Collection(ns)
	c.Clear()
	c.drops++
	s.cursors.killOf(ns)
}
