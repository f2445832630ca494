package router

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
)

// alterUnsharded sends commands on whole unsharded collections to the primary shard of the
// database. For a sharded collection that is an errcode.IllegalOperation.
func alterUnsharded[Req command.OnUnsharded](
	r *Router,
) func(env.Task, env.NodeID, *Req) (*command.Written, error) {
	return func(t env.Task, _ env.NodeID, req *Req) (*command.Written, error) {
		ns := (*req).Collection()
		sharded := func(key.Pattern) (key.Key, error) {
			return "", errcode.New(errcode.IllegalOperation, "collection %s is sharded", ns)
		}
		return r.write(t,
			writeStatement{ns, (*req).Statement(), 0, (*req).Makes(), sharded, (*req).At})
	}
}
