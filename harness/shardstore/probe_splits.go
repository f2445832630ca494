package shardstore

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/rpc"
)

const (
	// mostFilled is how many chunks of a collection are filled at most. largestFilled is the largest
	// size of chunks, in bytes, that are filled at all: more would take long.
	mostFilled    = 4
	largestFilled = 4096
	// lookPatience is how long a shard may take to ask whether it may split a chunk.
	lookPatience = 500 * time.Millisecond
)

// fillChunks writes enough to chunks of 4.2 that their shards check whether to split them (protocol
// 13.2). They must do so even if an earlier check has failed.
func (p *prober) fillChunks(t env.Task, c *scenario.Collection) {
	if protocolOf(p.scenario) != protocol.V42 || p.largestChunk(c.NS) > largestFilled {
		return
	}
	policy, err := rpc.CallPrimary[command.SplitPolicy](t, p.sets[configsvr.Name],
		&command.GetSplitPolicy{NS: c.NS}, p.settings.CommandTimeout)
	if err != nil || !policy.AutoSplit {
		return
	}
	table, err := p.Catalog(c.NS)
	if err != nil {
		return
	}
	filled := map[catalog.Version]bool{}
	for k := range int64(max(1, c.Keys)) {
		at, err := table.Collection().Key.Of(documentOf(nameOfKey(*c, k), ""))
		if err != nil {
			panic("shardstore: a document without a shard key: " + err.Error())
		}
		chunk := table.Owner(at)
		if len(filled) < mostFilled && !filled[chunk.Version] && p.fill(t, c, k, chunk) {
			filled[chunk.Version] = true
		}
	}
}

// largestChunk is the largest size that anybody has ever set chunks of a collection to have: a
// shard may go by an older size, which it was told at its last check.
func (p *prober) largestChunk(ns string) int64 {
	bytes := slices.Max(p.chunkSizes())
	scenario.VisitChunkSizes(p.scenario.Commands, func(of string, value *string) {
		if n, err := strconv.ParseInt(*value, 10, 64); of == ns && err == nil {
			bytes = max(bytes, n)
		}
	})
	return bytes
}

var errNotLooked = errors.New("the shard has not asked whether it may split the chunk")

// fill writes to one document until the shard of its chunk has asked whether it may split the
// chunk. It returns false if there is no such document.
func (p *prober) fill(t env.Task, c *scenario.Collection, k int64, chunk catalog.Chunk) bool {
	before, most := p.oracle.SplitsBegun(c.NS), p.largestChunk(c.NS)
	begun := func() bool { return p.oracle.SplitsBegun(c.NS) > before }
	if exists, err := p.grow(t, c, k, 0); err == nil && !exists {
		return false
	}
	what := fmt.Sprintf("have %s look at the chunk %s of %s, which was written to", chunk.Shard,
		p.oracle.Span(string(chunk.Min), string(chunk.Max)), c.NS)
	p.tryKey(t, c.NS, k, what, func() error {
		for n := int64(0); n < most && !begun(); n += leastWritten {
			if _, err := p.grow(t, c, k, n+1); err != nil {
				return err
			}
		}
		for waited := time.Duration(0); !begun(); waited += pollEvery {
			if waited > lookPatience {
				return errNotLooked
			}
			if err := t.Sleep(pollEvery); err != nil {
				return err
			}
		}
		return nil
	})
	return true
}

// leastWritten is how many bytes an update writes at least: the whole document counts.
const leastWritten = 40

// grow writes to a document, and reports whether there is one.
func (p *prober) grow(t env.Task, c *scenario.Collection, k, n int64) (exists bool, err error) {
	a := p.client.Update(t, command.Update{
		NS: c.NS, Filter: only(nameOfKey(*c, k)), Change: set(fmt.Sprint("probe ", n)),
		Concern: command.Majority,
	})
	if a.Certainty != client.OK {
		return false, a.Err
	}
	return a.Written.N > 0, nil
}
