package sim_test

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// A server crashes while it executes a request, and comes back.
func Example() {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	w.AddNode("server", func(t env.Task) {
		t.Node().Serve(func(t env.Task, from env.NodeID, req env.Message) (env.Message, error) {
			return req, t.Sleep(10 * time.Millisecond)
		})
	})
	w.AddNode("client", func(t env.Task) {
		for attempt := 1; ; attempt++ {
			if _, err := t.Call("server", "hello", time.Second); err == nil {
				fmt.Println("answered at attempt", attempt)
				return
			}
			_ = t.Sleep(20 * time.Millisecond)
		}
	})
	w.At(env.Time(5*time.Millisecond), func() { w.Crash("server") })
	w.At(env.Time(15*time.Millisecond), func() { w.Restart("server") })
	fmt.Println(w.Run(nil, env.Time(time.Second)), w.Err())
	// Output:
	// answered at attempt 2
	// idle <nil>
}
