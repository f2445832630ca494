package envtest

import (
	"fmt"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
)

// tasks are the promises about tasks, scopes and conditions.
var tasks = []func(h *hall) promise{
	func(h *hall) promise {
		return promise{
			name: "a task runs alone until it waits",
			a: func(t env.Task) {
				shared, left := 0, 3
				for range left {
					t.Spawn("counter", func(t env.Task) {
						for range 100 {
							before := shared
							shared = before + 1
							if t.Yield(failpoint.ReplicaBeforeSync) != nil {
								h.Say("a yield failed")
							}
						}
						if left--; left == 0 {
							h.Say(fmt.Sprint(shared))
						}
					})
				}
			},
			said: []string{"300"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "a spawned task starts after the next wait of its maker",
			a: func(t env.Task) {
				t.Spawn("later", func(env.Task) { h.Say("spawned") })
				h.Say("maker")
				_ = t.Sleep(idle)
				h.Say("maker again")
			},
			said: []string{"maker", "spawned", "maker again"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "unpark ends a park, and does nothing outside of one",
			a: func(t env.Task) {
				t.Unpark()
				t.Node().After(idle, t.Unpark)
				h.Say(fmt.Sprint(t.Park(long)))
				err := t.Park(idle)
				h.Say(string(errcode.Of(err)))
			},
			said: []string{"<nil>", "ExceededTimeLimit"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "a condition wakes those who wait in the order in which they came",
			a: func(t env.Task) {
				var c env.Cond
				for i := range 3 {
					t.Spawn("waiter", func(t env.Task) {
						err := c.Wait(t, 0)
						h.Say(fmt.Sprint(i, err))
					})
				}
				_ = t.Sleep(idle)
				c.Signal()
				_ = t.Sleep(idle)
				c.Broadcast()
			},
			said: []string{"0 <nil>", "1 <nil>", "2 <nil>"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "an interrupted task fails in its wait and in every later one",
			a: func(t env.Task) {
				t.Spawn("victim", func(v env.Task) {
					t.Node().After(idle, func() {
						v.Interrupt(errcode.New(errcode.Interrupted, "first"))
						v.Interrupt(errcode.New(errcode.Interrupted, "second"))
					})
					h.Say(v.Sleep(long).Error())
					h.Say(v.Park(0).Error())
					_, err := v.Call("a", &Text{"hello"}, 0)
					h.Say(err.Error())
					h.Say(v.Node().Disk().Sync(v, "file").Error())
					h.Say(v.Point(failpoint.ReplicaBeforeSync, env.Note{}).Error())
				})
			},
			said: []string{"Interrupted: first", "Interrupted: first", "Interrupted: first",
				"Interrupted: first", "Interrupted: first"},
		}
	},
	func(h *hall) promise {
		return promise{name: "a cancelled scope ends the waits of its tasks", a: cancels(h),
			said: []string{"inner over", "outer over", "late over"}}
	},
	func(h *hall) promise {
		return promise{
			name: "choices are in their range",
			a: func(t env.Task) {
				seen := map[int]bool{}
				for range 1000 {
					seen[t.Node().Choose("envtest.choice", "site", 4)] = true
				}
				h.Say(fmt.Sprint(len(seen), seen[0] && seen[1] && seen[2] && seen[3]))
				h.Say(fmt.Sprint(t.Node().Choose("envtest.choice", "single", 1)))
			},
			said: []string{"4 true", "0"},
		}
	},
}

// cancels has an inner scope end with its outer one, and a task begin in a scope that is over.
func cancels(h *hall) env.Boot {
	return func(t env.Task) {
		outer := env.NewScope(nil)
		inner := env.NewScope(outer)
		spawn := func(s *env.Scope, name string) {
			t.Node().Spawn(s, name, func(t env.Task) {
				if err := t.Sleep(long); errcode.Is(err, errcode.PrimarySteppedDown) {
					h.Say(name + " over")
				}
			})
		}
		spawn(inner, "inner")
		_ = t.Sleep(idle)
		inner.Cancel(errcode.New(errcode.PrimarySteppedDown, "over"))
		_ = t.Sleep(idle)
		spawn(outer, "outer")
		_ = t.Sleep(idle)
		outer.Cancel(errcode.New(errcode.PrimarySteppedDown, "over"))
		_ = t.Sleep(idle)
		spawn(outer, "late")
	}
}
