package explain

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/sim"
)

// disturbances are the failures and faults of a replica set between two events.
func (s *slice) disturbances(set string, first, last int) {
	for i := first; i <= last; i++ {
		if w := disturbance(&s.events[i], set); w > 0 {
			s.choose(i, w)
		}
	}
	s.lasting(set, first)
}

// successions are the new primaries of the replica sets of a migration while it ran: where the
// contradiction is how far its parties were, these had to go on.
func (s *slice) successions(sets []string, first, last int, id string) {
	for i := first; i <= last && len(s.docs) == 0 && namesIt(s.about.Text, id); i++ {
		if e := &s.events[i]; e.Kind == trace.Elected && slices.Contains(sets, e.Shard) {
			s.choose(i, Close)
		}
	}
}

// causeTime is how long before an election its cause is looked for.
const causeTime = int64(2 * time.Second)

// around are the positions of the first and the last event so near to one in time that they may
// have to do with it. It does not go by their number: how many events lie between two depends on
// what other clients and shards do meanwhile.
func (s *slice) around(i int) (first, last int) {
	at := s.events[i].At
	first = sort.Search(i, func(j int) bool { return s.events[j].At >= at-causeTime })
	after := sort.Search(len(s.events), func(j int) bool { return s.events[j].At > at+causeTime })
	return first, after - 1
}

// lasting are the faults that had begun before an event and were repaired after it.
func (s *slice) lasting(set string, at int) {
	began := map[int]int{}
	for i := range s.events {
		switch e := &s.events[i]; {
		case e.Kind == trace.Fault && i < at && aimsAt(e.Peer, set):
			began[e.FaultNumber()] = i
		case e.Kind == trace.Repair && i < at:
			delete(began, e.FaultNumber())
		case e.Kind == trace.Repair:
			if since, ok := began[e.FaultNumber()]; ok {
				s.choose(since, Ambient)
			}
		}
	}
}

// disturbance is how much an event disturbs a replica set; 0 when it does not.
func disturbance(e *trace.Event, set string) Weight {
	here := strings.HasPrefix(e.Node, set+".")
	switch e.Kind {
	case trace.NodeDown, trace.ProcessAborted:
		if here {
			return Telling
		}
	case trace.Elected:
		if e.Shard == set && e.Term > 1 {
			return Telling
		}
	case trace.SteppedDown, trace.RolledBack:
		if e.Shard == set {
			return Phase
		}
	case trace.Fault:
		if aimsAt(e.Peer, set) {
			return Telling
		}
	case trace.Repair:
		if aimsAt(e.Peer, set) {
			return Ambient
		}
	case trace.Chance:
		if here && isServer(e.Peer) {
			return chanceWeight(e)
		}
	}
	return 0
}

// isServer says whether a node takes part in migrations; a decision about no message has none.
func isServer(node string) bool {
	return !strings.HasPrefix(node, "router.") && !strings.HasPrefix(node, "client.")
}

// chanceWeight is how much what chance decided matters. What happens to a message within a replica
// set does not: replication goes on, only later.
func chanceWeight(e *trace.Event) Weight {
	switch {
	case e.Place() == replicationClass:
		return 0
	case e.Question() == sim.Loss || e.Question() == sim.LoseReply:
		return Telling
	case isDelay(e) && time.Duration(e.Answer()) < toldDelay:
		return 0
	}
	return Ambient
}

// toldDelay is how long a delay is at least that is told.
const toldDelay = 5 * time.Millisecond

// isDelay says whether chance made something late by its answer.
func isDelay(e *trace.Event) bool {
	return e.Question() == sim.Tail || e.Question() == sim.Stall || e.Question() == sim.Waking ||
		e.Question() == sim.DiskTail
}

// replicationClass is the class of the messages within a replica set.
const replicationClass = "Raft"

// aimsAt says whether a fault's target is of the replica set, or everything.
func aimsAt(target, set string) bool {
	for _, end := range strings.FieldsFunc(target, func(r rune) bool {
		return r == '>' ||
			r == ',' || r == ' '
	}) {
		if end == "*" || strings.HasPrefix(end, set+".") || set != model.Config &&
			(strings.HasPrefix(end, "donor.") || strings.HasPrefix(end, "recipient.")) {
			return true
		}
	}
	return false
}
