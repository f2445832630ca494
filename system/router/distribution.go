package router

import (
	"slices"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// readCatalog reads a collection of the database config as a majority has it, at or after all that
// the router has heard of the config server.
func (r *Router) readCatalog(
	t env.Task, _ env.NodeID, req *command.ReadCatalog,
) (*command.Batch, error) {
	own := *req
	own.After = max(own.After, r.ep.Clock().Now().Config)
	return rpc.CallAny[command.Batch](t, r.config, &own, r.settings.CommandTimeout)
}

// collStats asks every owner, by the catalog as it is now.
func (r *Router) collStats(
	t env.Task, _ env.NodeID, req *command.CollStats,
) (*command.CollStatsReply, error) {
	known := r.routesOf(req.NS)
	known.invalidate(known.table)
	table, err := known.get(t)
	if err != nil {
		return nil, err
	}
	reply := &command.CollStatsReply{Sharded: !table.Collection().Unsharded}
	for _, name := range slices.Sorted(slices.Values(table.Shards())) {
		x, err := r.extentOn(t, name, table)
		if err != nil {
			return nil, err
		}
		reply.Shards = append(reply.Shards, *x)
	}
	return reply, nil
}

func (r *Router) extentOn(
	t env.Task, name string, table *catalog.Table,
) (*command.ShardExtent, error) {
	set, err := r.shard(name)
	if err != nil {
		return nil, err
	}
	x, err := rpc.AskPrimary[command.ShardExtent](t, set,
		&command.ShardsvrCollStats{NS: table.Collection().NS}, r.settings.CommandTimeout)
	if err == nil {
		x.Shard, x.Chunks = name, table.Count(name)
	}
	return x, err
}
