package system

import (
	"fmt"
	"strconv"

	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/protocol"
)

// maxShards is how many shards have a letter.
const maxShards = 26

// Topology is the size of a cluster and the version it speaks. Every number but Clients and
// Spare is at least 1.
type Topology struct {
	Shards        int // at most 26
	Spare         int // of these, the last ones, that are no shards at the start; fewer than all
	Members       int // of each shard
	ConfigMembers int
	Routers       int
	Clients       int
	Profile       protocol.Profile // which every server speaks; zero: 8.0
	BalancerOff   bool             // the balancer is off at the start, as operators have set it
}

// Validate returns a sentence about the first number that is out of range, or nil.
func (p Topology) Validate() error {
	if p.Spare < 0 || p.Spare > 0 && p.Spare >= p.Shards {
		return fmt.Errorf("a cluster of %d replica sets with %d spare ones is not possible: one "+
			"must be a shard", p.Shards, p.Spare)
	}
	for _, part := range []struct {
		what      string
		n         int
		min, most int
	}{
		{"shards", p.Shards, 1, maxShards}, {"members of a shard", p.Members, 1, 50},
		{"members of the config server", p.ConfigMembers, 1, 50}, {"routers", p.Routers, 1, 1000},
		{"clients", p.Clients, 0, 100000},
	} {
		if part.n < part.min || part.n > part.most {
			return fmt.Errorf(
				"a cluster with %d %s is not possible: the number must be from %d to %d",
				part.n, part.what, part.min, part.most,
			)
		}
	}
	return nil
}

// ShardName is the name of shard i, from 0: "shard-a", "shard-b".
func ShardName(i int) string { return "shard-" + string(rune('a'+i)) }

// ShardNames lists the replica sets that are, or can be, shards.
func (p Topology) ShardNames() []string {
	names := make([]string, p.Shards)
	for i := range names {
		names[i] = ShardName(i)
	}
	return names
}

// Founders lists the shards that the cluster starts with: all that are not spare.
func (p Topology) Founders() []string { return p.ShardNames()[:p.Shards-p.Spare] }

// MembersOf lists the nodes of a replica set: a shard's or the config server's.
func (p Topology) MembersOf(set string) []env.NodeID {
	if set == configsvr.Name {
		return numberedNodes(set, p.ConfigMembers)
	}
	return numberedNodes(set, p.Members)
}

// RouterNodes lists the nodes of the routers.
func (p Topology) RouterNodes() []env.NodeID { return numberedNodes("router", p.Routers) }

// ClientNodes lists the nodes of the clients.
func (p Topology) ClientNodes() []env.NodeID { return numberedNodes("client", p.Clients) }

func numberedNodes(name string, n int) []env.NodeID {
	ids := make([]env.NodeID, n)
	for i := range ids {
		ids[i] = env.NodeID(name + "." + strconv.Itoa(i))
	}
	return ids
}
