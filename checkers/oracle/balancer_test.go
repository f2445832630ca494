package oracle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// Lines about the balancer and what operators do; each begins with a word, a node and a term.
//
//	mode NODE TERM INDEX MODE[/closed] [WINDOW]
//	shard NODE TERM INDEX SHARD added|draining|removed|zones [ZONES]
//	zone NODE TERM INDEX MIN MAX [ZONE]        balancing NODE TERM INDEX on|off
//	round NODE TERM N begun|ended
//	chose NODE TERM REQUEST FROM TO MIN [LOCAL-TIME [ZONE-OFFSET]]
//	done NODE TERM REQUEST                     stopped NODE TERM
//	ask NODE TERM MIGRATION REQUEST FROM TO
func administer(t *testing.T, ns string, w []string) *trace.Event {
	shard, term := shardOf(w[1]), num(w[2])
	switch w[0] {
	case "mode":
		word, closed := strings.CutSuffix(w[4], "/closed")
		mode, known := trace.ParseBalancerMode(word)
		if !known {
			t.Fatalf("unknown mode %s", w[4])
		}
		return trace.BalancerStateEvent{
			Shard: shard, Term: term, Index: num(w[3]), Mode: mode, Window: strings.Join(w[5:], ""),
			Closed: closed,
		}.Event()
	case "round":
		phase, _ := trace.ParseRoundPhase(w[4])
		return trace.BalancerRoundEvent{
			Shard: shard,
			Term:  term,
			Round: int(num(w[3])),
			Phase: phase,
		}.Event()
	case "chose":
		e := trace.BalancerChoseEvent{
			Shard:   w[4],
			Peer:    w[5],
			Term:    term,
			NS:      ns,
			Min:     bound(w[6]),
			Request: w[3],
			Why:     "imbalance",
		}
		var wall int64
		if len(w) > 7 {
			wall, e.AheadOfUTC = clockTimes(t, w[7:])
		}
		chosen := e.Event()
		chosen.SetClock(func() int64 { return wall })
		return chosen
	case "done":
		return trace.BalancerDoneEvent{Shard: shard, Term: term, Request: w[3]}.Event()
	case "stopped":
		return trace.BalancerStoppedEvent{Shard: shard, Term: term}.Event()
	case "ask":
		return trace.MigrationRequestedEvent{
			Shard: w[5], Peer: w[6], NS: ns, Migration: w[3], Request: w[4],
		}.Event()
	}
	return configured(t, shard, ns, w)
}

// configured is a change of the cluster's configuration.
func configured(t *testing.T, shard, ns string, w []string) *trace.Event {
	e := trace.ClusterChangedEvent{Shard: shard, Term: num(w[2]), Index: num(w[3])}
	switch w[0] {
	case "shard":
		e.Peer, e.Zones = w[4], strings.Join(w[6:], "")
		e.Change = map[string]trace.ClusterChange{
			"added":    trace.ShardAdded,
			"draining": trace.ShardDraining,
			"removed":  trace.ShardRemoved,
			"zones":    trace.ShardZones,
		}[w[5]]
	case "zone":
		e.Change, e.NS, e.Min, e.Max = trace.ZoneRange, ns, bound(w[4]), bound(w[5])
		e.Zones = strings.Join(w[6:], "")
	case "balancing":
		e.NS = ns
		e.Change = map[string]trace.ClusterChange{
			"on": trace.BalancingOn, "off": trace.BalancingOff,
		}[w[4]]
	default:
		t.Fatalf("unknown line %v", w)
	}
	return e.Event()
}

// clockTimes reads a local time of day, and how far its zone is ahead of UTC.
func clockTimes(t *testing.T, w []string) (wall, ahead int64) {
	local, err := time.ParseDuration(w[0])
	if err != nil {
		t.Fatal(err)
	}
	var offset time.Duration
	if len(w) > 1 {
		if offset, err = time.ParseDuration(w[1]); err != nil {
			t.Fatal(err)
		}
	}
	return int64(local - offset), int64(offset)
}

// three is a cluster of three shards whose balancer has begun a round.
const three = `
elected config.0 1 0 1:0
table 1 1 founding -..g=a@1|0 g..m=a@1|1 m..+=b@1|2
shard config.0 1 1 a added
shard config.0 1 1 b added
shard config.0 1 1 c added
mode config.0 1 1 full
majority config.0 1 1
elected a.0 1 0 1:0
elected b.0 1 0 1:0
elected c.0 1 0 1:0
round config.0 1 1 begun
`

// turn is a balancer's migration of [-, g), back and forth between a and c.
func turn(n int) string {
	from, to, control := "a", "c", fmt.Sprintf("g..m=a@%d|1", n+1)
	if n%2 == 0 {
		from, to, control = to, from, ""
	}
	formers := strings.TrimSuffix(strings.Repeat("<a<c", (n+1)/2), "<c")
	if n%2 == 0 {
		formers = strings.Repeat("<c<a", n/2)
	}
	return fmt.Sprintf("ask %s.0 0 m%d balancer/1/%d/1 %s %s\ntable 1 %d move_m%d "+
		"-..g=%s@%d|0%s %s\nmajority config.0 1 %d\n",
		from, n, n, from, to, n+1, n, to, n+1, formers, control, n+1)
}

func TestBalancing(t *testing.T) {
	const chose = "chose config.0 1 balancer/1/1/1 a c -\n"
	stopped := three + "mode config.0 1 2 off\nmajority config.0 1 2\nstopped config.0 1\n"
	move := "table 1 9 move_m1 -..g=c@2|0<a g..m=a@2|1\nmajority config.0 1 9\n"
	for name, c := range map[string]struct {
		script    string
		signature verdict.Signature
	}{
		"a migration": {three + chose, ""},
		"two that share a donor": {
			three + chose + "chose config.0 1 balancer/1/1/2 a b g", busyShard,
		},
		"two that share a recipient": {
			three + chose + "chose config.0 1 balancer/1/2/1 b c m", busyShard,
		},
		"one after the other": {
			three + chose + "done config.0 1 balancer/1/1/1\nchose config.0 1 balancer/1/2/1 b c m",
			"",
		},
		"another term's": {
			three + chose + "elected config.1 2 1 1:1\nchose config.1 2 balancer/2/1/1 b c m", "",
		},
		"a deposed balancer's": {
			three + chose + "elected config.1 2 1 1:1\nchose config.0 1 balancer/1/1/2 b c m", "",
		},
		"into a draining shard": {
			strings.Replace(three, "round", "shard config.0 1 2 c draining\nround", 1) + chose,
			intoDraining,
		},
		"draining since the round began": {
			three + "shard config.0 1 2 c draining\n" + chose, "",
		},
		"draining in another log": {
			strings.Replace(
				three, "round", "shard config.0 1 2 c draining\nelected config.1 2 1 1:1\nround", 1,
			) + "round config.1 2 1 begun\nchose config.1 2 balancer/2/1/1 a c -", "",
		},
		"added again before the round": {
			strings.Replace(
				three, "round",
				"shard config.0 1 2 c draining\nshard config.0 1 3 c removed\nshard config.0 1 4 "+
					"c added\nround", 1,
			) + chose, "",
		},
		"out of its zone": {
			strings.Replace(three, "round", "zone config.0 1 2 - m east\nround", 1) + chose,
			outOfZone,
		},
		"into its zone": {
			strings.Replace(
				three, "round",
				"shard config.0 1 2 c zones east,west\nzone config.0 1 2 - m east\nround", 1,
			) + chose, "",
		},
		"a chunk that is partly of a zone": {
			strings.Replace(three, "round", "zone config.0 1 2 c m east\nround", 1) + chose, "",
		},
		"a zone that is gone": {
			strings.Replace(
				three, "round", "zone config.0 1 2 - m east\nzone config.0 1 3 - m\nround", 1,
			) + chose, "",
		},
		"a zone given since the round began": {
			three + "zone config.0 1 2 - m east\n" + chose, "",
		},
		"while off": {
			three + "mode config.0 1 2 off\n" + chose, whileOff,
		},
		"while it only splits": {
			three + "mode config.0 1 2 autoSplitOnly\n" + chose, whileOff,
		},
		"a collection that is off": {
			strings.Replace(three, "round", "balancing config.0 1 2 off\nround", 1) + chose,
			whileOff,
		},
		"a collection that was switched off since the round began": {
			three + "balancing config.0 1 2 off\n" + chose, whileOff,
		},
		"one that is on again": {
			strings.Replace(
				three, "round", "balancing config.0 1 2 off\nbalancing config.0 1 3 on\nround", 1,
			) + chose, "",
		},
		"within the window": {
			three + "mode config.0 1 2 full 9:00-17:00\nchose config.0 1 balancer/1/1/1 a c - 12h",
			"",
		},
		"at the window's first moment": {
			three + "mode config.0 1 2 full 9:00-17:00\nchose config.0 1 balancer/1/1/1 a c - 9h",
			"",
		},
		"at the window's last moment": {
			three + "mode config.0 1 2 full 9:00-17:00\nchose config.0 1 balancer/1/1/1 a c - 17h",
			"",
		},
		"after the window": {
			three +
				"mode config.0 1 2 full 9:00-17:00\nchose config.0 1 balancer/1/1/1 a c - " +
				"17h0m0.001s", outsideWindow,
		},
		"within a window over midnight": {
			three + "mode config.0 1 2 full 23:00-7:00\nchose config.0 1 balancer/1/1/1 a c - 6h",
			"",
		},
		"before a window over midnight": {
			three +
				"mode config.0 1 2 full 23:00-7:00\nchose config.0 1 balancer/1/1/1 a c - " +
				"22h59m59s", outsideWindow,
		},
		"by local time": {
			three +
				"mode config.0 1 2 full 23:00-7:00\nchose config.0 1 balancer/1/1/1 a c - 23h30m " +
				"2h", "",
		},
		"by local time of the day before": {
			three +
				"mode config.0 1 2 full 9:00-17:00\nchose config.0 1 balancer/1/1/1 a c - -8h 2h",
			"",
		},
		"outside by local time": {
			three +
				"mode config.0 1 2 full 9:00-17:00\nchose config.0 1 balancer/1/1/1 a c - 18h 5h",
			outsideWindow,
		},
		"the window was changed": {
			three +
				"mode config.0 1 2 full 9:00-17:00\nmode config.0 1 3 full\nchose config.0 1 " +
				"balancer/1/1/1 a c - 18h", "",
		},
		"commit after a stop": {
			stopped + "ask a.0 0 m1 balancer/1/1/1 a c\n" + move, commitAfterStop,
		},
		"commit of a former term after a stop": {
			stopped +
				"ask a.0 0 m1 balancer/1/1/1 a c\nelected config.1 2 2 1:2\ntable 2 3 move_m1 " +
				"-..g=c@2|0<a g..m=a@2|1\nmajority config.1 2 3", commitAfterStop,
		},
		"a window after a stop": {
			stopped + "mode config.0 1 3 off/closed 9:00-17:00\nmajority config.0 1 3", "",
		},
		"a window that opens": {
			stopped + "mode config.0 1 3 off 9:00-17:00\nmajority config.0 1 3", openedAfterStop,
		},
		"a mode that opens": {
			stopped + "mode config.0 1 3 autoSplitOnly\nmajority config.0 1 3", openedAfterStop,
		},
		"off after a start": {
			stopped + "mode config.0 1 3 full\nmode config.0 1 4 off\nmajority config.0 1 4", "",
		},
		"a window that is rolled back": {
			stopped + "mode config.0 1 3 off 9:00-17:00\nelected config.1 2 2", "",
		},
		"an operator's commit after a stop": {stopped + "ask a.0 0 m1 7 a c\n" + move, ""},
		"commit after the next start": {
			stopped + "mode config.0 1 3 full\nask a.0 0 m1 balancer/1/1/1 a c\n" + move, "",
		},
		"a stop that was overtaken": {
			three + "stopped config.0 1\nask a.0 0 m1 balancer/1/1/1 a c\n" + move, "",
		},
		"there and back":                 {three + turn(1) + turn(2), ""},
		"there and back and there again": {three + turn(1) + turn(2) + turn(3), pingPong},
		"there again for a copy that came late": {
			three + turn(1) + turn(2) + strings.Replace(turn(3), "/3/1", "/1/1", 1), "",
		},
		"back and forth as clients write": {
			three + turn(1) + turn(2) + "user b.0 1 1 z 12\n" + turn(3), "",
		},
		"back and forth as operators want": {
			three + turn(1) + turn(2) + "mode config.0 1 9 full\n" + turn(3), "",
		},
		"removed when it owns nothing": {
			three + "shard config.0 1 2 c removed\nmajority config.0 1 2", "",
		},
		"removed while it owns a chunk": {
			three + "shard config.0 1 2 b removed\nmajority config.0 1 2", ownerRemoved,
		},
		"given a chunk after its removal": {
			three + "shard config.0 1 2 c removed\n" + move, givenToClosed,
		},
		"removed in another log": {
			three +
				"shard config.0 1 2 c removed\nelected config.1 2 1 1:1\ntable 2 2 move_m1 " +
				"-..g=c@2|0<a g..m=a@2|1\nmajority config.1 2 2", "",
		},
	} {
		t.Run(name, func(t *testing.T) { expectSignature(t, observe(t, c.script), c.signature) })
	}
}
