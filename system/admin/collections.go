package admin

import (
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// configureCollectionBalancing is for the balancer only, which reads the catalog itself: no
// version rises.
func (s *Service) configureCollectionBalancing(
	t env.Task, _ env.NodeID, req *command.ConfigureCollectionBalancing,
) (*command.Done, error) {
	if req.ChunkBytes != nil && *req.ChunkBytes < 0 {
		return nil, errcode.New(errcode.BadValue, "chunks of %s cannot have %d bytes",
			req.NS, *req.ChunkBytes)
	}
	return s.underLock(t, "configureCollectionBalancing "+req.NS, req.NS,
		func(own env.Task, table *catalog.Table) error {
			if req.NS == catalog.Sessions && req.Defragment != nil && *req.Defragment {
				return errcode.New(errcode.IllegalOperation,
					"%s cannot be defragmented: the balancer keeps it split into "+
						"minNumChunksForSessionsCollection chunks", req.NS)
			}
			old := table.Collection().Balancing
			if as := withBalancing(old, req); as != old {
				return s.config.Describe(own, table, as, changeReason(old, as))
			}
			return nil
		})
}

// withBalancing is what becomes of b.
func withBalancing(
	b catalog.Balancing, req *command.ConfigureCollectionBalancing,
) catalog.Balancing {
	if req.Enabled != nil {
		b.NoBalance = !*req.Enabled
	}
	if req.ChunkBytes != nil {
		b.ChunkBytes = *req.ChunkBytes
	}
	if req.Defragment != nil {
		b.Defragment = *req.Defragment
	}
	if req.AutoMerge != nil {
		b.NoAutoMerge = !*req.AutoMerge
	}
	return b
}

// changeReason is the tag of the entry, by which the oracles know whether moves are allowed.
func changeReason(old, as catalog.Balancing) string {
	switch {
	case as.NoBalance && !old.NoBalance:
		return trace.BalancingOff.String()
	case old.NoBalance && !as.NoBalance:
		return trace.BalancingOn.String()
	}
	return "configureCollectionBalancing"
}

// clearJumboFlag lets the balancer try the chunk again (protocol 3.2, 13.5).
func (s *Service) clearJumboFlag(
	t env.Task, _ env.NodeID, req *command.ClearJumboFlag,
) (*command.Done, error) {
	return s.underLock(t, "clearJumboFlag "+req.NS, req.NS,
		func(own env.Task, table *catalog.Table) error {
			changed, err := catalog.ClearJumbo(table, table.Owner(req.At).Range)
			if err != nil || len(changed) == 0 {
				return err
			}
			return s.config.Replace(own, table, changed, trace.JumboCleared.String())
		})
}

// underLock changes a sharded collection, and answers when a majority knows.
func (s *Service) underLock(
	t env.Task, name, ns string, change func(env.Task, *catalog.Table) error,
) (*command.Done, error) {
	err := s.config.InTerm(t, name, func(own env.Task) error {
		return s.config.Settled(own, s.config.Locked(own, func() error {
			table, err := s.config.Table(ns)
			switch {
			case err != nil:
				return err
			case table.Collection().Unsharded:
				return errcode.New(errcode.NamespaceNotFound, "collection %s is not sharded", ns)
			}
			return change(own, table)
		}))
	})
	return doneReply, err
}
