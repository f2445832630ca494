package sim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// TestOrderOnLinks demands that messages overtake each other, unless links are FIFO.
func TestOrderOnLinks(t *testing.T) {
	arrivals := func(fifo bool) (order []int) {
		w := sim.New(sim.Options{Network: sim.Network{FIFO: fifo, Tail: sim.Always / 10}})
		defer w.Close()
		w.AddNode("b", func(t env.Task) {
			t.Node().Receive(func(_ env.NodeID, m env.Message) { order = append(order, m.(int)) })
		})
		w.AddNode("a", func(t env.Task) {
			for i := range 100 {
				t.Node().Send("b", i)
				_ = t.Sleep(50 * time.Microsecond)
			}
		})
		w.Run(nil, env.Time(time.Second))
		return order
	}
	if order := arrivals(true); len(order) != 100 || !slices.IsSorted(order) {
		t.Errorf("in FIFO order: %v", order)
	}
	if order := arrivals(false); len(order) != 100 || slices.IsSorted(order) {
		t.Errorf("nothing was overtaken: %v", order)
	}
}
