package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
)

// A contradiction may be what somebody was answered. Its steps are then those of the events that
// came before the question and the answer, which need not have anything to do with it: the proof is
// what was said.

// proofsTold is how many exchanges are told as the proof.
const proofsTold = 2

// provenBySaying finds the exchanges that are the proof, the last ones: what a member that the
// contradiction names said at its step, or what an operator was answered between its steps.
func (s *slice) provenBySaying() {
	s.said = map[uint64]bool{}
	if len(s.docs) > 0 || len(s.about.Steps) == 0 {
		return
	}
	first, last := slices.Min(s.about.Steps), slices.Max(s.about.Steps)
	var served, commanded, later []int
	for i := range s.events {
		x := &s.events[i]
		switch {
		case x.Kind != trace.Exchanged || x.Step < first:
		case x.Step > last:
			if len(later) == 0 && (s.mayBeOrdered(x) && s.namesArgument(x) ||
				!s.acknowledges() && s.announces(x)) {
				later = []int{i} // its answer took time
			}
		case isOperator(x.Peer):
			if s.namesArgument(x) {
				commanded = append(commanded, i)
			}
		case slices.Contains(s.about.Steps, x.Step) && s.announces(x):
			served = append(served, i)
		}
	}
	proof := served
	if s.acknowledges() {
		proof = commanded
	}
	if len(proof) == 0 && (s.acknowledges() || len(s.about.Steps) == 1) {
		proof = later
	}
	for _, i := range proof[max(0, len(proof)-proofsTold):] {
		s.choose(i, Must)
		for _, step := range s.about.Steps {
			s.said[step] = true
		}
		if s.events[i].NS == "" || s.acknowledges() {
			s.memberships(i, setOf(s.events[i].Node))
		}
	}
}

// mayBeOrdered says whether an exchange may be the command of an operator that the contradiction is
// about. One that was given after the contradiction was seen did not cause it, unless the
// contradiction is its answer.
func (s *slice) mayBeOrdered(x *trace.Event) bool {
	return isOperator(x.Peer) && (s.acknowledges() || x.Arrived() <= s.to)
}

// acknowledges says whether the contradiction is what an operator was told.
func (s *slice) acknowledges() bool {
	return strings.Contains(s.about.Text, "acknowledged") ||
		strings.Contains(s.about.Text, "an operator")
}

// announces says whether the contradiction is that a node has said what it says in an exchange.
func (s *slice) announces(x *trace.Event) bool {
	step, named := x.Argument("Step")
	if named && !strings.Contains(s.about.Text, "the step "+step) {
		return false
	}
	return namesIt(s.about.Text, x.Node) && (strings.Contains(s.about.Text, x.Node+" answers") ||
		strings.Contains(s.about.Text, x.Node+" agrees")) &&
		(strings.HasPrefix(x.Asked(), "Shardsvr") ||
			strings.Contains(s.about.Text, "answers "+x.Asked()))
}

// namesArgument says whether the contradiction names the collection of a request, or what one of
// its arguments is, if it has any.
func (s *slice) namesArgument(x *trace.Event) bool {
	asked, _ := x.Said()
	if x.NS == "" && asked == "" {
		return true
	}
	if namesIt(s.about.Text, x.NS) {
		return true
	}
	for _, argument := range strings.Split(asked, ", ") {
		if _, value, _ := strings.Cut(argument, " "); namesIt(s.about.Text, value) {
			return true
		}
	}
	return false
}

// isOperator says whether a node gives commands.
func isOperator(node string) bool { return strings.HasPrefix(node, "admin.") }

// coincides says of an event at a step of the contradiction that what was said there is the proof,
// and the event is no part of it: it is that answer once more, or it is of another replica set.
func (s *slice) coincides(i int) bool {
	e := &s.events[i]
	return s.said[e.Step] && (e.Kind == trace.Answered || e.Kind == trace.CursorAnswered ||
		!namesIt(s.about.Text, e.Node) && !(s.acknowledges() && setOf(e.Node) == model.Config))
}

// proofWeight is how much an event at a step of the contradiction matters.
func (s *slice) proofWeight(i int) Weight {
	switch {
	case s.coincides(i):
		return Ambient
	case s.said[s.events[i].Step]:
		return Close
	}
	return Must
}

// memberships follows what a shard was told before about its being one.
func (s *slice) memberships(before int, shard string) {
	s.chooseLast(before, Close, func(e *trace.Event) bool {
		return e.Kind == trace.ClusterChanged && e.Peer == shard && changesMembership(e)
	})
	for _, asked := range []string{"ShardsvrJoinCluster", "ShardsvrLeaveCluster"} {
		s.chooseLast(before, Close, func(x *trace.Event) bool {
			return x.Kind == trace.Exchanged && setOf(x.Node) == shard && x.Asked() == asked
		})
	}
}

func changesMembership(e *trace.Event) bool {
	switch e.ClusterChange() {
	case trace.ShardAdded, trace.ShardDraining, trace.ShardRemoved:
		return true
	}
	return false
}

// followMemberships follows contradictions that say that a shard leaves the cluster, or is kept as
// something else than it was.
func (s *slice) followMemberships() {
	if !strings.Contains(s.about.Text, "leave the cluster") &&
		!strings.Contains(s.about.Text, "agrees to leave") &&
		!strings.Contains(s.about.Text, "of the shard ") {
		return
	}
	for _, shard := range s.shardsNamed() {
		s.memberships(s.horizon+1, shard)
	}
}

// followMajorities adds how far a majority had come of a set whose write of a document it did not
// have yet, when the contradiction is that it must.
func (s *slice) followMajorities() {
	if len(s.turns) > 0 || len(s.events) == 0 || s.events[s.horizon].Kind != trace.Majority {
		return
	}
	wrote := map[string]uint64{}
	majority := map[string]int{}
	for i := range s.events[:min(s.horizon+1, len(s.events))] {
		switch e := &s.events[i]; {
		case e.Kind == trace.Majority:
			majority[e.Shard] = i
		case e.Kind == trace.Applied && s.chosen[i] != 0 && s.concerned(e):
			wrote[e.Shard] = e.Index
		}
	}
	for _, set := range slices.Sorted(maps.Keys(wrote)) {
		if i, any := majority[set]; any && s.events[i].Index < wrote[set] {
			s.choose(i, Close)
			s.lagging = append(s.lagging, set)
			first, _ := s.around(i)
			s.disturbances(set, first, s.horizon)
		}
	}
}

// holders tells who has an entry of a replica set, by what its members were seen to apply, and how
// far its majority had come.
func (s *slice) holders(set string, index uint64, until int) string {
	logs, majority := map[string]uint64{}, uint64(0)
	var names []string
	for i := range s.events[:until+1] {
		e := &s.events[i]
		switch {
		case e.Shard != set || e.Index == 0:
		case e.Kind == trace.Majority:
			majority = max(majority, e.Index)
		case e.Kind == trace.RolledBack:
			logs[e.Node] = min(logs[e.Node], e.Index)
		case e.Kind == trace.Applied || e.Kind == trace.Executed:
			if _, known := logs[e.Node]; !known {
				names = append(names, e.Node)
			}
			logs[e.Node] = max(logs[e.Node], e.Index)
		}
	}
	if majority >= index {
		return ""
	}
	names = slices.DeleteFunc(names, func(node string) bool { return logs[node] < index })
	slices.Sort(names)
	who := "only " + strings.Join(names, " and ")
	if len(names) == 0 {
		who = "no member"
	}
	return fmt.Sprintf("; of %s, %s has it (index %d), a majority has the log to index %d",
		set, who, index, majority)
}

// unkept tells, at the end of a contradiction that is about what a majority lacks, who has the last
// entry of each set that the story tells and a majority lacks.
func (s *slice) unkept(i int) (text string) {
	if !strings.Contains(s.about.Text, "majority") || s.chosen[i] != Must {
		return ""
	}
	for _, set := range s.shardsNamed() {
		at := s.last(i, func(e *trace.Event) bool {
			return e.Shard == set && (e.Kind == trace.Executed && s.namesStatement(e) ||
				e.Kind == trace.Applied && s.concerned(e) && !s.namesAnyStatement())
		})
		if at < 0 {
			continue
		}
		if who := s.holders(set, s.events[at].Index, i); who != "" && set != s.events[i].Shard {
			text += strings.Replace(who, "has it", "has "+s.entryName(at), 1)
		}
	}
	return text
}

func (s *slice) namesAnyStatement() bool { return strings.Contains(s.about.Text, "statement ") }

// entryName is what an entry holds, in short.
func (s *slice) entryName(at int) string {
	if s.events[at].Kind == trace.Executed {
		return "the statement"
	}
	e := &s.events[at]
	return documentName(document{e.NS, e.DocID, e.Key}) + " in that state"
}
