package shardstore

import (
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
)

// witnessSplits tells, as the server answers, where a chunk can be cut, and that it was.
func witnessSplits(
	n env.Node, x *env.Exchange, body env.Message, said *rpc.Envelope, code errcode.Code,
) {
	switch req := body.(type) {
	case *command.SplitVector:
		if said == nil || code != "" || req.Limit != 0 || !isConfig(x.From) {
			return
		}
		if reply, ok := said.Body.(*command.SplitVectorReply); ok {
			n.Emit(trace.SplitFoundEvent{
				Peer: string(x.From), NS: req.NS, Min: string(req.Min), Max: string(req.Max),
				Chunks:     pieces(req.Min, req.Max, reply.Points),
				ChunkBytes: req.ChunkBytes, Arrived: int64(x.Began),
			}.Event())
		}
	case *command.CommitChunkSplit:
		n.Emit(trace.SplitMadeEvent{
			Peer: string(x.From), NS: req.NS, Min: string(req.Min), Max: string(req.Max),
			Chunks: pieces(req.Min, req.Max, req.At), Code: string(code),
		}.Event())
	}
}

// witnessSplitter tells, as the caller learns of it, what it has had cut, or may cut itself.
func witnessSplitter(n env.Node, x *env.Exchange, body env.Message, said *rpc.Envelope) {
	switch req := body.(type) {
	case *command.ShardsvrSplitChunk:
		if isConfig(x.From) {
			n.Emit(trace.SplitAskedEvent{
				Peer: setOf(x.To), NS: req.NS, Min: string(req.Min), Max: string(req.Max),
				Chunks: pieces(req.Min, req.Max, req.At),
			}.Event())
		}
	case *command.GetSplitPolicy:
		if said == nil || said.Err != nil || x.Err != nil {
			return
		}
		if policy, ok := said.Body.(*command.SplitPolicy); ok && policy.AutoSplit {
			n.Emit(trace.SplitBegunEvent{
				NS: req.NS, ChunkBytes: policy.ChunkBytes, Sent: int64(x.Began),
			}.Event())
		}
	}
}

func isConfig(id env.NodeID) bool { return setOf(id) == configsvr.Name }

// setOf is the replica set of a member.
func setOf(id env.NodeID) string {
	set, _, _ := strings.Cut(string(id), ".")
	return set
}

// pieces are the bounds that points cut out of a range.
func pieces(lo, hi key.Key, points []key.Key) (all []trace.Chunk) {
	for _, at := range append(points[:len(points):len(points)], hi) {
		all = append(all, trace.Chunk{Min: string(lo), Max: string(at)})
		lo = at
	}
	return all
}
