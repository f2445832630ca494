package sweep

import (
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/failpoint"
)

// Anchor is something that can be kept back until something else has happened: a control message, a
// second copy of one, or a task at a failpoint. As a Single it is kept back until all faults end.
type Anchor struct {
	FaultCase
	// at is its place among the injection points, rank the class of its priority.
	at, rank int
	// fresh is true when the fault counts passages from when it happens, instead of from the start.
	fresh bool
}

// The ranks, the most promising first: most of what goes wrong with a migration does so in its
// commit window.
const (
	ofCommit = iota
	ofControl
	ofPhase
	ofRequest
	numRanks
)

// anchorsEachTurn is how many anchors of each rank come up in a round.
var anchorsEachTurn = [numRanks]int{2, 1, 1, 1}

// Anchors lists what can be kept back in a run that had these injection points, a client's request
// only while something moves, in the order in which it is tried: the ranks take turns, and each
// goes through its own with a stride near the golden section, so that every beginning is spread
// over the whole run and has more of the commit window than of anything else.
func Anchors(points []runner.InjectionPoint) []Anchor {
	var byRank [numRanks][]Anchor
	sent := make(map[string]int)
	for at := range points {
		for _, a := range anchorsAt(&points[at], at, sent) {
			byRank[a.rank] = append(byRank[a.rank], a)
		}
	}
	return interleaveRanks(byRank)
}

func interleaveRanks(byRank [numRanks][]Anchor) (all []Anchor) {
	var taken [numRanks]int
	for more := true; more; {
		more = false
		for rank, of := range byRank {
			for range anchorsEachTurn[rank] {
				if n := taken[rank]; n < len(of) {
					all = append(all, of[Scatter(n, len(of))])
					taken[rank]++
					more = true
				}
			}
		}
	}
	return all
}

// Scatter is the place of i in a permutation of 0 to n-1 of which every beginning is spread evenly.
func Scatter(i, n int) int { return int(uint64(i) * goldenStride(uint64(n)) % uint64(n)) }

// anchorsAt are those of one injection point. Sent counts the messages of each site so far.
func anchorsAt(o *runner.InjectionPoint, at int, sent map[string]int) []Anchor {
	switch o.What {
	case runner.MessageSent:
		sent[o.Site]++
		return anchorsOfMessage(o, at, sent[o.Site]-1)
	case runner.FailpointPassed:
		if o.Role != failpoint.Request || o.Phase != runner.BeforeMoves {
			return pausesAt(o, at)
		}
	}
	return nil
}

// anchorsOfMessage keep a control message back, or a copy of it.
func anchorsOfMessage(o *runner.InjectionPoint, at, before int) []Anchor {
	if o.Steering == 0 {
		return nil
	}
	rank := ofControl
	if o.Steering > 1 {
		rank = ofCommit
	}
	part := "request"
	if o.Reply {
		part = "reply"
	}
	some := []Anchor{{
		messageFault(o, "held", "hold", before, scenario.Setting{Name: "part", Value: part}), at,
		rank, false,
	}}
	if o.Doubles {
		some = append(some, Anchor{
			messageFault(o, "copy-held", "duplicate", before,
				scenario.Setting{Name: "copy", Value: "held"}), at, rank, false,
		})
	}
	return some
}

// messageFault is a fault of the one message behind those that were sent before.
func messageFault(
	o *runner.InjectionPoint, kind, fault string, before int, how scenario.Setting,
) FaultCase {
	link, _, _ := strings.Cut(o.Site, "/")
	return FaultCase{Kind: kind,
		Phase: o.Phase,
		Actor: o.Actor,
		Fault: &scenario.Fault{ID: 1,
			Kind:   fault,
			Target: link,
			Args: []scenario.Setting{
				{Name: "messages", Value: o.Class}, {Name: "count", Value: "1"},
				{Name: "skip", Value: fmt.Sprint(before)}, how,
			}}}
}

// pausesAt keep a task standing at a failpoint of a migration, or at one of a client's request.
func pausesAt(o *runner.InjectionPoint, at int) []Anchor {
	rank := ofPhase
	switch {
	case o.Role == failpoint.Replica || o.Role == failpoint.Router:
		return nil
	case o.Role == failpoint.Request:
		rank = ofRequest
	case donorPhase(o.Phase).CommitWindow():
		rank = ofCommit
	}
	return []Anchor{{faultAt(o, "paused", "pause", "", 0), at, rank, true}}
}

// donorPhase is the donor's state that a phase is, 0 for any other phase.
func donorPhase(phase string) trace.DonorState {
	state, _ := trace.ParseDonorState(phase)
	return state
}

// Until narrows the anchor: it is let go when something else happens. Probe is what happened in a
// run in which it was kept back to the end; whatever came after it there does not wait for it,
// which is to say that the two are concurrent. Of each failpoint the first passage and the last are
// tried, those of routers, clients' requests and replication left out.
func (a *Anchor) Until(probe []runner.InjectionPoint) (all []FaultCase) {
	passed := make(map[string]int)
	last := make(map[string]int) // where in all the last passage of the site is
	for i, o := range probe {
		steps := o.What == runner.FailpointPassed && o.Role != failpoint.Replica &&
			o.Role != failpoint.Router && o.Role != failpoint.Request
		if !steps || a.fresh && i <= a.at {
			continue
		}
		if passed[o.Site]++; i <= a.at {
			continue
		}
		one := a.until(o.Site, passed[o.Site])
		switch n, again := last[o.Site]; {
		case !again:
			last[o.Site] = -1
			all = append(all, one)
		case n < 0:
			last[o.Site] = len(all)
			all = append(all, one)
		default:
			all[n] = one
		}
	}
	return all
}

func (a *Anchor) until(site string, nth int) FaultCase {
	one, fault := a.FaultCase, *a.Fault
	fault.Until = &scenario.Trigger{Site: site, Nth: nth}
	one.Fault = &fault
	return one
}
