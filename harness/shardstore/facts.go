package shardstore

import (
	"slices"

	"github.com/shardproof/shardproof/checkers/facts"
	"github.com/shardproof/shardproof/checkers/grounds"
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/harness/shardstore/mistakes"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
)

// factOf is what is so in the catalog when a request was carried out; nil when that is nothing
// that the oracles know of.
func factOf(req env.Message) *facts.Fact {
	switch r := req.(type) {
	case *command.AddShardToZone:
		return facts.ShardOfZone(r.Shard, r.Zone, true)
	case *command.RemoveShardFromZone:
		return facts.ShardOfZone(r.Shard, r.Zone, false)
	case *command.UpdateZoneKeyRange:
		return facts.RangeOfZone(r.NS, string(r.Min), string(r.Max), r.Zone)
	case *command.BalancerStart:
		return facts.BalancerIs(trace.BalancerFull)
	case *command.BalancerStop:
		return facts.BalancerIs(trace.BalancerOff)
	case *command.PutSetting:
		return settingFact(r)
	case *command.ConfigureCollectionBalancing:
		if r.Enabled != nil {
			return facts.BalancedIs(r.NS, *r.Enabled)
		}
	case *command.ClearJumboFlag:
		return facts.NotJumbo(r.NS, string(r.At))
	case *command.AddShard:
		return facts.LimitedShard(r.Name, r.MaxBytes)
	case *command.LimitShard:
		return facts.LimitedShard(r.Name, r.MaxBytes)
	case *command.SplitChunk:
		return facts.BoundAt(r.NS, string(r.At))
	case *command.MergeChunks:
		return facts.OneChunk(r.NS, string(r.Min), string(r.Max))
	case *command.MovePrimary:
		return facts.OwnedBy(r.Database, string(key.Min), r.To)
	case *command.MoveRange:
		return moveFact(r)
	}
	return nil
}

// settingFact is the mode that an operator has given the balancer, or that chunks are cut on
// writes, which nothing in a document means.
func settingFact(r *command.PutSetting) *facts.Fact {
	if r.ID == facts.AutoSplit {
		on, said := r.Doc.Lookup("enabled").BooleanOK()
		return facts.ServiceIs(r.ID, on || !said)
	}
	word, _ := r.Doc.Lookup("mode").StringValueOK()
	mode, said := trace.ParseBalancerMode(word)
	if r.ID != configsvr.BalancerSetting || !said {
		return nil
	}
	return facts.BalancerIs(mode)
}

// moveFact is where a range is when all of it has moved; with an open bound only the donor knows
// what moves besides the bound.
func moveFact(r *command.MoveRange) *facts.Fact {
	switch {
	case r.Find != "":
		return facts.OwnedBy(r.NS, string(r.Find), r.To)
	case r.Min != "" && r.Max != "":
		return facts.Moved(r.NS, string(r.Min), string(r.Max), r.To)
	case r.Min != "":
		return facts.OwnedBy(r.NS, string(r.Min), r.To)
	}
	return nil
}

// whole carries out an operation on a collection as a whole and holds the answer against the fact.
func (s *session) whole(f *facts.Fact, do func() client.Answer) client.Answer {
	answered := s.oracle.Asked(f)
	a := do()
	answered(a.Certainty == client.OK)
	return a
}

// firstSeen is when the newest request of a session for an operation on a whole collection came to
// the config server first.
type firstSeen struct{ txn, at int64 }

// seeFirst notes a request whose refusal is remembered: a copy that comes later is refused alike.
func (c *cluster) seeFirst(x *env.Exchange, asked env.Message) {
	s := statementOf(asked)
	if first, known := c.firstSeen[s.ID]; s.ID != "" && (!known || first.txn < s.Txn) &&
		setOf(x.To) == configsvr.Name {
		c.firstSeen[s.ID] = firstSeen{s.Txn, int64(x.Began)}
	}
}

// statementOf is by what a request for an operation on a whole collection is remembered.
func statementOf(asked env.Message) (s command.Session) {
	switch r := asked.(type) {
	case *command.ShardCollection:
		s = r.Session
	case *command.DropCollection:
		s = r.Session
	case *command.RenameCollection:
		s = r.Session
	case *command.CreateIndex:
		s = r.Session
	case *command.DropIndex:
		s = r.Session
	}
	return s
}

// refusedIdly has the oracle judge a refusal of the config server, if the catalog alone can be the
// reason for it.
func (c *cluster) refusedIdly(x *env.Exchange, asked env.Message, err error) {
	r, judged := c.refusalOf(x, asked)
	if !judged {
		return
	}
	if g := c.groundOf(asked, errcode.Of(err)); g != nil {
		r.Why = err.Error()
		c.oracle.Refused(r, g)
	}
}

// grantedAnswer has the oracle judge whether the config server was free to grant what it granted.
func (c *cluster) grantedAnswer(x *env.Exchange, asked env.Message) {
	against := mistakes.Rules{Protocol: protocolOf(c.scenario), Keys: c.keys}.Grounds(asked)
	if r, judged := c.refusalOf(x, asked); judged {
		c.oracle.Granted(r, against...)
	}
}

// refusalOf is a request to the config server that was answered, with the time at which it first
// came there; false when that is unknown.
func (c *cluster) refusalOf(x *env.Exchange, asked env.Message) (r oracle.Refusal, judged bool) {
	r = oracle.Refusal{
		Node: string(x.To), Request: nameOf(asked), NS: subject(asked), Since: int64(x.Began),
	}
	if s := statementOf(asked); s.ID != "" {
		first := c.firstSeen[s.ID]
		if first.txn != s.Txn {
			return r, false // the client has gone on, and what is remembered is of the next request
		}
		r.Since = first.at
	}
	return r, setOf(x.To) == configsvr.Name
}

// groundOf is what the catalog must have said for a request to be refused with a code; nil when
// that may have other reasons.
func (c *cluster) groundOf(asked env.Message, code errcode.Code) *grounds.Ground {
	switch r := asked.(type) {
	case *command.DropCollection, *command.CreateIndex, *command.DropIndex,
		*command.ConfigureCollectionBalancing, *command.ClearJumboFlag:
		if code == errcode.NamespaceNotFound {
			return grounds.NotSharded(subject(asked))
		}
	case *command.RenameCollection:
		return renameGround(r, code, c.allSharded())
	case *command.ShardCollection:
		if code == errcode.ShardNotFound {
			return grounds.Closed(r.Shards...)
		}
	case *command.CommitChunkSplit:
		return splitGround(r, code)
	case *command.CommitChunksMerge:
		if code == errcode.IncompatibleShardingMetadata {
			return grounds.NotWhole(r.NS, string(r.Min), string(r.Max))
		}
		return keptGround(r.NS, r.Epoch, r.Shard, string(r.Min), code)
	case *command.CommitMergeAllChunks:
		switch code {
		case errcode.NamespaceNotFound, errcode.BadValue:
			return grounds.NotSharded(r.NS)
		case errcode.IncompatibleShardingMetadata:
			return grounds.Never("the chunks that the config server chose must not be merged")
		}
	}
	return zoneGround(asked, code)
}

// allSharded says that no collection of the scenario is ever unsharded.
func (c *cluster) allSharded() bool {
	return !slices.ContainsFunc(c.scenario.Collections,
		func(one scenario.Collection) bool { return one.Unsharded })
}

// renameGround: only shards know of an unsharded collection that has the new name.
func renameGround(
	r *command.RenameCollection, code errcode.Code, allSharded bool,
) *grounds.Ground {
	switch code {
	case errcode.NamespaceNotFound:
		return grounds.NotSharded(r.NS)
	case errcode.NamespaceExists:
		switch {
		case r.DropTarget && allSharded:
			return grounds.Never(r.To + " exists and dropTarget was not given")
		case r.DropTarget:
			return grounds.NotSharded(r.To)
		case allSharded:
			return grounds.Named(r.To)
		}
	case errcode.BadValue:
		if r.To != "" && r.To != r.NS && catalog.DatabaseOf(r.To) == catalog.DatabaseOf(r.NS) {
			return grounds.Never(r.To + " is the old name or in another database")
		}
	}
	return nil
}

func splitGround(r *command.CommitChunkSplit, code errcode.Code) *grounds.Ground {
	inside := r.Min
	for _, at := range r.At {
		if at <= inside || at >= r.Max {
			return nil
		}
		inside = at
	}
	if code == errcode.IncompatibleShardingMetadata {
		return grounds.NoChunk(r.NS, string(r.Min), string(r.Max))
	}
	return keptGround(r.NS, r.Epoch, r.Shard, string(r.Min), code)
}

// keptGround: a shard changes chunks that it still has, in the incarnation that it means.
func keptGround(ns, epoch, shard, at string, code errcode.Code) *grounds.Ground {
	switch code {
	case errcode.NamespaceNotFound, errcode.BadValue:
		return grounds.NotSharded(ns)
	case errcode.StaleEpoch:
		return grounds.OtherEpoch(ns, epoch)
	case errcode.ConflictingOperationInProgress:
		return grounds.NotOn(ns, at, shard)
	}
	return nil
}

// zoneGround is groundOf for shards and zones.
func zoneGround(asked env.Message, code errcode.Code) *grounds.Ground {
	switch r := asked.(type) {
	case *command.UpdateZoneKeyRange:
		switch code {
		case errcode.RangeOverlapConflict:
			return grounds.Overlaps(r.NS, string(r.Min), string(r.Max), r.Zone)
		case errcode.ZoneNotFound:
			return grounds.NoShardOf(r.Zone)
		}
	case *command.AddShardToZone:
		return shardGround(r.Shard, code)
	case *command.LimitShard:
		return shardGround(r.Name, code)
	case *command.RemoveShardFromZone:
		if code == errcode.ZoneStillInUse {
			return grounds.LastOf(r.Shard, r.Zone)
		}
		return shardGround(r.Shard, code)
	case *command.AddShard:
		if code == errcode.IllegalOperation {
			return grounds.OtherLimit(r.Name, r.MaxBytes)
		}
	case *command.RemoveShard:
		switch code {
		case errcode.ZoneStillInUse:
			return grounds.LastOfAny(r.Name)
		case errcode.IllegalOperation:
			return grounds.LastShard(r.Name)
		}
		return shardGround(r.Name, code)
	}
	return nil
}

func shardGround(name string, code errcode.Code) *grounds.Ground {
	if code == errcode.ShardNotFound {
		return grounds.NoShard(name)
	}
	return nil
}

// lacksConcern says that an entry of a recipient is on fewer disks than the request to move a range
// says for which it was written; "" when it is on enough. It goes by what the donor was asked for,
// whatever the recipient was told.
func (c *cluster) lacksConcern(request, node string, term, index uint64) string {
	m := c.Member(env.NodeID(node))
	if m == nil {
		return ""
	}
	return c.disks.Copied(request, oplog.Time{Term: term, Index: index}, c.Members(m.Name()))
}

// lacksMajority says whether a node does not know yet that a majority has an entry of its log.
func (c *cluster) lacksMajority(node string, index uint64) bool {
	m := c.Member(env.NodeID(node))
	return m != nil && index > m.Committed().Index
}
