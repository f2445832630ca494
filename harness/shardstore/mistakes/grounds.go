// Package mistakes knows what the config server must refuse: the grounds on which a request cannot
// be granted, and requests of operators that can never be granted.
//
// Promise: what is said here follows from the request alone, from the protocol, and from what the
// scenario says of its collections, never from what a server answers.
//
// Refusal: it sends nothing and judges nothing, and it does not say with which error a request is
// refused. What the catalog does not show, such as what shards have, is no ground here.
package mistakes

import (
	"github.com/shardproof/shardproof/checkers/grounds"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocol"
)

// Rules are what the grounds follow from, besides the request.
type Rules struct {
	Protocol protocol.Profile
	// Keys are the shard keys that the scenario's collections have whenever they are sharded.
	Keys map[string]key.Pattern
}

// Grounds are the grounds to refuse a request. The config server must refuse it if one of them held
// from when the request first came until it was answered.
func (r Rules) Grounds(asked env.Message) []*grounds.Ground {
	switch q := asked.(type) {
	case *command.MoveRange:
		return list(r.closed(q.To))
	case *command.MovePrimary:
		return list(grounds.Closed(q.To))
	case *command.CommitChunkMigration:
		return r.ofCommit(q)
	case *command.CommitChunkSplit:
		return append(ofShard(q.NS, q.Epoch, string(q.Min), q.Shard),
			grounds.NoChunk(q.NS, string(q.Min), string(q.Max)))
	case *command.CommitChunksMerge:
		return append(ofShard(q.NS, q.Epoch, string(q.Min), q.Shard),
			grounds.NotWhole(q.NS, string(q.Min), string(q.Max)))
	case *command.CommitMergeAllChunks:
		return list(grounds.NotSharded(q.NS))
	case *command.ConfigureCollectionBalancing:
		return list(grounds.NotSharded(q.NS))
	case *command.ClearJumboFlag:
		return list(grounds.NotSharded(q.NS))
	}
	return append(r.ofWhole(asked), r.ofCluster(asked)...)
}

func list(all ...*grounds.Ground) []*grounds.Ground { return all }

// closed is the ground that a shard may not be given a range. In 4.2 a shard that is draining is
// not refused when the request comes, but only one that does not exist.
func (r Rules) closed(shard string) *grounds.Ground {
	if r.Protocol.MovesPartOfChunk() {
		return grounds.Closed(shard)
	}
	return grounds.NoShard(shard)
}

func (r Rules) ofCommit(q *command.CommitChunkMigration) []*grounds.Ground {
	all := list(r.closed(q.To), grounds.OtherEpoch(q.NS, q.Epoch))
	if r.Protocol.CoordinatesMigrations() {
		return all // if it is sent again, its work is done, and the chunk may have moved on
	}
	return append(all, grounds.NotOn(q.NS, string(q.Min), q.From),
		grounds.NoChunk(q.NS, string(q.Min), string(q.Max)))
}

// ofShard: a shard may change only chunks that it still has, of the incarnation that it names.
func ofShard(ns, epoch, at, shard string) []*grounds.Ground {
	return list(grounds.OtherEpoch(ns, epoch), grounds.NotOn(ns, at, shard))
}

// ofWhole are the grounds for operations on whole collections.
func (r Rules) ofWhole(asked env.Message) []*grounds.Ground {
	switch q := asked.(type) {
	case *command.DropCollection:
		if q.Sharded {
			return list(grounds.NotSharded(q.NS))
		}
	case *command.CreateIndex:
		return list(grounds.NotSharded(q.NS))
	case *command.DropIndex:
		return list(grounds.NotSharded(q.NS))
	case *command.RenameCollection:
		all := list(grounds.NotSharded(q.NS))
		if !q.DropTarget {
			all = append(all, grounds.Named(q.To))
		}
		return all
	case *command.ShardCollection:
		if is, known := r.Keys[q.NS]; known && is != q.Key {
			return list(grounds.Named(q.NS))
		}
	}
	return nil
}

// ofCluster are the grounds for requests about shards and zones.
func (r Rules) ofCluster(asked env.Message) []*grounds.Ground {
	switch q := asked.(type) {
	case *command.AddShardToZone:
		return list(grounds.NoShard(q.Shard))
	case *command.RemoveShardFromZone:
		return list(grounds.NoShard(q.Shard))
	case *command.LimitShard:
		return list(grounds.NoShard(q.Name))
	case *command.RemoveShard:
		return list(grounds.NoShard(q.Name))
	case *command.AddShard:
		return list(grounds.OtherLimit(q.Name, q.MaxBytes))
	case *command.UpdateZoneKeyRange:
		return r.ofZone(q)
	}
	return nil
}

func (r Rules) ofZone(q *command.UpdateZoneKeyRange) (all []*grounds.Ground) {
	if is, known := r.Keys[q.NS]; known && q.Field != "" && q.Field != is.Field {
		all = append(all, grounds.Named(q.NS))
	}
	if q.Zone == "" {
		return all
	}
	return append(all, grounds.NoShardOf(q.Zone),
		grounds.Overlaps(q.NS, string(q.Min), string(q.Max), q.Zone))
}
