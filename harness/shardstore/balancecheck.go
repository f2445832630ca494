package shardstore

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/checkers/automerge"
	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/harness/shardstore/merges"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/settings"
)

// restedRounds is after how many rounds that have found nothing to do nothing may be left: one of
// them may have missed a shard's answer.
const restedRounds = 5

// awaitBalance waits until a whole round has found nothing to do and nothing is lacking.
func (o operatorConnection) awaitBalance(t env.Task) {
	sessions := o.sessionsEpoch()
	for round := 1; ; round++ {
		for !o.Ready() && t.Sleep(pollEvery) == nil {
			// Rounds leave out who cannot answer, and are quicker than elections.
		}
		o.balancing.settled = false
		for !o.balancing.settled {
			if t.Sleep(pollEvery) != nil {
				return
			}
		}
		last := round == restedRounds
		if o.balanced(last) && o.sessionsCut(sessions, last) || last {
			return
		}
	}
}

// sessionsEpoch is the epoch of the sessions' collection, "" while there is none.
func (o operatorConnection) sessionsEpoch() string {
	table, err := o.Catalog(catalog.Sessions)
	if err != nil {
		return ""
	}
	return table.Collection().Epoch
}

// sessionsCut judges, as balanced does, whether the sessions' collection has as many chunks as it
// is to have, if it was there before the rounds began that have been waited for.
func (o operatorConnection) sessionsCut(epoch string, last bool) bool {
	table, err := o.Catalog(catalog.Sessions)
	if err != nil || epoch == "" {
		return true
	}
	asked := o.settings.SessionChunks
	for _, s := range o.valuesOfSettings() {
		asked = min(asked, s.SessionChunks)
	}
	coll := table.Collection()
	if coll.Epoch != epoch || coll.Unsharded || coll.NoBalance || !coll.AllowMigrations ||
		table.Len() >= asked {
		return true
	}
	if last {
		o.oracle.Rested(coll.NS, chunkRows(table), fmt.Sprintf(
			"the collection of sessions has %d chunks, and is to have %d", table.Len(), asked))
	}
	return false
}

// The longest interval and pause of the automerger that are waited for, and for how long it has not
// merged anything that it could when it is at fault: several intervals, and one pause that had
// begun before pauses were made short.
const (
	mergeInterval = 5 * time.Second
	mergePause    = 15 * time.Second
	mergePatience = mergePause + 4*mergeInterval
)

// awaitMerges waits until chunks are merged that can be, where that is done soon.
func (o operatorConnection) awaitMerges(t env.Task) {
	left := o.mergeable(true)
	if left.NS == "" || !o.mergesSoon() || !o.leisure() {
		return
	}
	o.retryUntil(t, &command.PutSetting{ID: "automerge"}) // on, as if nobody had set anything
	on := true
	for i := range o.scenario.Collections {
		if c := &o.scenario.Collections[i]; !o.unsharded(c) {
			o.retryUntil(t, &command.ConfigureCollectionBalancing{NS: c.NS, AutoMerge: &on})
		}
	}
	if short := 50 * time.Millisecond; o.settings.MergePause > short {
		o.set(t, o.Members(configsvr.Name), "autoMergerThrottlingMS", short.String())
	}
	term, since := uint64(0), o.world.Now()
	for left.NS != "" && o.leisure() && t.Sleep(pollEvery) == nil {
		now := o.mergeable(false)
		m := o.Member(o.Primary(configsvr.Name))
		if m == nil || m.Term() != term || now != left || !merges.Allowed(m.Store()) {
			since = o.world.Now() // who leads, and what is left or allowed, has changed
		}
		if left = now; m != nil {
			term = m.Term()
		}
		if waited := o.world.Now().Sub(since); left.NS != "" && waited > mergePatience {
			o.merges.Judge.NotMerged(left, waited, o.oracle.Span)
			return
		}
	}
}

// leisure reports whether there is time to wait for merges.
func (o operatorConnection) leisure() bool {
	return o.world.Deadline().Sub(o.world.Now()) > mergePatience
}

// mergesSoon reports whether chunks are merged automatically again and again in as little time as a
// run has, by all values that the settings have had.
func (o operatorConnection) mergesSoon() bool {
	return protocolOf(o.scenario).MergesByItself() &&
		!slices.ContainsFunc(o.valuesOfSettings(), func(s settings.Settings) bool {
			return s.MergeInterval > mergeInterval || s.MergePause > mergePause
		})
}

// mergeable is the first chunk that could be merged with its neighbour of all collections that the
// balancer may touch, also of those that are excluded from merges if so desired; the zero Left for
// none.
func (o operatorConnection) mergeable(excluded bool) (left automerge.Left) {
	before := o.Time().Millis() - o.longestHistory().Milliseconds()
	for i := range o.scenario.Collections {
		table, err := o.Catalog(o.scenario.Collections[i].NS)
		if err != nil || left.NS != "" || before <= 0 {
			continue
		}
		coll := table.Collection()
		if coll.Unsharded || coll.NoBalance || !coll.AllowMigrations || coll.Defragment ||
			coll.NoAutoMerge && !excluded {
			continue
		}
		var rows []trace.Chunk
		for at := range table.Chunks() {
			rows = append(rows, trace.Chunk{
				Min: string(at.Min), Max: string(at.Max), Shard: at.Shard, Jumbo: at.Jumbo,
				Since: uint64(at.OnCurrentShardSince),
			})
		}
		left = automerge.FirstLeft(coll.NS, rows, o.oracle.Cluster(), uint64(hlc.At(before)))
	}
	return left
}

// balanced judges every collection that the balancer may move, and reports what is lacking if it is
// the last time.
func (o operatorConnection) balanced(last bool) bool {
	for _, c := range o.scenario.Collections {
		rest := o.lies(&c)
		if rest == nil {
			continue
		}
		if lacking := rest.Lacking(o.oracle.Cluster(), o.oracle.Span); lacking != "" {
			if last {
				o.oracle.Rested(rest.NS, rest.Table(), lacking)
			}
			return false
		}
	}
	return true
}

// lies is how a collection lies on the shards; nil for one that the balancer leaves alone, and when
// nobody knows.
func (o operatorConnection) lies(c *scenario.Collection) *endstate.BalanceState {
	table, err := o.Catalog(c.NS)
	if err != nil || c.Unsharded {
		return nil
	}
	coll := table.Collection()
	holdings, err := o.cluster.Cluster.Holdings(c.NS)
	if err != nil || coll.Unsharded || coll.NoBalance || !coll.AllowMigrations || coll.Defragment {
		return nil
	}
	rest := &endstate.BalanceState{
		NS:         c.NS,
		BySize:     protocolOf(o.scenario).BalancesBySize(),
		ChunkBytes: coll.ChunkBytes,
		Bytes:      map[string]int64{},
	}
	if rest.ChunkBytes == 0 {
		rest.ChunkBytes = slices.Max(o.chunkSizes())
	}
	for chunk := range table.Chunks() {
		rest.Chunks = append(rest.Chunks, endstate.PlacedChunk{
			Min:   string(chunk.Min),
			Max:   string(chunk.Max),
			Shard: chunk.Shard,
			Jumbo: chunk.Jumbo,
		})
	}
	for _, h := range holdings {
		rest.Bytes[h.Shard] = h.Weight
	}
	return rest
}

// chunkSizes are the sizes that a chunk of a collection without one of its own may have: an answer
// may have been lost, so nobody knows which command was the last.
func (o operatorConnection) chunkSizes() []int64 {
	all := []int64{int64(o.settings.MaxChunkBytes)}
	scenario.VisitChunkSizes(o.scenario.Commands, func(ns string, value *string) {
		if n, err := strconv.ParseInt(*value, 10, 64); ns == "" && err == nil && n > 0 {
			all = append(all, n)
		}
	})
	return all
}
