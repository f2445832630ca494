package held

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
)

// Differs says how a routing table that a member of the config server has answered with is another
// one than its log has, as far as a majority has that; empty when it is the same.
func (h *Log) differsTable(asked *command.GetRoutingTable, told *command.RoutingUpdate) string {
	table, err := h.Tables.Read(h.Store, asked.NS, h.Committed)
	if err != nil {
		return fmt.Sprintf("its log says: %v", err)
	}
	if told.Collection != table.Collection() {
		return fmt.Sprintf("it says %+v; its log says %+v", told.Collection, table.Collection())
	}
	due := chunksDue(table, asked, told)
	for i := range max(len(due), len(told.Chunks)) {
		switch {
		case i >= len(told.Chunks):
			return fmt.Sprintf("it leaves out the chunk %v of its log", due[i])
		case i >= len(due):
			return fmt.Sprintf("it adds the chunk %v", told.Chunks[i])
		case !same(&told.Chunks[i], &due[i]):
			return fmt.Sprintf("it says %v; its log says %v", told.Chunks[i], due[i])
		}
	}
	return ""
}

func chunksDue(
	table *catalog.Table, asked *command.GetRoutingTable, told *command.RoutingUpdate,
) []catalog.Chunk {
	if told.Full {
		return slices.AppendSeq(make([]catalog.Chunk, 0, table.Len()), table.Chunks())
	}
	return table.Since(asked.Since)
}

func same(a, b *catalog.Chunk) bool {
	return a.Range == b.Range && a.Shard == b.Shard && a.Version == b.Version &&
		a.Jumbo == b.Jumbo && a.OnCurrentShardSince == b.OnCurrentShardSince &&
		slices.Equal(a.History, b.History)
}
