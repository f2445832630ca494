package router

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
)

func (r *Router) createUnsharded(
	t env.Task, _ env.NodeID, req *command.CreateUnsharded,
) (*command.Written, error) {
	return r.alterUnsharded(t, req.NS, func(p command.Placement) env.Message {
		placed := *req
		placed.Place = p
		return &placed
	})
}

func (r *Router) dropUnsharded(
	t env.Task, _ env.NodeID, req *command.DropUnsharded,
) (*command.Written, error) {
	return r.alterUnsharded(t, req.NS, func(p command.Placement) env.Message {
		placed := *req
		placed.Place = p
		return &placed
	})
}

func (r *Router) renameUnsharded(
	t env.Task, _ env.NodeID, req *command.RenameUnsharded,
) (*command.Written, error) {
	return r.alterUnsharded(t, req.NS, func(p command.Placement) env.Message {
		placed := *req
		placed.Place = p
		return &placed
	})
}

func (r *Router) indexUnsharded(
	t env.Task, _ env.NodeID, req *command.IndexUnsharded,
) (*command.Written, error) {
	return r.alterUnsharded(t, req.NS, func(p command.Placement) env.Message {
		placed := *req
		placed.Place = p
		return &placed
	})
}

// alterUnsharded sends an operation on a whole unsharded collection to the primary shard of its
// database. For a sharded collection it is an errcode.IllegalOperation.
func (r *Router) alterUnsharded(
	t env.Task, ns string, at func(command.Placement) env.Message,
) (*command.Written, error) {
	sharded := func(key.Pattern) (key.Key, error) {
		return "", errcode.New(errcode.IllegalOperation, "collection %s is sharded", ns)
	}
	return r.write(t, writeStatement{ns, command.Session{}, sharded, at})
}
