// Package placements remembers how much of its log a secondary had when it learned which ranges its
// shard owns, and finds entries since then by which it should have forgotten them.
//
// A secondary learns a placement by asking its primary, and may use it until the log says that it
// is about to change: by a signal about the collection, or by the first entry of another primary,
// which may know of a change whose signal was lost (protocol 4 step 8, 17).
//
// Promise: what a secondary learns and forgets is taken from the events of its node, when it asks
// from the network, and what it should forget from its log.
//
// Refusal: a placement that was forgotten and learned again while a request was served is not
// judged for that request. Of several answers of the primary the newest counts, so a secondary that
// uses an older one of them is not found out.
package placements

import (
	"fmt"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/shard"
)

// Log is that of a member of a shard.
type Log interface {
	Applied() oplog.Time
	Entry(index uint64) (e *oplog.Entry, term uint64, ok bool)
}

// Secondaries are what members know of placements. The zero value is of members that know none.
type Secondaries struct {
	members map[env.NodeID]*member
}

// member has, by collection, the newest entry of its log when it last asked its primary, when it
// asked for the newest answer that it has, and since when it knows the placement that it uses; and
// the newest entry of the primary's log at that answer.
type member struct {
	asked, answered, since map[string]uint64
	told                   map[string]oplog.Time
}

func (s *Secondaries) of(node env.NodeID) *member {
	if s.members == nil {
		s.members = map[env.NodeID]*member{}
	}
	if s.members[node] == nil {
		s.members[node] = &member{
			map[string]uint64{}, map[string]uint64{}, map[string]uint64{}, map[string]oplog.Time{},
		}
	}
	return s.members[node]
}

// Asked notes that a member asks its primary for a placement.
func (s *Secondaries) Asked(node env.NodeID, ns string, log Log) {
	s.of(node).asked[ns] = log.Applied().Index
}

// Answered notes that it has been answered, and up to which entry the primary had written then.
// What was asked before the member lost entries is of no use to it.
func (s *Secondaries) Answered(node env.NodeID, ns string, upto oplog.Time) {
	m := s.of(node)
	m.told[ns] = upto
	if asked, ok := m.asked[ns]; ok {
		m.answered[ns] = max(m.answered[ns], asked)
	}
}

// Installed notes that a member uses a placement from now on. It rests on no later entry than the
// newest when the member asked, if it has asked at all. Wrong says that the member does not have
// what its primary had written when it answered; it is empty when it does.
func (s *Secondaries) Installed(node env.NodeID, ns string, log Log) (wrong string) {
	m := s.of(node)
	if upto := m.told[ns]; upto.Index > 0 {
		wrong = lacks(log, upto)
	}
	m.since[ns] = log.Applied().Index
	if asked, ok := m.answered[ns]; ok {
		m.since[ns] = min(asked, m.since[ns])
	}
	return wrong
}

// lacks says that a log does not have an entry of another one; empty when it has, or has forgotten
// what it had there.
func lacks(log Log, upto oplog.Time) string {
	last := log.Applied().Index
	if upto.Index > last {
		return fmt.Sprintf("the primary had written entry %d, and its own log ends at entry %d",
			upto.Index, last)
	}
	if _, term, kept := log.Entry(upto.Index); kept && term != upto.Term {
		return fmt.Sprintf("the primary had written entry %d of term %d, and its own log has one of "+
			"term %d there", upto.Index, upto.Term, term)
	}
	return ""
}

// Cleared notes that a member knows the placement of a collection no longer.
func (s *Secondaries) Cleared(node env.NodeID, ns string) { delete(s.of(node).since, ns) }

// Undone notes that a member has lost entries, and with them what it knew.
func (s *Secondaries) Undone(node env.NodeID) { delete(s.members, node) }

// Outdated says by which entry a member should have forgotten the placement that it uses, among
// those up to an index, such as that which it had when a request arrived; empty for none.
func (s *Secondaries) Outdated(node env.NodeID, ns string, upto uint64, log Log) string {
	since, knows := s.of(node).since[ns]
	if !knows {
		return ""
	}
	for i := since + 1; i <= upto; i++ {
		e, term, kept := log.Entry(i)
		if why := ""; kept {
			if why = endsPlacement(e, ns); why != "" {
				return fmt.Sprintf("it asked for the placement when its log ended at entry %d, and had "+
					"entry %d of term %d by then, %s", since, i, term, why)
			}
		}
	}
	return ""
}

// endsPlacement says how an entry ends what secondaries know; empty when it does not.
func endsPlacement(e *oplog.Entry, ns string) string {
	if len(e.Ops) == 0 {
		return "by which another primary begins"
	}
	for i := range e.Ops {
		op := &e.Ops[i]
		if op.NS == shard.CacheNS && op.Tag == shard.InvalidateTag && op.ID == string(key.String(ns)) {
			return "which signals a change"
		}
	}
	return ""
}
