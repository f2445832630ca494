package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/sim"
)

// TestWaiting: each way not to get an answer is told, with who is asked and since when, and who
// serves a request.
func TestWaiting(t *testing.T) {
	const ms = time.Millisecond
	w := sim.New(sim.Options{
		Seed: 1, Service: -1,
		Classify: func(m env.Message) string { return m.(string) },
		Describe: func(m env.Message) string { return m.(string) },
		Network: sim.Network{
			Latency: func(_, _ env.NodeID) sim.Latency { return sim.Latency{Base: ms} },
		},
	})
	defer w.Close()
	w.AddNode("server", func(t env.Task) {
		t.Node().Serve(func(t env.Task, _ env.NodeID, req env.Message) (env.Message, error) {
			switch req.(string) {
			case "refuse":
				return nil, errcode.New(errcode.BadValue, "not like this")
			case "ongoing":
				return "three chunks left", nil
			}
			return nil, t.Park(0)
		})
	})
	w.AddNode("down", func(env.Task) {})
	asks := func(name, what string, to env.NodeID) {
		w.AddNode(env.NodeID(name), func(t env.Task) {
			for {
				_, _ = t.Call(to, what, time.Hour)
				_ = t.Sleep(time.Minute)
			}
		})
	}
	asks("served", "wait", "server")
	asks("refused", "refuse", "server")
	asks("patient", "ongoing", "server")
	asks("lost", "wait", "server")
	asks("held", "wait", "server")
	asks("late", "wait", "down")
	w.AddRule(sim.Rule{From: "lost", Fate: sim.Fate{Drop: true}})
	w.AddRule(sim.Rule{From: "late", Fate: sim.Fate{Drop: true}})
	w.AddRule(sim.Rule{From: "held", Hold: true})
	w.At(env.Time(500*time.Microsecond), func() { w.Crash("down") })
	w.Run(nil, env.Time(time.Second))

	waits := w.Waiting()
	told := map[string]string{}
	for i := range waits {
		told[string(waits[i].Node)] += waits[i].Doing + "; " + waits[i].Told
		if on := waits[i].On; on >= 0 {
			told["serves "+string(waits[i].Node)] = waits[on].String()
		}
	}
	for who, want := range map[string]string{
		"served":        "waits for server (wait); ",
		"serves served": "server: wait is parked",
		"refused":       "is sleeping; server (refuse) answered at 2ms: BadValue: not like this",
		"patient":       "is sleeping; server (ongoing) answered at 2ms: three chunks left",
		"lost":          "waits for server (wait); the request was lost at 0s",
		"held":          "waits for server (wait); the request was held back by a fault at 0s",
		"late":          "waits for down (wait); down is down",
	} {
		if got := told[who]; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", who, got, want)
		}
	}
}
