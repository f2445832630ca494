package shard

import (
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/histories/event"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/point"
	"github.com/shardproof/shardproof/system/status"
	"github.com/shardproof/shardproof/system/store"
)

// joinCluster prepares a replica set, which may have been a shard before, to be one. Its collections may be of incarnations
// that were dropped while it was none, so it keeps none of them; documents it gives up for nobody.
func (s *Server) joinCluster(t env.Task, _ env.NodeID, req *command.ShardsvrJoinCluster) (*command.Done, error) {
	if err := t.Point(point.RequestJoinCluster, env.Note{ID: req.Name}); err != nil {
		return nil, err
	}
	if err := s.needPrimary(); err != nil {
		return nil, err
	}
	if left := s.unfinished(); len(left) > 0 {
		return nil, status.New(status.OperationFailed, "%s cannot join: it is at work still on %s", s.name, strings.Join(left, ", "))
	}
	drops, err := s.drops()
	if err == nil && len(drops) > 0 {
		_, err = s.cfg.Member.Write(t, drops...)
	}
	if err != nil {
		return nil, err
	}
	return &command.Done{}, s.PersistConfigTime(t)
}

// unfinished lists what the shard has on record of migrations, and whatever else it is at.
func (s *Server) unfinished() []string {
	left := s.Busy()
	for _, ns := range []string{"config.migrationCoordinators", "config.migrationRecipients", "config.rangeDeletions", SectionsNS} {
		if n := len(s.documents(ns)); n > 0 {
			left = append(left, fmt.Sprintf("%d of %s", n, ns))
		}
	}
	return left
}

// drops removes every collection of users, none of which may have documents.
func (s *Server) drops() (ops []oplog.Op, err error) {
	data := s.cfg.Member.Store()
	for _, ns := range data.Collections(store.Latest) {
		switch {
		case strings.HasPrefix(ns, "config.") || strings.HasPrefix(ns, "admin."):
		case data.Count(ns, store.Latest) > 0:
			return nil, status.New(status.OperationFailed, "%s cannot join: it has %d documents in %s", s.name, data.Count(ns, store.Latest), ns)
		default:
			ops = append(ops, oplog.Op{Kind: oplog.Drop, NS: ns, Actor: uint8(event.System)})
		}
	}
	return ops, nil
}
