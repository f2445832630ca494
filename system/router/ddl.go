package router

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// Operations on whole collections are the config server's; what became of them the router learns
// like any other change.

func (r *Router) shardCollection(
	t env.Task, _ env.NodeID, req *command.ShardCollection,
) (*command.Done, error) {
	return r.pass(t, req)
}

func (r *Router) dropCollection(
	t env.Task, _ env.NodeID, req *command.DropCollection,
) (*command.Done, error) {
	return r.pass(t, req)
}

func (r *Router) renameCollection(
	t env.Task, _ env.NodeID, req *command.RenameCollection,
) (*command.Done, error) {
	return r.pass(t, req)
}

func (r *Router) createIndex(
	t env.Task, _ env.NodeID, req *command.CreateIndex,
) (*command.Done, error) {
	return r.pass(t, req)
}

func (r *Router) dropIndex(
	t env.Task, _ env.NodeID, req *command.DropIndex,
) (*command.Done, error) {
	return r.pass(t, req)
}

func (r *Router) pass(t env.Task, req env.Message) (*command.Done, error) {
	return rpc.CallPrimary[command.Done](t, r.config, req, r.settings.AttemptTimeout)
}
