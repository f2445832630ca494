package shard

import (
	"bytes"
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// ParticipationsNS holds, for each namespace, the number of the newest operation on the whole
// collection that is over on this shard. It fences the messages of that operation and of earlier
// ones.
const ParticipationsNS = "config.ddlParticipations"

type participationDoc struct {
	NS       string `bson:"_id"`
	Released int64  `bson:"released"`
	// Formerly are the names that a collection of this name had before.
	Formerly []string `bson:"formerly,omitempty"`
	// KeyedAt is the index of the entry by which an unsharded collection of this name got its shard
	// key, if its documents have other keys since; on a shard that did not have it then, of the one
	// by which it was made here.
	KeyedAt uint64 `bson:"keyedAt,omitempty"`
}

// participate takes one step of an operation on a whole collection. The answer is given when a
// majority has it, and when a later primary is sure to read a catalog at least as new as the
// step.
func (s *Server) participate(
	t env.Task, _ env.NodeID, req *command.ShardsvrParticipate,
) (*command.Done, error) {
	note := env.Note{ID: req.Collection.NS + " " + string(req.Step)}
	if err := t.Point(failpoint.RequestDDLParticipant, note); err != nil {
		return nil, err
	}
	if site, meets := deletionSites[req.Step]; meets {
		if err := t.Point(site, env.Note{ID: req.Collection.NS}); err != nil {
			return nil, err
		}
	}
	lead, err := s.cfg.Member.Lead()
	if err != nil {
		return nil, err
	}
	if s.participation(req.Collection.NS).Released < req.Operation {
		if err := s.take(t, req); err != nil {
			return nil, err
		}
	}
	if err := t.Point(failpoint.RequestDDLApplied, note); err != nil {
		return nil, err
	}
	if err := lead.Err(); err != nil {
		return nil, err
	}
	return &command.Done{}, s.PersistConfigTime(t)
}

// deletionSites are the sites of steps that range deletion has to follow.
var deletionSites = map[command.ParticipantStep]failpoint.Site{
	command.ParticipantDrop:   failpoint.RangeDropped,
	command.ParticipantRename: failpoint.RangeRenamed,
}

func (s *Server) participation(ns string) (doc participationDoc) {
	raw := s.cfg.Member.Store().Get(ParticipationsNS, string(key.String(ns)), store.Latest)
	if raw != nil {
		s.decode(raw, &doc)
	}
	return doc
}

// Formerly lists names that the collection may have had before it had this one: what its clients
// did then is known by them.
func (s *Server) Formerly(ns string) []string { return s.participation(ns).Formerly }

// Rekeyed says whether the collection has had another key on this shard, or where it came from.
func (s *Server) Rekeyed(ns string) bool { return s.participation(ns).KeyedAt != 0 }

// KeepNames returns what has a collection that comes under that name, from another name or from
// another shard, be known by the names that it had; nothing when it is. What this shard has on
// record of a collection that was rekeyed elsewhere, and comes only now, is from when it had the
// database: the keys mean nothing any more.
func (s *Server) KeepNames(ns string, formerly []string, rekeyed bool) []oplog.Op {
	doc := s.participation(ns)
	all := slices.Concat(doc.Formerly, formerly)
	slices.Sort(all)
	all = slices.Compact(all)
	rekeyed = rekeyed && (doc.KeyedAt == 0 || s.uuid(ns) == "" || s.hasUnsharded(ns))
	if len(all) == len(doc.Formerly) && !rekeyed {
		return nil
	}
	doc.NS, doc.Formerly = ns, all
	if rekeyed {
		doc.KeyedAt = s.cfg.Member.Applied().Index + 1
	}
	return []oplog.Op{documentOp(oplog.Update, ParticipationsNS, ns, doc)}
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

// stepOf returns the operations that a step lacks. The incarnation counts: another one is left
// alone.
func (s *Server) stepOf(req *command.ShardsvrParticipate) ([]oplog.Op, error) {
	ns, here := req.Collection.NS, s.uuid(req.Collection.NS)
	same := here == req.Collection.UUID
	switch req.Step {
	case command.ParticipantBlock:
		if err := s.mayShard(req); err != nil {
			return nil, err
		}
		return s.block(req)
	case command.ParticipantCreate:
		return s.creation(req, here)
	case command.ParticipantClear:
		return s.clearing(ns), nil
	case command.ParticipantDrop:
		return s.dropping(ns, same), nil
	case command.ParticipantRename:
		return s.rename(req, here)
	case command.ParticipantCreateIndex:
		return s.when(same, oplog.Op{Kind: oplog.CreateIndex, NS: ns, ID: req.Index, Doc: req.Spec})
	case command.ParticipantDropIndex:
		return s.when(same, oplog.Op{Kind: oplog.DropIndex, NS: ns, ID: req.Index})
	case command.ParticipantRelease:
		return s.release(req), nil
	}
	return nil, errcode.New(errcode.BadValue, "unknown step %q of an operation on %s", req.Step, ns)
}

// dropping ends the collection here.
func (s *Server) dropping(ns string, here bool) []oplog.Op {
	ops := []oplog.Op{endOf(ns)}
	if here {
		ops = append(ops, oplog.Op{Kind: oplog.Drop, NS: ns, Actor: uint8(trace.System)})
	}
	return ops
}

// endOf is the note that a name is no longer that of a sharded collection. Every shard makes it,
// also one that had none of the collection: who reads the log of one shard alone, because the name
// is free or unsharded by then, must not take it for the whole history (protocol 12).
func endOf(ns string) oplog.Op {
	return oplog.Op{Kind: oplog.Noop, NS: ns, Doc: wasSharded, Actor: uint8(trace.System)}
}

// wasSharded is the text of that note.
var wasSharded = bson.Raw(bsoncore.NewDocumentBuilder().
	AppendString("type", "endShardedCollection").Build())

// WasSharded says whether an entry is in the log because a sharded collection gave the name up.
func WasSharded(ns string, e *oplog.Entry) bool {
	return slices.ContainsFunc(e.Ops, func(op oplog.Op) bool {
		return op.Kind == oplog.Noop && op.NS == ns && bytes.Equal(op.Doc, wasSharded)
	})
}

func (s *Server) when(needed bool, op oplog.Op) ([]oplog.Op, error) {
	if !needed {
		return nil, nil
	}
	op.Actor = uint8(trace.System)
	return []oplog.Op{op}, nil
}

// holderOf names the operation's hold on the critical section.
func holderOf(req *command.ShardsvrParticipate) string {
	return "operation " + cmp.Or(req.Founded, req.Collection.UUID) + " " +
		key.Int(req.Operation).String()
}

// block holds reads and writes of the namespaces back, in a way that survives failovers.
func (s *Server) block(req *command.ShardsvrParticipate) (ops []oplog.Op, err error) {
	holder := holderOf(req)
	for _, ns := range operationNamespaces(req) {
		if err := s.MayHold(ns, holder); err != nil {
			return nil, err
		}
		if _, held := s.recoverable(ns); !held {
			ops = append(ops, documentOp(oplog.Insert, SectionsNS, ns,
				sectionDoc{ns, holder, true, trace.System, req.Creates || ns == req.To}))
		}
	}
	return ops, nil
}

// Suspended reports whether, by what a majority has, an operation on the whole collection has
// everything else wait here: the name may stand for another collection already, or for none.
func (s *Server) Suspended(ns string) bool {
	var doc sectionDoc
	raw := s.cfg.Member.Store().Get(SectionsNS, string(key.String(ns)),
		s.cfg.Member.Committed().Index)
	return raw != nil && s.decode(raw, &doc) && doc.BlockReads
}

// Suspends reports whether an entry takes the critical section of a name, with which such an
// operation begins. Others take it, too: while one is Suspended, the newest such entry is its own.
func Suspends(ns string, e *oplog.Entry) bool {
	return slices.ContainsFunc(e.Ops, func(op oplog.Op) bool {
		return op.Kind == oplog.Insert && op.NS == SectionsNS && op.ID == string(key.String(ns))
	})
}

// rename gives the incarnation its new name in one entry with everything that refers to it by the
// old one (SERVER-60518), and with the old one itself: migrations may begin before the operation is
// released here, and hand over what clients did under that name.
func (s *Server) rename(req *command.ShardsvrParticipate, here string) (ops []oplog.Op, err error) {
	uuid, there := req.Collection.UUID, s.uuid(req.To)
	to := s.participation(req.To)
	to.NS, to.Formerly = req.To, s.inherited(req.Collection.NS, req.To)
	to.KeyedAt = s.participation(req.Collection.NS).KeyedAt
	ops = append(ops, documentOp(oplog.Update, ParticipationsNS, req.To, to),
		endOf(req.Collection.NS))
	stale := s.hasUnsharded(req.To) // the primary shard of the database has been asked before
	if there != "" && (there == req.Target || stale) {
		ops = append(ops, oplog.Op{Kind: oplog.Drop, NS: req.To, Actor: uint8(trace.System)})
	}
	switch {
	case here != uuid:
		return ops, nil
	case there != "" && there != req.Target && !stale:
		return nil, errcode.New(errcode.NamespaceExists,
			"%s has %s as %q and cannot rename %s to it", s.name, req.To, there, req.Collection.NS)
	}
	ops = append(ops, oplog.Op{
		Kind:  oplog.Rename,
		NS:    req.Collection.NS,
		ID:    req.To,
		Actor: uint8(trace.System),
	})
	for _, follow := range s.renames {
		ops = append(ops, follow(uuid, req.To)...)
	}
	return ops, nil
}

// FollowRenames adds to every entry that renames a collection the operations that follow returns:
// it gets the UUID and the new name.
func (s *Server) FollowRenames(follow func(uuid, to string) []oplog.Op) {
	s.renames = append(s.renames, follow)
}

// release ends the operation here: its holds are gone, and its messages have no effect any more.
func (s *Server) release(req *command.ShardsvrParticipate) (ops []oplog.Op) {
	for _, ns := range operationNamespaces(req) {
		doc := s.participation(ns)
		doc.NS, doc.Released = ns, req.Operation
		ops = append(ops, documentOp(oplog.Update, ParticipationsNS, ns, doc))
		if doc, held := s.recoverable(ns); held && doc.Reason == holderOf(req) {
			ops = append(ops, s.Unhold(ns))
		}
	}
	return ops
}

// inherited are the former names of a collection that is renamed; which of them another one of the
// same name had does not matter.
func (s *Server) inherited(from, to string) []string {
	all := slices.Concat(s.Formerly(to), s.Formerly(from), []string{from})
	slices.Sort(all)
	return slices.Compact(all)
}

// operationNamespaces are the namespaces that an operation is about.
func operationNamespaces(req *command.ShardsvrParticipate) []string {
	if req.To == "" {
		return []string{req.Collection.NS}
	}
	return []string{req.Collection.NS, req.To}
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

// followRelease has secondaries forget what they knew of a collection before an operation on it
// that is over: its version has risen, which only the primary knows.
func (s *Server) followRelease(op *oplog.Op, leading bool) {
	var doc participationDoc
	if !leading && op.Doc != nil && s.decode(op.Doc, &doc) {
		s.Collection(doc.NS).Clear()
	}
}

// created follows the beginning of an incarnation: that the namespace was free, and its database's,
// is true no more.
func (s *Server) created(op *oplog.Op) {
	c := s.collections[op.NS]
	if c != nil && c.known != nil && c.known.Table.Collection().Unsharded {
		c.Clear()
	}
}

// dropped follows the end of an incarnation, or of its name, on every member: what was known of it,
// and every query that reads it, is over. Nothing of all of its chunks stays in memory, for which
// there may never be another use.
func (s *Server) dropped(ns string) {
	c := s.Collection(ns)
	c.Clear()
	c.drops++
	c.cache, c.encoded = nil, nil
	c.receiving = slices.DeleteFunc(c.receiving, func(in incomingRange) bool { return in.arrived })
	s.cursors.killOf(ns)
}
