package held

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/shard"
)

// lacksEnd says what a shard lacks that should know that a name is no longer that of a sharded
// collection: each of them must, also one that had none of it, or who reads its log alone takes
// that for the whole history of the name (protocol 12). And what a collection was called before it
// was renamed is known wherever documents of it may come to, since the history of retryable writes
// goes by it (protocol 13.6).
func (h *Log) lacksEnd(req *command.ShardsvrParticipate) string {
	ns := req.Collection.NS
	ends := req.Step == command.ParticipantDrop || req.Step == command.ParticipantRename
	if ends && !h.ended(ns) {
		return fmt.Sprintf("no majority has the log entry that marks the end of collection %s", ns)
	}
	if req.Step == command.ParticipantRename && !h.formerly(req.To, ns) {
		return fmt.Sprintf("no majority has a record that %s was formerly named %s", req.To, ns)
	}
	return ""
}

// ended says whether a note that a sharded collection gave up its name came after the operation
// that is under way had taken the critical section. It counts as there if the log does not reach
// back so far.
func (h *Log) ended(ns string) bool {
	for i := h.Committed; i > 0 && h.Entry != nil; i-- {
		e, _, kept := h.Entry(i)
		switch {
		case !kept || shard.WasSharded(ns, e):
			return true
		case shard.Suspends(ns, e):
			return false
		}
	}
	return true
}

// formerly says whether a collection is known to have had another name.
func (h *Log) formerly(ns, name string) bool {
	all, _ := h.document(shard.ParticipationsNS, ns).Lookup("formerly").ArrayOK()
	names, err := all.Values()
	return err == nil && slices.ContainsFunc(names, func(v bson.RawValue) bool {
		text, _ := v.StringValueOK()
		return text == name
	})
}
