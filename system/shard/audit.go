package shard

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/store"
)

// audit answers with everything that the final checks compare, in any state of the member.
func (s *Server) audit(_ env.Task, _ env.NodeID, req *command.Audit) (*command.AuditReply, error) {
	return s.Look(req.NS), nil
}

// Look is what the server would answer to an audit of the namespace. It changes nothing.
func (s *Server) Look(ns string) *command.AuditReply {
	m, data := s.cfg.Member, s.cfg.Member.Store()
	a := &command.AuditReply{
		Shard:          s.name,
		Node:           string(s.node.ID()),
		Writable:       m.IsPrimary(),
		Applied:        m.Applied(),
		Checksum:       data.Checksum(store.Latest),
		RangeDeletions: s.documents("config.rangeDeletions"),
		Coordinators:   s.documents("config.migrationCoordinators"),
		Recipients:     s.documents("config.migrationRecipients"),
		OpenCursors:    len(s.cursors.open),
		UUID:           s.uuid(ns),
		Indexes:        s.Indexes(ns),
	}
	data.ScanKey(ns, key.Everything, store.Latest, store.Place{},
		func(_ key.Key, _ string, doc bson.Raw) bool {
			a.Documents = append(a.Documents, doc)
			return true
		})
	if c := s.collections[ns]; c != nil {
		c.look(a)
	}
	for _, contribute := range s.audits {
		contribute(a)
	}
	return a
}

func (c *Collection) look(a *command.AuditReply) {
	if md := c.known; md != nil {
		a.Known, a.Version, a.Owned = true, md.Version(), md.owned
	}
	for _, h := range c.section.holds {
		a.CriticalSections = append(a.CriticalSections,
			h.Actor.String()+" "+h.ID+" "+h.phase.String())
	}
}

func (s *Server) documents(ns string) (docs []bson.Raw) {
	s.cfg.Member.Store().Scan(ns, store.Latest, func(_ string, doc bson.Raw) bool {
		docs = append(docs, doc)
		return true
	})
	return docs
}
