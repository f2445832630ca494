package shardstore

import (
	"fmt"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/replset"
)

// Rule: a member acknowledges an entry, or votes, when its disk keeps that whatever happens to its
// machine; a primary announces as committed what a majority of the disks of its set keep. Judged
// from outside: the disks are read, and nobody is asked.

// disks are what is known of the disks, and up to where primaries have announced what is committed.
type disks struct {
	durable   map[env.NodeID]*replset.Durable
	announced map[string]uint64 // by replica set
}

// Overheard judges a message between members of a replica set.
func (c *cluster) Overheard(from env.NodeID, message env.Message) {
	r, ok := message.(*replset.Raft)
	m := c.Member(from)
	if !ok || m == nil {
		return
	}
	if r.Acknowledges() {
		if lacking := m.Unkept(r, c.disk(from)); lacking != "" {
			c.oracle.AcknowledgedUnkept(string(from), lacking)
		}
	}
	at, says := m.Announced(r)
	if says && m.Leading() && at.Index > c.disks.announced[m.Name()] {
		c.disks.announced[m.Name()] = at.Index
		c.judgeAnnounced(from, m.Name(), at)
	}
}

func (c *cluster) judgeAnnounced(from env.NodeID, set string, at oplog.Time) {
	members, keep := c.Topology().MembersOf(set), 0
	for _, id := range members {
		if c.disk(id).Has(at) {
			keep++
		}
	}
	if keep <= len(members)/2 {
		c.oracle.AnnouncedUnkept(string(from), fmt.Sprintf(
			"entry %d of term %d is on %d of %d disks", at.Index, at.Term, keep, len(members)))
	}
}

// disk is what a member's disk keeps now.
func (c *cluster) disk(id env.NodeID) *replset.Durable {
	d := c.disks.durable[id]
	if d == nil {
		d = &replset.Durable{}
		c.disks.durable[id] = d
	}
	d.Read(func(file string, from int) ([]byte, int) { return c.world.Durable(id, file, from) })
	return d
}
