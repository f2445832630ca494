package held

import (
	"fmt"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/migration"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
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

// LacksForCommit says what a donor's successor will look for on record and not find when the config
// server is asked to commit now: the migration, and the deletion of the range that waits for its
// outcome (protocol 9.1); in 4.2, which has no such records, that a commit is in progress (protocol
// 2.2).
func (h *Log) LacksForCommit(migrationID string, records bool) string {
	switch task, _ := rangedel.Decode(h.document(rangedel.Namespace, migrationID)); {
	case !records && h.commits() == 0:
		return "it has no commit in progress on record"
	case !records:
	case h.document(migration.CoordinatorsNS, migrationID) == nil:
		return fmt.Sprintf("it does not have migration %s on record", migrationID)
	case !task.Pending:
		return fmt.Sprintf("no deletion waits for the outcome of migration %s", migrationID)
	}
	return ""
}

// LacksForTaskOp says what a donor's successor would not find on record when the recipient is to
// give up the deletion of the range now: that the migration was committed (protocol 9.1), unless
// its collection was dropped.
func (h *Log) LacksForTaskOp(req *command.RangeTaskOp) string {
	decision, _ := h.document(migration.CoordinatorsNS, req.Migration).Lookup("decision").
		StringValueOK()
	if req.Op != "delete" || migration.Decision(decision) == migration.Committed ||
		!h.has(req.NS, store.Latest) {
		return ""
	}
	return fmt.Sprintf("the decision of migration %s on record is %q", req.Migration, decision)
}

// commits is how many commits are in progress by the record of 4.2.
func (h *Log) commits() int64 {
	n, _ := h.document(shard.VersionNS, "minOpTimeRecovery").Lookup("minOpTimeUpdaters").AsInt64OK()
	return n
}
