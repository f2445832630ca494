// Package disks compares what members of replica sets acknowledge, to each other and to those who
// write, with what is durable on their disks.
//
// Promise: it reads the disks from outside, and asks no member what it has written.
//
// Refusal: it does not say what a crash would have done. A member that acknowledges too early is
// reported whether or not its machine ever crashes.
package disks

import (
	"fmt"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/replset"
)

// Rule: a member acknowledges an entry, or grants a vote, when that is durable on its own disk; a
// primary announces an entry as committed when it is durable on a majority of the disks of its set,
// and acknowledges a write when its entry is durable on as many as the write concern wants.

// Disks are what is known of the disks of a cluster, and up to where primaries have announced what
// is committed.
type Disks struct {
	read      func(id env.NodeID, file string, from int) (b []byte, replaced int)
	durable   map[env.NodeID]*replset.Durable
	announced map[string]uint64 // by replica set
	// wanted are the write concerns of requests to move a range, by the name of the request.
	wanted map[string]command.WriteConcern
}

// New has the disks read that way: what of a file is durable, from an offset on, and how often the
// file was replaced as a whole.
func New(read func(id env.NodeID, file string, from int) (b []byte, replaced int)) *Disks {
	return &Disks{
		read: read, durable: map[env.NodeID]*replset.Durable{}, announced: map[string]uint64{},
		wanted: map[string]command.WriteConcern{},
	}
}

// Wanted notes which write concern a donor is asked for, for each batch on the recipient.
func (d *Disks) Wanted(request string, concern command.WriteConcern) { d.wanted[request] = concern }

// Copied says what Written does of an entry that a recipient has written for a request. A concern
// of one member asks for no disk.
func (d *Disks) Copied(request string, at oplog.Time, set []env.NodeID) string {
	wants := d.wanted[request]
	if !wants.Majority && wants.W <= 1 {
		return ""
	}
	return d.Written(at, wants, set)
}

// Acknowledged says what a member acknowledges by a message although its disk does not keep it; ""
// when there is nothing.
func (d *Disks) Acknowledged(id env.NodeID, m *replset.Member, r *replset.Raft) string {
	if !r.Acknowledges() {
		return ""
	}
	return m.Unkept(r, d.of(id))
}

// Announced says what a primary announces as committed although too few of its set's disks keep it;
// "" when there is nothing, or it was announced before.
func (d *Disks) Announced(m *replset.Member, r *replset.Raft, set []env.NodeID) string {
	at, says := m.Announced(r)
	if !says || !m.Leading() || at.Index <= d.announced[m.Name()] {
		return ""
	}
	d.announced[m.Name()] = at.Index
	return d.fewer(at, len(set)/2+1, set)
}

// Written says which entry is acknowledged to those who wrote it although fewer of its set's disks
// keep it than their write concern wants; "" when enough do. What is on a majority of disks is not
// rolled back, so a concern below that is not judged.
func (d *Disks) Written(at oplog.Time, wants command.WriteConcern, set []env.NodeID) string {
	majority := len(set)/2 + 1
	switch {
	case wants.Majority:
		wants.W = majority
	case wants.W < majority:
		return ""
	}
	return d.fewer(at, wants.W, set)
}

// fewer says that an entry is durable on fewer disks than it should be; "" when it is on enough.
func (d *Disks) fewer(at oplog.Time, should int, set []env.NodeID) string {
	keep := 0
	for _, id := range set {
		if d.of(id).Has(at) {
			keep++
		}
	}
	if keep >= should {
		return ""
	}
	return fmt.Sprintf("entry %d of term %d is durable on %d of %d disks, and must be on %d",
		at.Index, at.Term, keep, len(set), should)
}

// of is what a member's disk keeps now.
func (d *Disks) of(id env.NodeID) *replset.Durable {
	known := d.durable[id]
	if known == nil {
		known = &replset.Durable{}
		d.durable[id] = known
	}
	known.Read(func(file string, from int) ([]byte, int) { return d.read(id, file, from) })
	return known
}
