package generate

import (
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/workloads"
)

const (
	// reshapedClusters is how many percent of the seeds of the mix have another cluster than the
	// usual one, reducedMixes how many leave some kinds of operations out.
	reshapedClusters = 40
	reducedMixes     = 40
	// keptShare is how many percent of the kinds of operations stay in a reduced mix.
	keptShare = 60
)

// drawSize is the size of the profile, for a share of the seeds on another cluster and with other
// keys: small extremes more often, as a replica set of one member, a single router or a handful of
// keys make situations frequent that are rare otherwise. What costs time, operations and migrations
// and faults, stays as it is. Profiles outside the mix are what other searches begin with, and stay
// as small as they are.
func drawSize(d keyed.Source, p Profile) size {
	z := p.size
	if p.balanced {
		z.topology.Shards = keyed.Pick(d, "shards", 3, 3, 3, 4, 5)
	}
	if p.Weight == 0 || !d.Chance("another cluster", reshapedClusters) {
		return z
	}
	t := &z.topology
	if !p.balanced {
		t.Shards = keyed.Pick(d, "cluster/shards", 2, 2, 3, 3, 4, 5)
		z.keys = keyed.Pick(d, "cluster/keys", 8, 16, z.keys, z.keys, 100)
	}
	t.Members = keyed.Pick(d, "cluster/members", 1, 2, 3, 3, 3, 5)
	t.ConfigMembers = keyed.Pick(d, "cluster/config members", 1, 3, 3, 3, 5)
	t.Routers = keyed.Pick(d, "cluster/routers", 1, 1, 2, 3)
	t.Clients = keyed.Pick(d, "cluster/clients", 2, 4, 6, 6, 10)
	return z
}

// brief is the size that is left of a scenario in which less happens. Operators and rounds of a
// balancer need more of the time.
func (z size) brief(balanced bool) size {
	z.ops, z.moves, z.faults, z.topology.Clients = z.ops/3, (z.moves+1)/2, (z.faults+1)/2, 4
	if balanced {
		z.span = 2 * z.span / 3
		return z
	}
	z.span, z.keys, z.topology.Shards = z.span/3, z.keys/2, 2
	return z
}

// drawMix is the mix of operations, for a share of the seeds without some of its kinds: what is
// left is done the more often.
func drawMix(d keyed.Source, mix []workloads.Share) []workloads.Share {
	if !d.Chance("reduced mix", reducedMixes) {
		return mix
	}
	var some []workloads.Share
	for _, s := range mix {
		if d.Chance("mix/"+s.Name, keptShare) {
			some = append(some, s)
		}
	}
	if len(some) == 0 {
		return mix
	}
	return some
}
