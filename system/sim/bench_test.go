package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// BenchmarkSwitch is one sleep of one task: a timer, and control to the task and back.
func BenchmarkSwitch(b *testing.B) {
	w := sim.New(sim.Options{})
	defer w.Close()
	w.AddNode("a", func(t env.Task) {
		for t.Sleep(time.Microsecond) == nil {
		}
	})
	b.ReportAllocs()
	steps := uint64(b.N)
	w.Run(func() bool { return w.Steps() > steps }, 1<<62)
}

// BenchmarkRPC is a call with a timeout, from the request to the reply.
func BenchmarkRPC(b *testing.B) {
	w := sim.New(sim.Options{})
	defer w.Close()
	calls := 0
	w.AddNode("server", func(t env.Task) {
		t.Node().Serve(func(_ env.Task, _ env.NodeID, req env.Message) (env.Message, error) {
			return req, nil
		})
	})
	w.AddNode("client", func(t env.Task) {
		for {
			if _, err := t.Call("server", "x", time.Second); err == nil {
				calls++
			}
		}
	})
	b.ReportAllocs()
	w.Run(func() bool { return calls >= b.N }, 1<<62)
}

// BenchmarkExecutor is the mix of a busy cluster: five nodes, twenty clients in a closed loop, some
// faults, and for every request a task with two disk operations and a yield. It reports events a
// second.
func BenchmarkExecutor(b *testing.B) {
	w := sim.New(sim.Options{Network: sim.Network{Loss: 20_000, Duplicate: 10_000, Tail: 10_000}})
	defer w.Close()
	for _, id := range []env.NodeID{"s0", "s1", "s2", "s3", "s4"} {
		w.AddNode(id, func(t env.Task) {
			t.Node().Serve(func(t env.Task, _ env.NodeID, req env.Message) (env.Message, error) {
				for range 2 {
					if err := t.Sleep(100 * time.Microsecond); err != nil {
						return nil, err
					}
				}
				return req, t.Yield(0)
			})
		})
	}
	w.AddNode("clients", func(t env.Task) {
		for i := range 20 {
			t.Spawn("client", func(t env.Task) {
				for n := 0; ; n++ {
					to := [...]env.NodeID{"s0", "s1", "s2", "s3", "s4"}[(n+i)%5]
					_, _ = t.Call(to, "x", 20*time.Millisecond)
				}
			})
		}
	})
	b.ReportAllocs()
	steps := uint64(b.N)
	w.Run(func() bool { return w.Steps() > steps }, 1<<62)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

// BenchmarkWorld is making and closing a world of twenty idle nodes.
func BenchmarkWorld(b *testing.B) {
	var pool sim.Pool
	defer pool.Close()
	b.ReportAllocs()
	for range b.N {
		w := sim.New(sim.Options{Pool: &pool})
		for _, id := range twenty {
			w.AddNode(env.NodeID(id), func(t env.Task) { _ = t.Park(0) })
		}
		w.Run(nil, env.Time(time.Second))
		w.Close()
	}
}

var twenty = strings.Fields("a b c d e f g h i j k l m n o p q r s t")

// BenchmarkAcquaintance is what it costs two nodes to exchange the first message of a class: twelve
// nodes call each other once with each of ten classes. It reports the cost of one call.
func BenchmarkAcquaintance(b *testing.B) {
	classes := strings.Fields("a b c d e f g h i j")
	ids := twenty[:12]
	calls := len(ids) * len(ids) * len(classes)
	var pool sim.Pool
	defer pool.Close()
	b.ReportAllocs()
	for range b.N/calls + 1 {
		w := sim.New(sim.Options{Pool: &pool, Classify: func(m env.Message) string {
			return m.(string)
		}})
		for _, id := range ids {
			w.AddNode(env.NodeID(id), func(t env.Task) {
				t.Node().Serve(
					func(_ env.Task, _ env.NodeID, req env.Message) (env.Message, error) {
						return req, nil
					},
				)
				for _, to := range ids {
					for _, class := range classes {
						_, _ = t.Call(env.NodeID(to), class, time.Second)
					}
				}
			})
		}
		w.Run(nil, env.Time(time.Minute))
		w.Close()
	}
}
