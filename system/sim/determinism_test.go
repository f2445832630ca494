package sim_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

const seeds = 24

// TestSameSeedSameRun demands equal hashes of equal runs, and different ones of different seeds.
func TestSameSeedSameRun(t *testing.T) {
	seen := map[uint64]uint64{}
	for seed := range uint64(seeds) {
		hash := newStorm(stormOptions(seed)).run()
		if again := newStorm(stormOptions(seed)).run(); again != hash {
			t.Errorf("seed %d: hashes %x and %x", seed, hash, again)
		}
		if other, ok := seen[hash]; ok {
			t.Errorf("seeds %d and %d have the same hash", seed, other)
		}
		seen[hash] = seed
	}
}

// TestStormReaches proves that the other tests of this file compare runs in which something
// happens.
func TestStormReaches(t *testing.T) {
	s := newStorm(stormOptions(1))
	s.run()
	for _, probe := range []string{"NetworkTimeout", "HostUnreachable", "BadValue", "Interrupted"} {
		if s.w.Reached(probe) == 0 {
			t.Errorf("no call ended with %s", probe)
		}
	}
	kinds := map[string]bool{}
	for _, d := range s.w.Decisions() {
		kinds[d.Kind] = true
	}
	for _, kind := range []string{
		sim.Loss, sim.Duplicate, sim.LoseReply, sim.Tail, sim.Stall, sim.Waking, sim.StepFailure, sim.DiskTail,
		sim.Kept,
		"crash-at-site", "fail-at-site",
	} {
		if !kinds[kind] {
			t.Errorf("nothing was decided about %s", kind)
		}
	}
	if s.w.Steps() < 5_000 || s.events < 300 || s.w.PointHits()[site("config.sendMove")] == 0 {
		t.Errorf("only %d steps, %d events", s.w.Steps(), s.events)
	}
}

// TestReplayOfDecisions demands that the recorded decisions, in a planned world, make the same run.
func TestReplayOfDecisions(t *testing.T) {
	for seed := range uint64(seeds) {
		drawn := newStorm(stormOptions(seed))
		hash := drawn.run()
		o := stormOptions(seed)
		o.Planned, o.Decisions = true, drawn.w.Decisions()
		planned := newStorm(o)
		if got := planned.run(); got != hash {
			t.Errorf("seed %d: drawn %x, planned %x", seed, hash, got)
		}
		if diff := cmp.Diff(drawn.w.Decisions(), planned.w.Decisions()); diff != "" {
			t.Errorf("seed %d: decisions drawn and planned (-drawn +planned):\n%s", seed, diff)
		}
		if unused := planned.w.Gate().Unused(); len(unused) > 0 {
			t.Errorf("seed %d: decisions without a question: %v", seed, unused)
		}
	}
}

// TestCodec demands the same run whether messages pass as pointers or as bytes.
func TestCodec(t *testing.T) {
	for seed := range uint64(seeds) {
		o := stormOptions(seed)
		o.Codec = textCodec{}
		s := newStorm(o)
		if bytes, pointers := s.run(), newStorm(stormOptions(seed)).run(); bytes != pointers {
			t.Errorf("seed %d: by codec %x, by pointer %x, %v", seed, bytes, pointers, s.w.Err())
		}
	}
}

// TestTraceDoesNotMatter demands the same run with and without text.
func TestTraceDoesNotMatter(t *testing.T) {
	o := stormOptions(5)
	o.Trace = io.Discard
	if with, without := newStorm(o).run(), newStorm(stormOptions(5)).run(); with != without {
		t.Errorf("with text %x, without %x", with, without)
	}
}

// TestAcrossProcesses demands equal hashes in other processes under other conditions.
func TestAcrossProcesses(t *testing.T) {
	var here strings.Builder
	printHashes(&here)
	if os.Getenv("SIM_PRINT_HASHES") != "" {
		fmt.Print("hashes:\n", here.String(), "end\n")
		return
	}
	for _, setting := range []string{"GOMAXPROCS=1", "GOGC=5", "GODEBUG=asyncpreemptoff=1"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAcrossProcesses$")
		cmd.Env = append(os.Environ(), "SIM_PRINT_HASHES=1", setting)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", setting, err, out)
		}
		_, there, _ := strings.Cut(string(out), "hashes:\n")
		there, _, _ = strings.Cut(there, "end\n")
		if diff := cmp.Diff(here.String(), there); diff != "" {
			t.Errorf("with %s (-here +there):\n%s", setting, diff)
		}
	}
}

func printHashes(out io.Writer) {
	for seed := range uint64(8) {
		fmt.Fprintf(out, "%d %016x\n", seed, newStorm(stormOptions(seed)).run())
	}
}

// TestPoolAcrossWorlds demands that coroutines are taken up again, also those of tasks that were
// unwound, and that their past does not matter.
func TestPoolAcrossWorlds(t *testing.T) {
	var pool sim.Pool
	defer pool.Close()
	o := stormOptions(3)
	o.Pool = &pool
	first := newStorm(o).run()
	size := pool.Len()
	second := newStorm(o).run()
	if first != second || size == 0 || pool.Len() != size {
		t.Errorf("hashes %x and %x, %d and %d idle coroutines", first, second, size, pool.Len())
	}
}

// TestNothingLeaks demands that closing a world, and its pool, ends every coroutine.
func TestNothingLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	for seed := range uint64(5) {
		newStorm(stormOptions(seed)).run()
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

// TestUnwindingIsInert has deferred functions act while their world is closed: nothing of it has an
// effect.
func TestUnwindingIsInert(t *testing.T) {
	s := &storm{}
	w := sim.New(sim.Options{Observer: s})
	var order []string
	w.AddNode("a", func(t env.Task) {
		n := t.Node()
		defer func() { order = append(order, "the next one") }()
		defer func() {
			order = append(order, "deferred")
			n.Send("a", "x")
			n.Sometimes("never")
			n.After(0, func() { order = append(order, "timer") })
			t.Spawn("child", func(env.Task) { order = append(order, "child") })
			n.Assert(false, "not a failure any more")
			_ = t.Sleep(0)
			order = append(order, "waited")
		}()
		_ = t.Sleep(time.Hour)
		order = append(order, "woken")
	})
	w.Run(nil, env.Time(time.Second))
	steps := w.Steps()
	w.Close()
	w.Close()
	if diff := cmp.Diff([]string{"deferred", "the next one"}, order); diff != "" {
		t.Errorf("while unwinding (-want +got):\n%s", diff)
	}
	if w.Steps() != steps || w.Err() != nil || w.Reached("never") != 0 {
		t.Errorf("closing made %d steps, error %v", w.Steps()-steps, w.Err())
	}
}

// TestMutationIsFound has either side of a call change the request: with a codec that is a broken
// invariant.
func TestMutationIsFound(t *testing.T) {
	for _, guilty := range []string{"sender", "receiver"} {
		w := sim.New(sim.Options{Codec: textCodec{}})
		w.AddNode("b", func(t env.Task) {
			t.Node().Serve(func(_ env.Task, _ env.NodeID, req env.Message) (env.Message, error) {
				if guilty == "receiver" {
					req.(*text).Text = "changed"
				}
				return &text{"done"}, nil
			})
		})
		w.AddNode("a", func(t env.Task) {
			m := &text{"original"}
			if guilty == "sender" {
				t.Node().After(50*time.Microsecond, func() { m.Text = "changed" })
			}
			_, _ = t.Call("b", m, time.Second)
		})
		w.Run(nil, env.Time(time.Second))
		if err := w.Err(); err == nil || !strings.Contains(err.Error(), "changed by its "+guilty) {
			t.Errorf("the %s changed a message, the world says %v", guilty, err)
		}
		w.Close()
	}
}

// TestClockNeverGoesBack demands that a sleep lasts as long on the node's own clock, whatever its
// rate.
func TestClockNeverGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := sim.New(sim.Options{})
		defer w.Close()
		rates := rapid.SliceOfN(rapid.Int64Range(-2_000_000, 10_000_000), 1, 8).Draw(t, "ppm")
		sleeps := rapid.SliceOfN(rapid.Int64Range(0, 1e10), 1, 8).Draw(t, "sleeps")
		w.AddNode("a", func(task env.Task) {
			for i, d := range sleeps {
				before := task.Node().Mono()
				w.SetDrift("a", rates[i%len(rates)])
				if now := task.Node().Mono(); now != before {
					t.Fatalf("setting the rate moved the clock from %d to %d", before, now)
				}
				_ = task.Sleep(time.Duration(d))
				if took := task.Node().Mono().Sub(before); took < time.Duration(d) {
					t.Fatalf("a sleep of %d took %d", d, took)
				}
			}
		})
		if why := w.Run(nil, 1<<50); why != sim.Idle {
			t.Fatalf("%s: %v", why, w.Err())
		}
	})
}

// TestFailureIsNotedAtOnce has a deferred function wait after a failed assertion: the run ends all
// the same.
func TestFailureIsNotedAtOnce(t *testing.T) {
	w := sim.New(sim.Options{})
	defer w.Close()
	w.AddNode("a", func(t env.Task) {
		defer func() { _ = t.Sleep(time.Hour) }()
		t.Node().Assert(false, "two and two are %d", 5)
	})
	why := w.Run(nil, env.Time(time.Second))
	if why != sim.Broken || !strings.HasSuffix(w.Err().Error(), "two and two are 5") {
		t.Errorf("the run ended as %s with %v", why, w.Err())
	}
}
