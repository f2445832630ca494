package envtest

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/system/env"
)

// timing are the promises about clocks and timers.
var timing = []func(h *hall) promise{
	func(h *hall) promise {
		return promise{
			name: "a sleep lasts at least as long as asked for",
			a: func(t env.Task) {
				n := t.Node()
				before, wall := n.Mono(), n.Now()
				err := t.Sleep(idle)
				h.Say(fmt.Sprint(err, n.Mono().Sub(before) >= idle, n.Now() > wall))
				h.Say(fmt.Sprint(t.Sleep(0)))
			},
			said: []string{"<nil> true true", "<nil>"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "timers fire in the order of their times",
			a: func(t env.Task) {
				n, began := t.Node(), t.Node().Mono()
				for _, d := range []time.Duration{2 * idle, idle} {
					n.After(d,
						func() { h.Say(fmt.Sprint(int(d/idle), " ", n.Mono().Sub(began) >= d)) })
				}
				_ = t.Sleep(3 * idle)
				h.Say("end")
			},
			said: []string{"1 true", "2 true", "end"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "a stopped timer does not fire",
			a: func(t env.Task) {
				stopped := t.Node().After(idle, func() { h.Say("fired") })
				stopped.Stop()
				stopped.Stop()
				fired := t.Node().After(0, func() {})
				_ = t.Sleep(2 * idle)
				fired.Stop()
				h.Say("end")
			},
			said: []string{"end"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "a timer does not wait for tasks that do",
			a: func(t env.Task) {
				t.Node().After(idle, func() { h.Say("timer") })
				h.Say("parks")
				_ = t.Park(0)
			},
			said: []string{"parks", "timer"},
		}
	},
}
