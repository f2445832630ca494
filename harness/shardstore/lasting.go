package shardstore

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// judgeKept has the oracle judge whether what a member answers that it has done will last.
func (c *cluster) judgeKept(id env.NodeID, asked env.Message) {
	member := c.Member(id)
	if member == nil {
		return
	}
	request, ns, lacking := lackedOf(asked, &held{member.Store(), member.Committed().Index})
	if lacking != "" {
		c.oracle.Kept(string(id), request, ns, lacking, c.logsOf(id, member.Committed().Index))
	}
}

// logsOf is up to which index the members of a set have written, and up to which one of them knows
// that a majority has: what it has beyond that may be lost.
func (c *cluster) logsOf(id env.NodeID, committed uint64) string {
	set, _, _ := strings.Cut(string(id), ".")
	var logs []string
	for _, other := range c.Servers() {
		if of, _, _ := strings.Cut(string(other), "."); of != set {
			continue
		}
		if m := c.Member(other); m != nil {
			logs = append(logs, fmt.Sprintf("%s to index %d", other, m.Applied().Index))
		}
	}
	return fmt.Sprintf("the log reaches on %s; %s knows that a majority has it to index %d",
		strings.Join(logs, ", on "), id, committed)
}

// held is what a member has on disk, and the newest entry of it that a majority has.
type held struct {
	store     *store.Store
	committed uint64
}

// lackedOf says what no majority has of what a request asked for and was answered to be done; empty
// when it has all, or when the answer promises nothing that lasts.
func lackedOf(asked any, h *held) (request, ns, lacking string) {
	switch req := asked.(type) {
	case *command.ShardsvrParticipate:
		return "the step " + string(req.Step), req.Collection.NS, h.lacksStep(req)
	case *command.ShardsvrJoinCluster:
		return "that it joins", "", h.lacksOrder(int64(req.At))
	case *command.ShardsvrLeaveCluster:
		return "that it may leave", "", h.lacksOrder(int64(req.At))
	}
	return "", "", ""
}

// lacksStep: while the operation is not over, nobody else blocks its collection, or makes or ends
// one of that name. A step that found nothing to do changes nothing, so what is compared is what
// the member has with what a majority has.
func (h *held) lacksStep(req *command.ShardsvrParticipate) string {
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
		now, kept := h.has(ns, store.Latest), h.has(ns, h.committed)
		if now != kept && now == (req.Step == command.ParticipantCreate) {
			return fmt.Sprintf("%s exists: %t; by what a majority has: %t", ns, now, kept)
		}
	}
	return ""
}

// lacksOrder: a later order stands for an earlier one.
func (h *held) lacksOrder(at int64) string {
	kept, _ := h.document(shard.VersionNS, shard.MembershipID).Lookup("at").Int64OK()
	if kept >= at {
		return ""
	}
	return fmt.Sprintf("the newest order to join or to leave that a majority knows is of %d, not %d",
		kept, at)
}

// released is the newest operation on a collection that a majority knows to be over.
func (h *held) released(ns string) int64 {
	n, _ := h.document(shard.ParticipationsNS, ns).Lookup("released").Int64OK()
	return n
}

func (h *held) document(ns, id string) bson.Raw {
	return h.store.Get(ns, string(key.String(id)), h.committed)
}

func (h *held) has(ns string, at uint64) bool {
	_, exists := h.store.Pattern(ns, at)
	return exists
}
