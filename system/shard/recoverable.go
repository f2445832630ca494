package shard

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// SectionsNS holds one document {_id: namespace, reason: migration, blockReads} for each
// recoverable critical section (protocol 2.2).
const SectionsNS = "config.collection_critical_sections"

// sectionDoc is held by a recipient unless Actor says who else.
type sectionDoc struct {
	NS         string      `bson:"_id"`
	Reason     string      `bson:"reason"`
	BlockReads bool        `bson:"blockReads"`
	Actor      trace.Actor `bson:"actor,omitempty"`
	// Creates is set when an operation holds it that makes a sharded collection of the name.
	Creates bool `bson:"creates,omitempty"`
}

func (d *sectionDoc) hold() sectionHold {
	h := sectionHold{Holder{trace.Recipient, d.Reason}, WritesBlocked, true}
	if d.Actor != trace.Nobody {
		h.Actor = d.Actor
	}
	if d.BlockReads {
		h.phase = AllBlocked
	}
	return h
}

// Hold returns the operation by which h blocks user writes to the namespace, and with reads also
// those, until the operation of Unhold. A protocol that keeps a record of its phases writes it in
// one entry with the phase, so that no failover finds one without the other. Nobody else may hold
// the namespace.
func (s *Server) Hold(ns string, h Holder, reads bool) oplog.Op {
	kind := oplog.Insert
	if doc, held := s.recoverable(ns); held {
		s.node.Assert(doc.hold().Holder == h, "the critical section of %s is held by %s, not %s",
			ns, doc.Reason, h.ID)
		kind = oplog.Update
	}
	return documentOp(kind, SectionsNS, ns,
		sectionDoc{NS: ns, Reason: h.ID, BlockReads: reads, Actor: h.Actor})
}

// MayHold is an errcode.ConflictingOperationInProgress while another one than who holds the
// namespace.
func (s *Server) MayHold(ns, who string) error {
	if doc, held := s.recoverable(ns); held && doc.Reason != who {
		return errcode.New(errcode.ConflictingOperationInProgress,
			"the critical section of %s is held by %s, not %s", ns, doc.Reason, who)
	}
	return nil
}

// Unhold returns the operation that undoes Hold.
func (s *Server) Unhold(ns string) oplog.Op {
	return oplog.Op{
		Kind:  oplog.Delete,
		NS:    SectionsNS,
		ID:    string(key.String(ns)),
		Actor: uint8(trace.System),
	}
}

// AcquireRecoverable blocks user writes to the namespace on behalf of a recipient's migration, in a
// way that survives failovers, and returns when a majority knows. It may be repeated by the same
// migration; another's hold is an errcode.ConflictingOperationInProgress. Other errors leave open
// whether the hold exists: only the majority's is promised.
func (s *Server) AcquireRecoverable(t env.Task, ns, migration string) error {
	if err := s.MayHold(ns, migration); err != nil {
		return err
	}
	if _, held := s.recoverable(ns); !held {
		op := documentOp(oplog.Insert, SectionsNS, ns, sectionDoc{NS: ns, Reason: migration})
		if _, err := s.cfg.Member.Write(t, op); err != nil {
			return err
		}
	}
	return s.cfg.Member.AwaitMajority(t)
}

// ReleaseRecoverable ends the migration's hold and returns when a majority knows. It may be
// repeated; the hold of another migration is left alone.
func (s *Server) ReleaseRecoverable(t env.Task, ns, migration string) error {
	if doc, held := s.recoverable(ns); held && doc.Reason == migration {
		if _, err := s.cfg.Member.Write(t, s.Unhold(ns)); err != nil {
			return err
		}
	}
	return s.cfg.Member.AwaitMajority(t)
}

func (s *Server) recoverable(ns string) (doc sectionDoc, held bool) {
	raw := s.cfg.Member.Store().Get(SectionsNS, string(key.String(ns)), store.Latest)
	return doc, raw != nil && s.decode(raw, &doc)
}

// followSections brings the recoverable holds in line with the documents, after any of these has
// changed, on every member: a new primary holds what the old one held.
func (s *Server) followSections() {
	want := map[string]sectionDoc{}
	s.cfg.Member.Store().Scan(SectionsNS, store.Latest, func(_ string, raw bson.Raw) bool {
		var doc sectionDoc
		if s.decode(raw, &doc) {
			want[doc.NS] = doc
			s.Collection(doc.NS)
		}
		return true
	})
	for _, c := range s.Collections() {
		doc, held := want[c.ns]
		c.followSection(doc, held)
	}
}

func (c *Collection) followSection(doc sectionDoc, held bool) {
	for _, h := range slices.Clone(c.section.holds) {
		// A rollback may leave the hold with less to block.
		stays := held && h.Holder == doc.hold().Holder && h.phase <= doc.hold().phase
		if h.recoverable && !stays {
			c.Leave(h.Holder)
			if h.Actor == trace.System || !c.server.cfg.Member.Leading() {
				// The range has arrived, or never will; or the namespace means another collection
				// now.
				c.Clear()
				c.server.ClearUnsharded(c.ns) // if it is a database, it may have gone
			}
		}
	}
	if held {
		c.section.enter(c, doc.hold())
	}
}

// documentOp is an operation that sets a document of the server's own, whose _id is the string id.
func documentOp(kind oplog.Kind, ns, id string, doc any) oplog.Op {
	raw, err := bson.Marshal(doc)
	if err != nil {
		panic(errcode.New(errcode.Internal, "%s %s: %T cannot be a document: %v", ns, id, doc, err))
	}
	return oplog.Op{
		Kind:  kind,
		NS:    ns,
		ID:    string(key.String(id)),
		Doc:   raw,
		Actor: uint8(trace.System),
	}
}

// decode reads a document of the server's own; a broken one stops the run.
func (s *Server) decode(raw bson.Raw, into any) bool {
	err := bson.Unmarshal(raw, into)
	s.node.Assert(err == nil, "%s holds a document that is no %T: %v: %v",
		s.node.ID(), into, raw, err)
	return err == nil
}
