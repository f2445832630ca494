package shardstore

import (
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
)

// factOf is what is so in the catalog when a request was carried out; nil when that is nothing
// that the oracles know of.
func factOf(req env.Message) *oracle.Fact {
	switch r := req.(type) {
	case *command.AddShardToZone:
		return oracle.ShardOfZone(r.Shard, r.Zone, true)
	case *command.RemoveShardFromZone:
		return oracle.ShardOfZone(r.Shard, r.Zone, false)
	case *command.UpdateZoneKeyRange:
		return oracle.RangeOfZone(r.NS, string(r.Min), string(r.Max), r.Zone)
	case *command.BalancerStart:
		return oracle.BalancerIs(trace.BalancerFull)
	case *command.BalancerStop:
		return oracle.BalancerIs(trace.BalancerOff)
	case *command.PutSetting:
		return settingFact(r)
	case *command.ConfigureCollectionBalancing:
		if r.Enabled != nil {
			return oracle.BalancedIs(r.NS, *r.Enabled)
		}
	case *command.ClearJumboFlag:
		return oracle.NotJumbo(r.NS, string(r.At))
	case *command.AddShard:
		return oracle.LimitedShard(r.Name, r.MaxBytes)
	case *command.LimitShard:
		return oracle.LimitedShard(r.Name, r.MaxBytes)
	case *command.SplitChunk:
		return oracle.BoundAt(r.NS, string(r.At))
	case *command.MergeChunks:
		return oracle.OneChunk(r.NS, string(r.Min), string(r.Max))
	case *command.MovePrimary:
		return oracle.OwnedBy(r.Database, string(key.Min), r.To)
	case *command.MoveRange:
		return moveFact(r)
	}
	return nil
}

// settingFact is the mode that an operator has given the balancer, or that chunks are cut on
// writes, which nothing in a document means.
func settingFact(r *command.PutSetting) *oracle.Fact {
	if r.ID == oracle.AutoSplit {
		on, said := r.Doc.Lookup("enabled").BooleanOK()
		return oracle.ServiceIs(r.ID, on || !said)
	}
	word, _ := r.Doc.Lookup("mode").StringValueOK()
	mode, said := trace.ParseBalancerMode(word)
	if r.ID != configsvr.BalancerSetting || !said {
		return nil
	}
	return oracle.BalancerIs(mode)
}

// moveFact is where the lower end of a range is when all of it has moved; with an open bound only
// the donor knows what moves.
func moveFact(r *command.MoveRange) *oracle.Fact {
	switch {
	case r.Find != "":
		return oracle.OwnedBy(r.NS, string(r.Find), r.To)
	case r.Min != "":
		return oracle.OwnedBy(r.NS, string(r.Min), r.To)
	}
	return nil
}

// whole carries out an operation on a collection as a whole and holds the answer against the fact.
func (s *session) whole(f *oracle.Fact, do func() client.Answer) client.Answer {
	answered := s.oracle.Asked(f)
	a := do()
	answered(a.Certainty == client.OK)
	return a
}
