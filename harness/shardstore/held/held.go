// Package held compares what a server has answered with the log of its replica set's member: what
// the log lacks of it, and how a routing table differs from the log's.
//
// Promise: it goes by what a majority of the set has, as documents, and by the request alone; no
// server says what it has done.
//
// Refusal: it decides neither which answers are to last, nor when they are looked at.
package held

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/migration"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// Log is what a member has on disk, the index of the newest entry of it that a majority has, how to
// get an entry, and who reads routing tables of it. Without Entry, no entry is kept.
type Log struct {
	Store     *store.Store
	Committed uint64
	Entry     func(index uint64) (e *oplog.Entry, term uint64, kept bool)
	Tables    *configsvr.TableReader
}

// Lacks says what a request was about, where its name does not, and what no majority has of what it
// asked for and was answered to be done; lacking is empty when it has all, or when that cannot be
// told by documents.
func (h *Log) Lacks(asked env.Message) (about, lacking string) {
	switch req := asked.(type) {
	case *command.ShardsvrParticipate:
		return "the step " + string(req.Step), h.lacksStep(req)
	case *command.ShardsvrJoinCluster:
		return "that it joins", h.lacksOrder(int64(req.At))
	case *command.ShardsvrLeaveCluster:
		return "that it may leave", h.lacksConsent(int64(req.At))
	}
	return "", h.lacksEffect(asked)
}

// LacksEntry is for an entry that was there, or was written, before the answer.
func (h *Log) LacksEntry(how string, index uint64) string {
	if index <= h.Committed {
		return ""
	}
	return fmt.Sprintf("%s entry %d in its log, and a majority has what comes up to entry %d",
		how, index, h.Committed)
}

// lacksStep: while the operation is not over, nobody else blocks its collection, or makes or ends
// one of that name. A step that found nothing to do changes nothing, so what is compared is what
// the member has with what a majority has.
func (h *Log) lacksStep(req *command.ShardsvrParticipate) string {
	ns := req.Collection.NS
	if h.released(ns) >= req.Operation {
		return ""
	}
	switch req.Step {
	case command.ParticipantRelease:
		return fmt.Sprintf("a majority knows of no operation on %s after number %d that is over",
			ns, h.released(ns))
	case command.ParticipantBlock:
		if h.document(shard.SectionsNS, ns) == nil {
			return "a majority knows of nobody that blocks " + ns
		}
	case command.ParticipantCreate, command.ParticipantDrop, command.ParticipantRename:
		now, kept := h.has(ns, store.Latest), h.has(ns, h.Committed)
		if now != kept && now == (req.Step == command.ParticipantCreate) {
			return fmt.Sprintf("%s exists: %t; by what a majority has: %t", ns, now, kept)
		}
	}
	return h.lacksEnd(req)
}

// lacksConsent: an order to leave that is repeated while the shard drains finds its consent there,
// as no order to join is younger than the first of them.
func (h *Log) lacksConsent(at int64) string {
	if leaving, _ := h.membership().Lookup("leaving").BooleanOK(); leaving {
		return h.owes()
	}
	return h.lacksOrder(at)
}

// owes: who leaves has no migration on record, and no deletion that waits for the outcome of one:
// nobody would end it later. A majority must have that, too, or a failover brings it back. An
// operation on a whole collection may have begun since; no shard leaves before it is over.
func (h *Log) owes() (owed string) {
	for _, ns := range []string{migration.CoordinatorsNS, migration.RecipientsNS, shard.SectionsNS} {
		h.Store.Scan(ns, h.Committed, func(id string, doc bson.Raw) bool {
			if operation, _ := doc.Lookup("blockReads").BooleanOK(); operation {
				return true
			}
			owed = fmt.Sprintf("it still has %s of %s", key.Key(id), ns)
			return false
		})
	}
	h.Store.Scan(rangedel.Namespace, h.Committed, func(_ string, doc bson.Raw) bool {
		if task, err := rangedel.Decode(doc); err == nil && task.Pending {
			owed = fmt.Sprintf("the deletion of a range waits for the outcome of migration %s",
				task.Migration)
		}
		return owed == ""
	})
	return owed
}

// lacksOrder: a later order stands for an earlier one.
func (h *Log) lacksOrder(at int64) string {
	kept, _ := h.membership().Lookup("at").Int64OK()
	if kept >= at {
		return ""
	}
	return fmt.Sprintf("the newest order to join or to leave that a majority knows is of %s, not %s",
		hlc.Timestamp(kept), hlc.Timestamp(at))
}

func (h *Log) membership() bson.Raw { return h.document(shard.VersionNS, shard.MembershipID) }

// released is the newest operation on a collection that a majority knows to be over.
func (h *Log) released(ns string) int64 {
	n, _ := h.document(shard.ParticipationsNS, ns).Lookup("released").Int64OK()
	return n
}

func (h *Log) document(ns, id string) bson.Raw {
	return h.Store.Get(ns, string(key.String(id)), h.Committed)
}

func (h *Log) has(ns string, at uint64) bool {
	_, exists := h.Store.Pattern(ns, at)
	return exists
}
