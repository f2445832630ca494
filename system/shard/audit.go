package shard

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/store"
)

// audit tells everything that the final checks compare, in any state of the member.
func (s *Server) audit(_ env.Task, _ env.NodeID, req *command.Audit) (*command.AuditReply, error) {
	m, data := s.cfg.Member, s.cfg.Member.Store()
	a := &command.AuditReply{
		Shard: s.name, Node: string(s.node.ID()), Writable: m.IsPrimary(), Applied: m.Applied(), Checksum: data.Checksum(store.Latest),
		RangeDeletions: s.documents("config.rangeDeletions"),
		Coordinators:   s.documents("config.migrationCoordinators"),
		Recipients:     s.documents("config.migrationRecipients"),
		OpenCursors:    len(s.cursors.open),
		UUID:           s.uuid(req.NS),
		Indexes:        s.Indexes(req.NS),
	}
	data.ScanKey(req.NS, key.Everything, store.Latest, store.Place{}, func(_ key.Key, _ string, doc bson.Raw) bool {
		a.Documents = append(a.Documents, doc)
		return true
	})
	c := s.Collection(req.NS)
	if md := c.known; md != nil {
		a.Known, a.Version, a.Owned = true, md.Version(), md.owned
	}
	for _, h := range c.section.holds {
		a.CriticalSections = append(a.CriticalSections, h.Actor.String()+" "+h.ID+" "+h.phase.String())
	}
	for _, contribute := range s.audits {
		contribute(a)
	}
	return a, nil
}

func (s *Server) documents(ns string) (docs []bson.Raw) {
	s.cfg.Member.Store().Scan(ns, store.Latest, func(_ string, doc bson.Raw) bool {
		docs = append(docs, doc)
		return true
	})
	return docs
}
