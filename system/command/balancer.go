package command

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/codec"
)

// BalancerStart lets the balancer begin rounds, now and after every failover of the config server,
// until BalancerStop.
type BalancerStart struct{}

// BalancerStop keeps the balancer from rounds and answers when none is in progress: what the
// balancer has asked for has ended, and nothing that it has asked for is committed any more
// (protocol 14.3). What operators ask for goes on.
type BalancerStop struct{}

// BalancerStatus asks the primary of the config server what its balancer does.
type BalancerStatus struct{}

// BalancerStatusReply is the status of the balancer in one term.
type BalancerStatusReply struct {
	Mode    BalancerMode
	InRound bool
	// Rounds is how many rounds have ended in this term.
	Rounds int64
}

// BalancerMode is which rounds the balancer begins.
type BalancerMode string

// The modes.
const (
	BalancerFull BalancerMode = "full"
	// 4.2: chunks are split and nothing is moved.
	BalancerAutoSplitOnly BalancerMode = "autoSplitOnly"
	BalancerOff           BalancerMode = "off"
)

// BalancerCollectionStatus asks whether a collection is as the balancer would have it.
type BalancerCollectionStatus struct{ NS string }

// BalancerCollectionStatusReply is the most urgent thing that the balancer would do.
type BalancerCollectionStatusReply struct {
	Compliant bool
	// FirstViolation is draining, zoneViolation, chunksImbalance or defragmentingChunks; empty for
	// a compliant collection.
	FirstViolation string
}

// PutSetting is an operator's write to a document of config.settings: "balancer", "chunksize",
// "autosplit" or "automerge" (protocol 2.1). What the config server does not understand is an
// errcode.BadValue.
type PutSetting struct {
	ID string
	// Doc are the fields to be set, without _id, where null removes one; empty removes the
	// document.
	Doc bson.Raw
}

// ShardsvrGetStatsForBalancing asks a shard how much data it has of collections (protocol 14.2),
// copies of ranges that it does not own left out.
type ShardsvrGetStatsForBalancing struct{ Collections []CollectionID }

// CollectionID is one incarnation of a collection.
type CollectionID struct{ NS, UUID string }

// StatsForBalancing answers ShardsvrGetStatsForBalancing: bytes in the order of the collections, 0
// for one that the shard does not have.
type StatsForBalancing struct{ Bytes []int64 }

func init() {
	codec.Register[ShardsvrGetStatsForBalancing]()
	codec.Register[CollectionID]()
	codec.Register[StatsForBalancing]()
	codec.Register[BalancerStart]()
	codec.Register[BalancerStop]()
	codec.Register[BalancerStatus]()
	codec.Register[BalancerStatusReply]()
	codec.Register[BalancerCollectionStatus]()
	codec.Register[BalancerCollectionStatusReply]()
	codec.Register[PutSetting]()
}
