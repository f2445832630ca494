package shardstore

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// What operators ask; the answers are held against what is.
var (
	_ = obeys(commandkind.BalancerStatus, asks(operatorConnection.askMode))
	_ = obeys(commandkind.CollectionStatus, asks(operatorConnection.askStatus))
	_ = obeys(commandkind.ListShards, asks(operatorConnection.listShards))
	_ = obeys(commandkind.ListChunks, asks(operatorConnection.listChunks))
	_ = obeys(commandkind.CollectionStats, asks(operatorConnection.collectionStats))
)

func asks(do func(o operatorConnection, t env.Task, ns string)) adminCommand {
	return adminCommand{
		orders: func(o operatorConnection, c *scenario.Command, _ int) []func(env.Task) {
			return []func(env.Task){func(t env.Task) { do(o, t, c.Name) }}
		},
	}
}

func (o operatorConnection) askMode(t env.Task, _ string) {
	told := o.oracle.Asks(oracle.BalancerMode())
	status, err := rpc.CallPrimary[command.BalancerStatusReply](t, o.sets[configsvr.Name],
		&command.BalancerStatus{}, o.settings.CommandTimeout)
	if err != nil {
		told("")
		return
	}
	told(string(status.Mode))
}

func (o operatorConnection) askStatus(t env.Task, ns string) {
	told := o.oracle.AsksStatus(ns, func() map[string]int64 { return o.weights(ns) })
	status, err := rpc.CallPrimary[command.BalancerCollectionStatusReply](t,
		o.sets[configsvr.Name], &command.BalancerCollectionStatus{NS: ns},
		o.settings.CommandTimeout)
	if err != nil {
		told("", false)
		return
	}
	told(violationOf(status), true)
}

// violationOf is the first violation that was told, unless the rest of the answer denies it.
func violationOf(status *command.BalancerCollectionStatusReply) string {
	if status.Compliant != (status.FirstViolation == "") {
		return fmt.Sprintf("compliant %t, first violation %q", status.Compliant,
			status.FirstViolation)
	}
	return status.FirstViolation
}

// weights are what the shards have of a collection, orphans left out.
func (o operatorConnection) weights(ns string) map[string]int64 {
	all := map[string]int64{}
	holdings, err := o.cluster.Cluster.Holdings(ns)
	if err != nil {
		return all
	}
	for _, h := range holdings {
		all[h.Shard] = h.Weight
	}
	return all
}

// config reads a collection of the database config through the first router, after a majority has
// confirmed what the primary had when the operator began to ask.
func (o operatorConnection) config(t env.Task, ns string) ([]bson.Raw, error) {
	if _, err := rpc.CallPrimary[command.BalancerStatusReply](t, o.sets[configsvr.Name],
		&command.BalancerStatus{}, o.settings.CommandTimeout); err != nil {
		return nil, err
	}
	batch, err := rpc.Call[command.Batch](t, o.ep, o.Topology().RouterNodes()[0],
		&command.ReadCatalog{NS: ns}, o.settings.CommandTimeout)
	if err != nil {
		return nil, err
	}
	return batch.Docs, nil
}

func (o operatorConnection) listShards(t env.Task, _ string) {
	told := o.oracle.Asks(oracle.ShardList())
	docs, err := o.config(t, configsvr.Shards)
	if err != nil {
		told("")
		return
	}
	var lines []string
	for _, doc := range docs {
		s := readShard(doc)
		lines = append(lines, oracle.ShardLine(s.Name, s.Draining, s.MaxBytes, s.Zones))
	}
	slices.Sort(lines)
	told(strings.Join(lines, "; "))
}

// listChunks finds out first which incarnation has the name, as config.chunks goes by that.
func (o operatorConnection) listChunks(t env.Task, ns string) {
	told := o.oracle.Asks(oracle.ChunkList(ns))
	answer := ""
	defer func() { told(answer) }()
	colls, err := o.config(t, configsvr.Collections)
	if err != nil {
		return
	}
	of := slices.IndexFunc(colls, func(doc bson.Raw) bool {
		name, _ := doc.Lookup("_id").StringValueOK()
		return name == ns
	})
	if of < 0 {
		return
	}
	coll, err := catalog.DecodeCollection(colls[of])
	if err != nil || coll.Unsharded {
		return
	}
	docs, err := o.config(t, configsvr.Chunks)
	if err == nil {
		answer = o.chunkLines(coll, docs)
	}
}

// chunkLines are those of the collection's chunks; empty when one cannot be read.
func (o operatorConnection) chunkLines(coll catalog.Collection, docs []bson.Raw) string {
	var chunks []catalog.Chunk
	for _, doc := range docs {
		if uuid, _ := doc.Lookup("uuid").StringValueOK(); uuid != coll.UUID {
			continue
		}
		c, err := catalog.DecodeChunk(coll, doc)
		if err != nil {
			return "a chunk that cannot be read: " + err.Error()
		}
		chunks = append(chunks, c)
	}
	slices.SortFunc(chunks, func(a, b catalog.Chunk) int {
		return strings.Compare(string(a.Min), string(b.Min))
	})
	var lines []string
	for _, c := range chunks {
		lines = append(lines, o.oracle.ChunkLine(string(c.Min), string(c.Max), c.Shard, c.Jumbo))
	}
	return strings.Join(lines, "; ")
}

// collectionStats are held against what the shards have on disk when the answer is there.
func (o operatorConnection) collectionStats(t env.Task, ns string) {
	told := o.oracle.AsksExtents(ns)
	stats, err := rpc.Call[command.CollStatsReply](t, o.ep, o.Topology().RouterNodes()[0],
		&command.CollStats{NS: ns}, o.settings.AttemptTimeout)
	if err != nil {
		told("", "")
		return
	}
	lines := []string{shardedLine(stats.Sharded)}
	for _, x := range stats.Shards {
		lines = append(lines, oracle.ExtentLine(x.Shard, x.Chunks, x.Documents, x.Bytes))
	}
	told(strings.Join(lines, "; "), o.extents(ns))
}

func shardedLine(is bool) string { return fmt.Sprintf("sharded %t", is) }

// extents are what the primaries of a collection's owners have of it; empty when one has none.
func (o operatorConnection) extents(ns string) string {
	table, err := o.Catalog(ns)
	if err != nil {
		return ""
	}
	lines := []string{shardedLine(!table.Collection().Unsharded)}
	for _, name := range slices.Sorted(slices.Values(table.Shards())) {
		m := o.Member(o.Primary(name))
		if m == nil {
			return ""
		}
		documents, bytes := m.Store().Extent(ns)
		lines = append(lines, oracle.ExtentLine(name, table.Count(name), documents, bytes))
	}
	return strings.Join(lines, "; ")
}
