package router

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// passOn hands requests of one type on to the config server. Operations on whole collections are
// its own; what became of them the router learns like any other change.
func passOn[Req any](
	r *Router,
) func(t env.Task, _ env.NodeID, req *Req) (*command.Done, error) {
	return func(t env.Task, _ env.NodeID, req *Req) (*command.Done, error) {
		return rpc.CallPrimary[command.Done](t, r.config, req, r.settings.AttemptTimeout)
	}
}
