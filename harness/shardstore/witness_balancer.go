package shardstore

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/balance"
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// witnessRequest tells what a donor was asked for.
func witnessRequest(n env.Node, body env.Message) {
	if req, moves := body.(*command.ShardsvrMoveRange); moves {
		n.Emit(trace.MoveAskedEvent{
			Peer: req.To, NS: req.NS, Min: string(req.Min), Max: string(req.Max),
			Request: req.MigrationOf, Asking: optionsOf(req),
		}.Event())
	}
}

// optionsOf is what a request of a donor says beside what is to move.
func optionsOf(r *command.ShardsvrMoveRange) string {
	text := balance.Asking(r.WaitDelete, r.ForceJumbo == command.ForceBalancer,
		throttleText(r.Throttle), r.ChunkBytes)
	if r.ForceJumbo == command.ForceManual {
		text += " forceJumbo=manual"
	}
	if !r.Balancer {
		text = "operator " + text
	}
	return text
}

// wishOf is what an operator's request asks for.
func wishOf(r *command.MoveRange) oracle.Wish {
	return oracle.Wish{
		Name: r.Name, NS: r.NS, To: r.To,
		Min: string(r.Min), Max: string(r.Max), Find: string(r.Find), Waits: r.WaitDelete,
		Asking: optionsOf(&command.ShardsvrMoveRange{
			WaitDelete: r.WaitDelete, ForceJumbo: r.ForceJumbo, Throttle: r.Throttle,
			ChunkBytes: r.ChunkBytes, Balancer: r.Balancer,
		}),
	}
}

// throttleText is a write concern as the oracles compare it.
func throttleText(w command.WriteConcern) string { return fmt.Sprintf("%+v", w) }

// witnessWeights tells what a shard has said of how much it has.
func witnessWeights(n env.Node, x *env.Exchange, asked, said env.Message) {
	switch req := asked.(type) {
	case *command.ShardsvrGetStatsForBalancing:
		reply, _ := said.(*command.StatsForBalancing)
		for i, of := range req.Collections {
			if reply != nil && i < len(reply.Bytes) {
				n.Emit(trace.WeighedEvent{Peer: setOf(x.To), NS: of.NS, Bytes: reply.Bytes[i]}.Event())
			}
		}
	case *command.DataSize:
		reply, _ := said.(*command.DataSizes)
		for i, of := range req.Ranges {
			if reply != nil && i < len(reply.Bytes) {
				n.Emit(trace.WeighedEvent{
					Peer: setOf(x.To), NS: req.NS, Min: string(of.Min), Max: string(of.Max),
					Bytes: reply.Bytes[i],
				}.Event())
			}
		}
	}
}

// Holdings are what the shards own of a collection.
func (c *cluster) Holdings(ns string) ([]target.Holding, error) {
	holdings, err := c.Cluster.Holdings(ns)
	if err != nil {
		return nil, err
	}
	all := make([]target.Holding, len(holdings))
	for i, h := range holdings {
		all[i] = target.Holding{
			Shard:     h.Shard,
			Documents: h.Documents,
			Bytes:     h.Bytes,
			Chunks:    h.Chunks,
		}
	}
	return all, nil
}

// Moving is how many migrations of the balancer have not ended.
func (c *cluster) Moving() int { return len(c.balancing.underWay) }

// Chooses reports whether the balancer runs, or an operator does anything that it has to see to.
func (c *cluster) Chooses() bool {
	forBalancer := func(c scenario.Command) bool { return adminCommands[c.Do].balances }
	return c.scenario.Balancer || slices.ContainsFunc(c.scenario.Commands, forBalancer)
}
