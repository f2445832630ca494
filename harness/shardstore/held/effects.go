package held

import (
	"fmt"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/migration"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/shard"
)

// lacksEffect is for requests of recoveries and fences, whose effect lasts: who was answered goes
// on as if nothing older could come any more.
func (h *Log) lacksEffect(asked env.Message) string {
	switch req := asked.(type) {
	case *command.EnsureChunkVersionIsGreaterThan:
		return h.lacksNewer(req)
	case *command.AdvanceTxn:
		return h.lacksTxn(req.Lsid, req.Txn)
	case *command.DropClonedData:
		return h.lacksTxn(req.Lsid, req.Txn+1)
	case *command.RangeTaskOp:
		return h.lacksTaskOp(req)
	case *command.RecvChunkReleaseCritSec:
		if h.document(migration.RecipientsNS, req.Migration) != nil {
			return fmt.Sprintf("the recipient still has migration %s on record", req.Migration)
		}
	}
	return ""
}

// lacksNewer: what a donor that could not learn the outcome asks for (protocol 9.1). A late commit
// names the version that its migration began with, so every chunk of the range has to have a newer
// one, be it one that holds the whole range or its parts.
func (h *Log) lacksNewer(req *command.EnsureChunkVersionIsGreaterThan) string {
	table, err := h.Tables.Read(h.Store, req.NS, h.Committed)
	if err != nil || table.Collection().UUID != req.UUID {
		return "" // dropped: no commit finds it
	}
	for c := range table.Overlapping(key.Range{Min: req.Min, Max: req.Max}) {
		if c.Version.Compare(req.Version) <= 0 {
			return fmt.Sprintf("chunk %s has version %s, which is not newer than %s",
				c.Range, c.Version, req.Version)
		}
	}
	return ""
}

func (h *Log) lacksTxn(lsid string, txn int64) string {
	kept, _ := h.document(shard.SessionsNS, lsid).Lookup("txn").Int64OK()
	if kept >= txn {
		return ""
	}
	return fmt.Sprintf("session %s is at transaction %d, not %d", lsid, kept, txn)
}

// lacksTaskOp: there may be no task, but there is none that it was asked to change and did not.
func (h *Log) lacksTaskOp(req *command.RangeTaskOp) string {
	doc := h.document(rangedel.Namespace, req.Migration)
	if doc == nil {
		return ""
	}
	task, err := rangedel.Decode(doc)
	switch {
	case err != nil || task.UUID != req.UUID:
		return ""
	case req.Op == "delete":
		return fmt.Sprintf("the task of migration %s to delete a range is still there",
			req.Migration)
	case req.Op == "ready" && task.Pending:
		return fmt.Sprintf("the task of migration %s to delete a range still waits for the outcome",
			req.Migration)
	}
	return ""
}
