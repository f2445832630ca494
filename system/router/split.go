package router

import (
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
)

// splitChunk has the owner of a key cut its chunk there.
func (r *Router) splitChunk(
	t env.Task, _ env.NodeID, req *command.SplitChunk,
) (*command.Done, error) {
	chunk, owner, err := r.ownerNow(t, req.NS, req.At)
	if err != nil {
		return nil, err
	}
	return rpc.CallPrimary[command.Done](t, owner, &command.ShardsvrSplitChunk{
		NS:    req.NS,
		Epoch: chunk.Version.Epoch,
		Min:   chunk.Min,
		Max:   chunk.Max,
		At:    []key.Key{req.At},
	}, r.settings.MoveWait)
}

// mergeChunks asks the owner of the first chunk, which finds out whether it has them all.
func (r *Router) mergeChunks(
	t env.Task, _ env.NodeID, req *command.MergeChunks,
) (*command.Done, error) {
	chunk, owner, err := r.ownerNow(t, req.NS, req.Min)
	if err != nil {
		return nil, err
	}
	return rpc.CallPrimary[command.Done](t, owner, &command.ShardsvrMergeChunks{
		NS: req.NS, Epoch: chunk.Version.Epoch, Min: req.Min, Max: req.Max,
	}, r.settings.MoveWait)
}

// ownerNow reads the catalog again: a command about chunks wants to know them as they are.
func (r *Router) ownerNow(t env.Task, ns string, k key.Key) (catalog.Chunk, *rpc.Set, error) {
	known := r.routesOf(ns)
	known.invalidate(known.table)
	table, err := known.get(t)
	if err != nil {
		return catalog.Chunk{}, nil, err
	}
	if table.Collection().Unsharded {
		return catalog.Chunk{}, nil, errcode.New(errcode.BadValue,
			"collection %s is not sharded", ns)
	}
	chunk := table.Owner(k)
	owner, err := r.shard(chunk.Shard)
	return chunk, owner, err
}
