package migration

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/sim"
)

// TestPulls asks in and out of turn, twice at once, and after a failure: every number has one
// answer.
func TestPulls(t *testing.T) {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	var p sequencedPulls[int]
	cursor := 0
	next := func(t env.Task) (*int, error) {
		if err := t.Sleep(time.Millisecond); err != nil {
			return nil, err
		}
		cursor++
		n := cursor
		return &n, nil
	}
	broken := func(env.Task) (*int, error) {
		return nil, errcode.New(errcode.FailPointEnabled, "on purpose")
	}
	w.AddNode("donor", func(task env.Task) {
		ask := func(t env.Task, number uint64, next func(env.Task) (*int, error)) int {
			n, err := p.serve(t, number, next)
			if err != nil {
				return -1
			}
			return *n
		}
		task.Spawn("double", func(double env.Task) {
			if got := ask(double, 1, next); got != 1 {
				t.Errorf("the double of request 1 got %d", got)
			}
		})
		for i, c := range []struct {
			number uint64
			next   func(env.Task) (*int, error)
			want   int
		}{
			{1, next, 1},
			{1, next, 1},
			{2, broken, -1},
			{3, next, -1},
			{2, next, 2},
			{2, broken, 2},
			{1, next, -1},
			{3, next, 3},
		} {
			if got := ask(task, c.number, c.next); got != c.want {
				t.Errorf("request %d (number %d) got %d, want %d", i, c.number, got, c.want)
			}
			if i == 0 && task.Sleep(time.Millisecond) != nil { // the double comes now
				return
			}
		}
	})
	w.Run(nil, env.Time(time.Second))
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
}
