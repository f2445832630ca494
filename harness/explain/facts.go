package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
)

// Contradictions about no document rest on facts: what the catalog said, what operators said of
// shards, zones and the balancer, and what a node believed. A fact's cause is the last event that
// made it so.

// last is the position of the last event before one that is so, -1 for none.
func (s *slice) last(before int, is func(*trace.Event) bool) int {
	for i := before - 1; i >= 0; i-- {
		if is(&s.events[i]) {
			return i
		}
	}
	return -1
}

// chooseLast chooses the last such event, where there is one.
func (s *slice) chooseLast(before int, w Weight, is func(*trace.Event) bool) int {
	i := s.last(before, is)
	if i >= 0 {
		s.choose(i, w)
	}
	return i
}

// choice follows a request of the balancer: the round that it was made in, what was known of the
// shards, the range and the balancer itself, and the change that put the chunk where it is.
func (s *slice) choice(i int, of *trace.Event) {
	s.chooseLast(i, Telling, func(e *trace.Event) bool {
		return e.Kind == trace.BalancerRound && e.RoundPhase() == trace.RoundBegun
	})
	s.permission(i, of.NS)
	s.sizes(i, of.NS)
	s.shardFacts(i, of.Shard)
	s.shardFacts(i, of.Peer)
	s.zoneOf(i, of.NS, of.Min, cmp.Or(of.Max, of.Min+"\x00"))
	s.requested(i, of.Request())
	s.chooseLast(i, Close, func(e *trace.Event) bool {
		return e.Kind == trace.CatalogWritten && e.NS == of.NS &&
			slices.ContainsFunc(e.Chunks, func(c trace.Chunk) bool { return c.Min == of.Min })
	})
}

// requested follows the migration by which a request of the balancer is carried out.
func (s *slice) requested(i int, name string) {
	for j := i; j <= s.horizon; j++ {
		if e := &s.events[j]; e.Kind == trace.MigrationRequested && e.Request() == name {
			s.migration(e.Migration())
			return
		}
	}
}

// permission is whether the balancer may move anything, and chunks of the collection.
func (s *slice) permission(i int, ns string) {
	s.chooseLast(i, Close, func(e *trace.Event) bool { return e.Kind == trace.BalancerState })
	s.chooseLast(i, Close, func(e *trace.Event) bool {
		c := e.ClusterChange()
		return e.NS == ns && (c == trace.BalancingOn || c == trace.BalancingOff)
	})
}

// sizes follows what operators have said last of the size of chunks, of the collection and of all,
// where the contradiction is about that.
func (s *slice) sizes(i int, ns string) {
	if !strings.Contains(s.about.Text, "chunkBytes") {
		return
	}
	s.chooseLast(i, Close, func(x *trace.Event) bool {
		_, sized := x.Argument("ChunkBytes")
		return x.Kind == trace.Exchanged && sized && x.NS == ns &&
			x.Asked() == "ConfigureCollectionBalancing"
	})
	s.chooseLast(i, Close, func(x *trace.Event) bool {
		id, _ := x.Argument("ID")
		return x.Kind == trace.Exchanged && x.Asked() == "PutSetting" && id == "chunksize"
	})
}

// shardFacts are what operators have said of a shard last: its zones, and that it drains. That it
// is one at all says something where zones matter.
func (s *slice) shardFacts(i int, shard string) {
	zones := strings.Contains(s.about.Text, "zone")
	s.chooseLast(i, Close, func(e *trace.Event) bool {
		return e.Kind == trace.ClusterChanged && e.Peer == shard &&
			(zones || e.ClusterChange() != trace.ShardAdded)
	})
}

// zoneOf is the last change of the zone of a range.
func (s *slice) zoneOf(i int, ns, lo, hi string) {
	s.chooseLast(i, Close, func(e *trace.Event) bool {
		return e.ClusterChange() == trace.ZoneRange && e.NS == ns && e.Min < hi && lo < e.Max
	})
}

// roundsTold is how many rounds of a balancer that does nothing are told.
const roundsTold = 3

// idleness follows a balancer that should do something: its last rounds, the last request and how
// it ended, and what it may do with whom.
func (s *slice) idleness(i int, ns string) {
	for n, at := 0, i; n < roundsTold && at >= 0; n++ {
		at = s.chooseLast(at, Telling, func(e *trace.Event) bool {
			return e.Kind == trace.BalancerRound && e.RoundPhase() == trace.RoundEnded
		})
	}
	if at := s.chooseLast(i, Close, func(e *trace.Event) bool {
		return e.Kind == trace.BalancerChose && (ns == "" || e.NS == ns)
	}); at >= 0 {
		s.outcome(at)
	}
	s.permission(i, ns)
	for _, shard := range s.shardsNamed() {
		s.shardFacts(i, shard)
	}
	s.chooseLast(i, Close, func(e *trace.Event) bool {
		return e.Kind == trace.CatalogWritten && e.NS == ns
	})
}

// outcome is how a request of the balancer ended.
func (s *slice) outcome(at int) {
	name := s.events[at].Request()
	for i := at; i < len(s.events); i++ {
		if e := &s.events[i]; e.Kind == trace.BalancerDone && e.Request() == name {
			s.choose(i, Close)
			return
		}
	}
}

// shardsNamed are the replica sets that the contradiction names.
func (s *slice) shardsNamed() (names []string) {
	for i := range s.events {
		e := &s.events[i]
		if e.Kind == trace.Elected && !slices.Contains(names, e.Shard) &&
			namesIt(s.about.Text, e.Shard) {
			names = append(names, e.Shard)
		}
	}
	return names
}

// changesTold is how many changes before and after a moment are told.
const changesTold = 2

// changes follows a contradiction about the catalog that is proven by moments alone: what was
// written about its collection, or its shards, before and after, and when a majority had it.
func (s *slice) changes(i int) {
	s.indexed = true
	shards := s.shardsNamed()
	concerns := func(e *trace.Event) bool {
		switch e.Kind {
		case trace.BalancerState:
			return strings.Contains(s.about.Text, "mode")
		case trace.ClusterChanged:
			return slices.Contains(shards, e.Peer) || e.NS != "" && e.NS == s.about.NS
		case trace.CatalogWritten:
			return e.NS != "" && e.NS == s.about.NS
		}
		return false
	}
	for n, at := 0, i; n < changesTold && at >= 0; n++ {
		if at = s.chooseLast(at, Close, concerns); at >= 0 {
			s.covered(at)
		}
	}
	for n, at := 0, i; n < changesTold && at < len(s.events); at++ {
		if concerns(&s.events[at]) {
			s.choose(at, Close)
			s.covered(at)
			n++
		}
	}
	first, last := s.around(i)
	s.disturbances(model.Config, first, last)
}

// aboutMigration says whether the contradiction names a migration, whose story it then is.
func (s *slice) aboutMigration() bool {
	return slices.ContainsFunc(s.events, func(e trace.Event) bool {
		return (e.Kind == trace.MigrationRequested || e.Kind == trace.PrimaryMoving) &&
			namesIt(s.about.Text, e.Migration())
	})
}

// covered is the moment at which a majority of the config server has a write of the catalog.
func (s *slice) covered(at int) {
	for i := at; i < len(s.events); i++ {
		e := &s.events[i]
		if e.Kind == trace.Majority && e.Shard == model.Config && e.Index >= s.events[at].Index {
			s.choose(i, Close)
			return
		}
	}
}

// beliefs follows nodes that the contradiction names, when it is about what they hold in the end:
// what each learnt last of who owns what, what was written since, and what happened to its replica
// set.
func (s *slice) beliefs() {
	for _, node := range s.nodesNamed() {
		i := s.last(len(s.events), func(e *trace.Event) bool {
			return e.Node == node && (s.about.NS == "" || e.NS == s.about.NS) &&
				(e.Kind == trace.MetadataInstalled || e.Kind == trace.MetadataCleared)
		})
		if i < 0 {
			continue
		}
		s.choose(i, Must)
		s.lastBelief[i] = true
		set := setOf(node)
		at := s.chooseLast(len(s.events), Close, func(e *trace.Event) bool {
			return e.Kind == trace.CatalogWritten && e.NS == s.events[i].NS && s.changesOf(e, set)
		})
		if at >= 0 {
			s.migration(movedBy(&s.events[at]))
		}
		s.roles(set, min(i, max(at, 0)))
	}
}

// roles are the crashes, elections and rollbacks of a set since an event. Faults are left out: in
// all the time until a run ends there are many, and what they did to the set is told by these.
func (s *slice) roles(set string, since int) {
	for i := since; i < len(s.events); i++ {
		if e := &s.events[i]; e.Kind != trace.Fault && e.Kind != trace.Repair {
			if w := disturbance(e, set); w > 0 {
				s.choose(i, w)
			}
		}
	}
}

// changesOf says whether a write of the catalog gives a shard something or takes it away.
func (s *slice) changesOf(e *trace.Event, shard string) bool {
	if slices.ContainsFunc(e.Chunks, func(c trace.Chunk) bool { return c.Shard == shard }) {
		return true
	}
	id := movedBy(e)
	return id != "" && slices.ContainsFunc(s.events, func(d trace.Event) bool {
		return d.Kind == trace.MigrationRequested && d.Migration() == id && d.Shard == shard
	})
}

// leadersOfBroken are the last two primaries of the set of a node in which an invariant is broken:
// much of what a primary takes for granted it should have taken over.
func (s *slice) leadersOfBroken() {
	if !strings.HasPrefix(s.about.Text, "broken invariant") {
		return
	}
	for _, node := range s.nodesNamed() {
		at := s.horizon + 1
		for n := 0; n < changesTold && at >= 0; n++ {
			at = s.chooseLast(at, Close, func(e *trace.Event) bool {
				return e.Kind == trace.Elected && e.Shard == setOf(node)
			})
		}
	}
}

// nodesNamed are the nodes of replica sets that what the contradiction says names.
func (s *slice) nodesNamed() (names []string) {
	for i := range s.events {
		e := &s.events[i]
		if e.Shard != "" && e.Node != "" && !slices.Contains(names, e.Node) &&
			namesIt(s.about.Text, e.Node) {
			names = append(names, e.Node)
		}
	}
	return names
}

// setOf is the replica set of a node.
func setOf(node string) string {
	for i := len(node) - 1; i >= 0; i-- {
		if node[i] == '.' {
			return node[:i]
		}
	}
	return node
}

// belief is what the node of an event knew of who owns what, and how it had last been changed.
func (s *slice) belief(i int, of *trace.Event) {
	for j := i - 1; j >= 0; j-- {
		e := &s.events[j]
		if e.Node == of.Node && e.NS == of.NS &&
			(e.Kind == trace.MetadataInstalled || e.Kind == trace.MetadataCleared) {
			s.choose(j, Close)
			break
		}
	}
	for j := i - 1; j >= 0; j-- {
		if e := &s.events[j]; e.Kind == trace.CatalogWritten && s.concerns(e) {
			s.choose(j, Close)
			s.migration(movedBy(e))
			return
		}
	}
	s.primaryMoves(of.NS)
}

// primaryMoves follows the last movePrimary of the database of a collection of which the catalog
// has no chunks: it belongs to the primary shard.
func (s *slice) primaryMoves(ns string) {
	database, _, _ := strings.Cut(ns, ".")
	at := s.last(s.horizon+1, func(e *trace.Event) bool {
		return e.Kind == trace.PrimaryMoving && (e.NS == database || e.NS == ns)
	})
	if at >= 0 {
		s.migration(s.events[at].Migration())
	}
}

// role tells whether the node of an event is a secondary then.
func (s *slice) role(i int) string {
	if s.leads(&s.events[i]) {
		return ""
	}
	return " (it is a secondary)"
}
