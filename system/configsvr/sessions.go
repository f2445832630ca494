package configsvr

import (
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/settings"
)

// keepSessions makes the collection of sessions when there is a shard for it and it is missing. A
// failure is left to the next time.
func (s *Server) keepSessions(t env.Task) {
	// The interval may be zero; time must go on.
	for t.Sleep(settings.Pause(s.settings.SessionRefresh)) == nil {
		_, err := s.sharded(catalog.Sessions)
		if !errcode.Is(err, errcode.NamespaceNotFound) || len(s.shardNames()) == 0 {
			continue
		}
		s.node.Sometimes("the collection of sessions is made")
		op := ddlOperation{NS: catalog.Sessions, Kind: createCollection, Coll: collRecord{Field: "_id"}}
		_, _ = s.change(t, op, command.Session{})
	}
}
