package envtest

import (
	"fmt"

	"github.com/shardproof/shardproof/system/env"
)

// endings are the promises about the end of processes.
var endings = []func(h *hall) promise{
	func(h *hall) promise {
		return promise{
			name: "a restarted node is another incarnation with nothing in memory",
			a: func(t env.Task) {
				h.Say(fmt.Sprint(t.Node().ID(), " ", t.Node().Incarnation()))
				t.Node().After(long, func() { h.Say("a timer of an earlier life") })
			},
			script: restarts,
			said:   []string{"a 1", "a 2"},
		}
	},
	func(h *hall) promise {
		return promise{
			name:   "a call fails when the process that serves it dies",
			a:      func(t env.Task) { reach(t, "b"); call(h, t, "b", "never") },
			b:      server(h),
			script: func(h *hall) { h.heard("never begins"); h.Crash("b") },
			said:   []string{"never begins", "HostUnreachable"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "a node that is down is unreachable, and reachable again after a restart",
			a: func(t env.Task) {
				reach(t, "b")
				h.Say("reached")
				for {
					if _, err := t.Call("b", &Text{"hello"}, long); err != nil {
						break
					}
					_ = t.Sleep(idle)
				}
				h.Say("gone")
				reach(t, "b")
				h.Say("back")
			},
			b: server(h),
			script: func(h *hall) {
				h.heard("reached")
				h.Crash("b")
				h.heard("gone")
				h.Restart("b")
			},
			said: []string{"reached", "gone", "back"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "nothing of a crashed process acts any more",
			a: func(t env.Task) {
				if t.Node().Incarnation() > 1 {
					holds(h, t, "trace")
					h.Say("end")
					return
				}
				t.Spawn("deferring", func(t env.Task) {
					defer func() { _ = t.Node().Disk().Replace(t, "trace", []byte("deferred")) }()
					_ = t.Park(0)
				})
				_ = t.Sleep(idle)
				h.Say("parked")
			},
			script: func(h *hall) { h.heard("parked"); h.Crash("a"); h.Restart("a") },
			said:   []string{"parked", `trace "" true <nil>`, "end"},
		}
	},
}
