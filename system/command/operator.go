package command

import (
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/key"
)

// The commands below are an operator's, sent to one server.

// SetParameter changes a setting of one server while it runs, until that server restarts. Name and
// Value are those of settings.Set.
type SetParameter struct{ Name, Value string }

// ShardingStatistics asks a member of a shard for the counters of its process.
type ShardingStatistics struct{}

// ShardingStatisticsReply holds every counter, in the order in which the package statistics
// declares them; times are in milliseconds.
type ShardingStatisticsReply struct{ Values []Statistic }

// Statistic is one counter.
type Statistic struct {
	Name  string
	Count int64
}

// CleanupOrphaned answers when every range deletion task that the shard has of the namespace is
// done and a majority knows (the form of 4.4 and later, protocol 10.5). In 4.2 it deletes the first
// range at or after From that the shard neither owns nor receives.
type CleanupOrphaned struct {
	NS   string
	From key.Key // startingFromKey; 4.2 only
}

// CleanedUp answers CleanupOrphaned. StoppedAt is the end of the range that was deleted, from which
// the next request goes on; empty when there was none left.
type CleanedUp struct{ StoppedAt key.Key }

// JoinMigrations answers when the shard takes part in no migration of the namespace, or of any when
// it names none, recoveries included. It keeps none from starting: a caller that needs that makes
// the collection refuse migrations first.
type JoinMigrations struct{ NS string }

func init() {
	codec.Register[CleanedUp]()
	codec.Register[CleanupOrphaned]()
	codec.Register[JoinMigrations]()
	codec.Register[SetParameter]()
	codec.Register[ShardingStatistics]()
	codec.Register[ShardingStatisticsReply]()
	codec.Register[Statistic]()
}
