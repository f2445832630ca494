package cursor

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// TestReadForLong: however often a cursor is read, nothing is kept but the cursor.
func TestReadForLong(t *testing.T) {
	world := sim.New(sim.Options{Seed: 1})
	defer world.Close()
	world.AddNode("router", func(task env.Task) {
		r := NewRegistry(task.Node(), func() time.Duration { return time.Minute })
		id := r.Keep(task, Open("test.docs", List([]bson.Raw{{}})))
		for range 1000 {
			c, err := r.Take(id)
			if err != nil {
				t.Error(err)
				return
			}
			r.Return(task, id, c)
		}
		if n := len(r.queue); n != 1 {
			t.Errorf("%d places are kept of one cursor", n)
		}
	})
	world.Run(nil, env.Time(time.Minute))
	if err := world.Err(); err != nil {
		t.Fatal(err)
	}
}

// step is a wait, and then what happens to a cursor.
type step struct {
	wait time.Duration
	do   string
	of   int
}

// TestIdle: a cursor is there as long as it has been idle for less than the limit since it was read
// last, whatever happens to others. Those that were idle for longer are gone once another is opened
// or read.
func TestIdle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				wait: time.Duration(rapid.SampledFrom([]int{0, 1, 20, 40, 61}).Draw(t, "seconds")) *
					time.Second,
				do: rapid.SampledFrom([]string{"open", "read", "read", "kill"}).Draw(t, "do"),
				of: rapid.IntRange(0, 3).Draw(t, "cursor"),
			}
		}), 1, 30).Draw(t, "steps")
		world := sim.New(sim.Options{Seed: 1})
		defer world.Close()
		world.AddNode("router", func(task env.Task) { useInTurn(t, task, steps) })
		world.Run(nil, env.Time(time.Hour))
		if err := world.Err(); err != nil {
			t.Fatal(err)
		}
	})
}

// opened is a cursor as it should be: closed, or open until a time at least.
type opened struct {
	id   int64
	open bool
	ends env.Time
}

func useInTurn(t *rapid.T, task env.Task, steps []step) {
	const idle = time.Minute
	r := NewRegistry(task.Node(), func() time.Duration { return idle })
	var all []*opened
	for _, s := range steps {
		if err := task.Sleep(s.wait); err != nil {
			t.Error(err)
			return
		}
		now := task.Node().Mono()
		if s.do == "open" || len(all) == 0 {
			id := r.Keep(task, Open("test.docs", List([]bson.Raw{{}})))
			closeIdle(all, now)
			all = append(all, &opened{id, true, now.Add(idle)})
			continue
		}
		c := all[s.of%len(all)]
		if s.do == "kill" {
			r.Kill(task, c.id)
			c.open = false
			continue
		}
		taken, err := r.Take(c.id)
		if (err == nil) != c.open {
			t.Errorf("at %v, a cursor that is open: %v, until %v: %v", now, c.open, c.ends, err)
		}
		if err == nil {
			r.Return(task, c.id, taken)
			c.ends = now.Add(idle)
			closeIdle(all, now)
		}
	}
}

func closeIdle(all []*opened, now env.Time) {
	for _, c := range all {
		c.open = c.open && c.ends >= now
	}
}
