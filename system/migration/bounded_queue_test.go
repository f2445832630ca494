package migration

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// TestBoundedQueue: batches wait in the queue for as long as there is room for them, and the one
// that finds it empty always has room. They are taken in their order.
func TestBoundedQueue(t *testing.T) {
	for _, c := range []struct {
		most    int
		weights []int
		fit     int
	}{
		{most: 3, weights: []int{1, 1, 1, 1}, fit: 3},
		{most: 3, weights: []int{1, 3, 1}, fit: 1},
		{most: 3, weights: []int{5, 1}, fit: 1},
		{most: 0, weights: []int{5, 1, 7}, fit: 3},
	} {
		w := sim.New(sim.Options{Seed: 1})
		w.AddNode("recipient", func(task env.Task) {
			q := &boundedQueue{
				most: c.most, weigh: func(m *command.Mods) int { return len(m.Deletes) },
			}
			task.Spawn("fetch", func(fetcher env.Task) {
				q.fetch(fetcher, oneByOne(c.weights), func(m *command.Mods) bool {
					return len(m.Deletes) == 0
				})
			})
			if task.Sleep(time.Millisecond) != nil || len(q.batches) != c.fit {
				t.Errorf("of %v %d wait in a queue for %d, want %d",
					c.weights, len(q.batches), c.most, c.fit)
			}
			for _, want := range append(c.weights, 0) {
				switch m, err := q.take(task); {
				case err != nil || want == 0 && m != nil:
					t.Errorf("behind the last of %v: %v %v", c.weights, m, err)
				case want > 0 && (m == nil || len(m.Deletes) != want):
					t.Errorf("of %v %v was taken in the place of %d", c.weights, m, want)
				}
			}
		})
		w.Run(nil, env.Time(time.Second))
		if err := w.Err(); err != nil {
			t.Error(err)
		}
		w.Close()
	}
}

// oneByOne returns batches of these sizes, and then empty ones.
func oneByOne(sizes []int) func(env.Task) (*command.Mods, error) {
	return func(env.Task) (*command.Mods, error) {
		if len(sizes) == 0 {
			return &command.Mods{}, nil
		}
		m := &command.Mods{Deletes: make([]string, sizes[0])}
		sizes = sizes[1:]
		return m, nil
	}
}
