package envtest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// server answers a text by its first word.
func server(h *hall) env.Boot {
	return func(t env.Task) {
		t.Node().Serve(func(t env.Task, from env.NodeID, req env.Message) (env.Message, error) {
			text := req.(*Text).Text
			switch text {
			case "coded":
				return nil, errcode.With(errcode.StaleConfig, &Text{"detail"}, "it is stale")
			case "plain":
				return nil, errors.New("no code")
			case "slow":
				_ = t.Sleep(4 * idle)
				h.Say("slow is done")
			case "never":
				h.Say("never begins")
				_ = t.Park(0)
			}
			return &Text{string(from) + " asked " + text}, nil
		})
	}
}

// call makes one call and says what came of it.
func call(h *hall, t env.Task, to env.NodeID, text string) {
	m, err := t.Call(to, &Text{text}, 0)
	if err != nil {
		h.Say(string(errcode.Of(err)))
		return
	}
	h.Say(m.(*Text).Text)
}

// reach calls until the other node serves.
func reach(t env.Task, to env.NodeID) {
	for {
		if _, err := t.Call(to, &Text{"hello"}, long); err == nil {
			return
		}
		_ = t.Sleep(idle)
	}
}

// messages are the promises about calls and one-way messages.
var messages = []func(h *hall) promise{
	func(h *hall) promise {
		return promise{
			name: "a call returns what the handler answers",
			a: func(t env.Task) {
				reach(t, "b")
				call(h, t, "b", "me")
				call(h, t, "b", strings.Repeat("long ", 20000)[:5])
			},
			b:    server(h),
			said: []string{"a asked me", "a asked long "},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "an error arrives with its code, and with its detail",
			a: func(t env.Task) {
				reach(t, "b")
				_, err := t.Call("b", &Text{"coded"}, long)
				if e, ok := errors.AsType[*errcode.Error](err); ok {
					detail, _ := e.Detail.(*Text)
					h.Say(fmt.Sprint(e, " ", detail.Text))
				}
				call(h, t, "b", "plain")
			},
			b:    server(h),
			said: []string{"StaleConfig: it is stale detail", "InternalError"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "a node reaches itself",
			a: func(t env.Task) {
				server(h)(t)
				t.Node().Receive(func(from env.NodeID, m env.Message) {
					h.Say(string(from) + " sent " + m.(*Text).Text)
				})
				call(h, t, "a", "myself")
				call(h, t, "a", "plain")
				t.Node().Send("a", &Text{"word"})
			},
			said: []string{"a asked myself", "InternalError", "a sent word"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "a node that is not there, or does not serve, is unreachable",
			a: func(t env.Task) {
				call(h, t, "nowhere", "hello")
				call(h, t, "a", "hello")
				call(h, t, "b", "hello")
			},
			b:    func(t env.Task) {},
			said: []string{"HostUnreachable", "HostUnreachable", "HostUnreachable"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "a call that times out may still be executed",
			a: func(t env.Task) {
				reach(t, "b")
				_, err := t.Call("b", &Text{"slow"}, idle)
				h.Say(string(errcode.Of(err)))
			},
			b:    server(h),
			said: []string{"NetworkTimeout", "slow is done"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "requests are served side by side",
			a: func(t env.Task) {
				reach(t, "b")
				t.Spawn("slow", func(t env.Task) { call(h, t, "b", "slow") })
				_ = t.Sleep(idle)
				call(h, t, "b", "quick")
			},
			b:    server(h),
			said: []string{"a asked quick", "slow is done", "a asked slow"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "an interrupted call ends at once",
			a: func(t env.Task) {
				reach(t, "b")
				t.Node().After(2*idle, func() {
					t.Interrupt(errcode.New(errcode.Interrupted, "enough"))
				})
				call(h, t, "b", "never")
			},
			b:    server(h),
			said: []string{"never begins", "Interrupted"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "one-way messages arrive, those to nobody without a word",
			a: func(t env.Task) {
				reach(t, "b")
				t.Node().Send("nowhere", &Text{"lost"})
				t.Node().Send("b", &Text{"word"})
			},
			b: func(t env.Task) {
				server(h)(t)
				t.Node().Receive(func(from env.NodeID, m env.Message) {
					h.Say(string(from) + " sent " + m.(*Text).Text)
				})
			},
			said: []string{"a sent word"},
		}
	},
}
