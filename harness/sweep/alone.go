package sweep

import (
	"slices"

	"github.com/shardproof/shardproof/harness/runner"
)

// SingleFaults lists what may do by itself what several faults have done together, in a run without
// any that had these injection points: every single fault, and whatever can be kept back until
// something else has happened, clients' requests before anything moves too. These sorts take turns:
// requests, what belongs to a commit, and all the rest, each until a step of the commit window;
// single faults of each kind; and what is kept back until something outside of the window.
func SingleFaults(points []runner.InjectionPoint) []FaultCase {
	kept := keptBack(points)
	lists := [][]FaultCase{InTurn(kept.requests), InTurn(kept.commits), InTurn(kept.rest)}
	byKind := make(map[string][]FaultCase)
	for _, one := range New(nil, points).Singles {
		byKind[one.Kind] = append(byKind[one.Kind], one)
	}
	for _, kind := range Kinds {
		lists = append(lists, SpreadOut(byKind[kind]))
	}
	return InTurn(append(lists, InTurn(kept.outside)))
}

// mostPairs is how many pairs are listed at most.
const mostPairs = 5000

// FaultPairs lists what may take two faults: a client's request that is kept back until a step of
// the commit window, and a step of that which fails. Every beginning is spread over all pairs.
func FaultPairs(points []runner.InjectionPoint) (pairs [][2]FaultCase) {
	requests := slices.Concat(keptBack(points).requests...)
	var failing []FaultCase
	for _, one := range New(nil, points).Singles {
		if (one.Kind == "error" || one.Kind == "kill") && donorPhase(one.Phase).CommitWindow() {
			failing = append(failing, one)
		}
	}
	n := len(requests) * len(failing)
	for i := range min(n, mostPairs) {
		at := Scatter(i, n)
		pairs = append(pairs, [2]FaultCase{requests[at/len(failing)], failing[at%len(failing)]})
	}
	return pairs
}

// heldCases is what can be kept back: by rank of what is, until a step of the commit window, and
// all until one outside.
type heldCases struct{ requests, commits, rest, outside [][]FaultCase }

func keptBack(points []runner.InjectionPoint) (k heldCases) {
	window := make(map[string]bool)
	for i := range points {
		if o := &points[i]; o.What == runner.FailpointPassed && donorPhase(o.Phase).CommitWindow() {
			window[o.Site] = true
		}
	}
	for _, a := range someAnchors(points) {
		of := &k.rest
		switch a.rank {
		case ofRequest:
			of = &k.requests
		case ofCommit:
			of = &k.commits
		}
		until := SpreadOut(a.Until(points))
		within := slices.DeleteFunc(slices.Clone(until), func(s FaultCase) bool {
			return !window[s.Fault.Until.Site]
		})
		*of = append(*of, within)
		k.outside = append(k.outside,
			slices.DeleteFunc(until, func(s FaultCase) bool { return window[s.Fault.Until.Site] }))
	}
	return k
}

// mostAnchors is how many of the things that can be kept back are listed with all that they can be
// kept back until.
const mostAnchors = 300

// someAnchors are spread over the whole run, requests before anything moves among them.
func someAnchors(points []runner.InjectionPoint) []Anchor {
	var byRank [numRanks][]Anchor
	sent := make(map[string]int)
	for at := range points {
		o := &points[at]
		anchors := anchorsAt(o, at, sent)
		if o.What == runner.FailpointPassed {
			anchors = pausesAt(o, at)
		}
		for _, a := range anchors {
			byRank[a.rank] = append(byRank[a.rank], a)
		}
	}
	all := interleaveRanks(byRank)
	return all[:min(len(all), mostAnchors)]
}

// SpreadOut is another order of the same, in which those that follow each other were far apart, and
// every beginning is spread over all.
func SpreadOut(of []FaultCase) []FaultCase {
	some := make([]FaultCase, len(of))
	for i := range some {
		some[i] = of[Scatter(i, len(of))]
	}
	return some
}

// InTurn takes one of each list, and then the next of each.
func InTurn(lists [][]FaultCase) (all []FaultCase) {
	for turn, more := 0, true; more; turn++ {
		more = false
		for _, of := range lists {
			if turn < len(of) {
				all = append(all, of[turn])
				more = true
			}
		}
	}
	return all
}
