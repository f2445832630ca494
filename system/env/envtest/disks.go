package envtest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/system/env"
)

func holds(h *hall, t env.Task, file string) {
	content, err := t.Node().Disk().Read(t, file)
	h.Say(fmt.Sprintf("%s %q %t %v", file, content, content == nil, err))
}

// disks are the promises about files.
var disks = []func(h *hall) promise{
	func(h *hall) promise {
		return promise{
			name: "a disk shows what was written to it",
			a: func(t env.Task) {
				d := t.Node().Disk()
				holds(h, t, "log")
				h.Say(fmt.Sprint(d.Sync(t, "log")))
				holds(h, t, "log")
				h.Say(fmt.Sprint(d.Append(t, "log", []byte("one "))))
				h.Say(fmt.Sprint(d.Append(t, "log", []byte("two"))))
				holds(h, t, "log")
				h.Say(fmt.Sprint(d.Replace(t, "log", []byte("new"))))
				holds(h, t, "log")
				h.Say(fmt.Sprint(d.Append(t, "log", []byte(" end"))))
				h.Say(fmt.Sprint(d.Sync(t, "log")))
				holds(h, t, "log")
				h.Say(fmt.Sprint(d.Replace(t, "log", nil)))
				holds(h, t, "log")
			},
			said: []string{`log "" true <nil>`, "<nil>", `log "" true <nil>`, "<nil>", "<nil>",
				`log "one two" false <nil>`, "<nil>", `log "new" false <nil>`, "<nil>", "<nil>",
				`log "new end" false <nil>`, "<nil>", `log "" false <nil>`},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "what was synced or replaced survives a crash",
			a: func(t env.Task) {
				d := t.Node().Disk()
				if t.Node().Incarnation() > 1 {
					holds(h, t, "log")
					holds(h, t, "snapshot")
					return
				}
				_ = d.Append(t, "log", []byte("kept"))
				_ = d.Sync(t, "log")
				_ = d.Replace(t, "snapshot", []byte("old"))
				_ = d.Replace(t, "snapshot", []byte("new"))
				h.Say("written")
			},
			script: restarts,
			said:   []string{"written", `log "kept" false <nil>`, `snapshot "new" false <nil>`},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "of what was not synced a prefix survives a crash",
			a: func(t env.Task) {
				d := t.Node().Disk()
				whole := []byte("synced" + strings.Repeat(" more", 100))
				if t.Node().Incarnation() > 1 {
					kept, err := d.Read(t, "log")
					h.Say(fmt.Sprint(bytes.HasPrefix(whole, kept),
						bytes.HasPrefix(kept, []byte("synced")), err))
					return
				}
				_ = d.Append(t, "log", []byte("synced"))
				_ = d.Sync(t, "log")
				for range 100 {
					_ = d.Append(t, "log", []byte(" more"))
				}
				h.Say("written")
			},
			script: restarts,
			said:   []string{"written", "true true <nil>"},
		}
	},
	func(h *hall) promise {
		return promise{
			name: "a task that waits for the disk does not keep others from running",
			a: func(t env.Task) {
				t.Spawn("other", func(env.Task) { h.Say("other") })
				_ = t.Node().Disk().Replace(t, "file", bytes.Repeat([]byte("x"), 1<<20))
				h.Say("replaced")
			},
			said: []string{"other", "replaced"},
		}
	},
}

// restarts crashes node a once it has said something, and boots it again.
func restarts(h *hall) {
	h.heard(h.first())
	h.Crash("a")
	h.Restart("a")
}

func (h *hall) first() string {
	h.Wait(func() bool { return len(h.Said()) > 0 })
	return at(h.Said(), 0)
}
