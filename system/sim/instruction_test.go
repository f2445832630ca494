package sim_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// instruction runs one line of a program and returns what it yielded.
func (s *script) instruction(t env.Task, w []string) (string, error) {
	rest := func(i int) string { return strings.Join(w[min(i, len(w)):], " ") }
	switch w[0] {
	case "say":
		s.say(t, "%s", rest(1))
	case "sleep":
		return "", t.Sleep(duration(w, 1))
	case "call": // node timeout text
		m, err := t.Call(env.NodeID(w[1]), &text{rest(3)}, duration(w, 2))
		if err != nil {
			return "", err
		}
		s.say(t, "%s answered: %s", w[1], m.(*text).Text)
	case "send": // node text
		t.Node().Send(env.NodeID(w[1]), &text{rest(2)})
	case "mutate": // node: changes a request while it is in progress
		m := &text{"mutable request"}
		t.Node().After(500*time.Microsecond, func() { m.Text = "mutated" })
		_, err := t.Call(env.NodeID(w[1]), m, 0)
		return "", err
	case "after": // duration text: says it from a timer
		s.timer(t, duration(w, 1), rest(2))
	case "inline": // text: a timer that waits, which it must not
		t.Node().After(time.Millisecond, func() { _ = t.Sleep(time.Second) })
		return "", t.Sleep(time.Second)
	case "stopped": // duration text: a timer that is stopped at once
		s.timer(t, duration(w, 1), rest(2)).Stop()
	case "spawn": // name instructions separated by "; "
		t.Spawn(w[1], func(t env.Task) { _, _ = s.program(t, strings.Split(rest(2), "; ")) })
	case "point", "yield":
		if w[0] == "yield" {
			return "", t.Yield(site(w[1]))
		}
		return "", t.Point(site(w[1]), env.Note{})
	case "choose": // kind site n
		s.say(t, "chose %d", t.Node().Choose(env.Choice(w[1]), w[2], len(w[3])))
	case "clock":
		s.say(t, "wall %s, monotonic %s",
			time.Duration(t.Node().Now()), time.Duration(t.Node().Mono()))
	case "assert":
		t.Node().Assert(false, "%s", rest(1))
	case "panic":
		panic(rest(1))
	case "reach":
		t.Node().Sometimes(w[1])
	case "fail":
		return "", errcode.New(errcode.Code(w[1]), "%s", rest(2))
	case "answer":
		return rest(1), nil
	default:
		return s.waiting(t, w)
	}
	return "", nil
}

func (s *script) timer(t env.Task, d time.Duration, text string) env.Timer {
	return t.Node().After(d, func() {
		fmt.Fprintf(&s.out, "%10s %s: timer: %s\n", time.Duration(s.w.Now()), t.Node().ID(), text)
	})
}

// waiting are the instructions about conditions, scopes and disks.
func (s *script) waiting(t env.Task, w []string) (string, error) {
	rest := strings.Join(w[min(2, len(w)):], " ")
	switch w[0] {
	case "wait": // cond timeout
		return "", s.cond(w[1]).Wait(t, duration(w, 2))
	case "waitfor": // cond timeout: until set
		return "", s.cond(w[1]).WaitFor(t, duration(w, 2), func() bool { return s.flags[w[1]] })
	case "set":
		s.flags[w[1]] = true
	case "close": // scope
		s.scope(w[1]).Close(errcode.New(errcode.Interrupted, "scope %s is closed", w[1]))
	case "signal":
		s.cond(w[1]).Signal()
	case "broadcast":
		s.cond(w[1]).Broadcast()
	case "cancel": // scope
		s.scope(w[1]).Cancel(errcode.New(errcode.Interrupted, "scope %s is over", w[1]))
	case "interrupt": // task
		s.tasks[w[1]].Interrupt(errcode.New(errcode.Interrupted, "killed"))
	case "append": // file text
		return "", t.Node().Disk().Append(t, w[1], []byte(rest))
	case "sync":
		return "", t.Node().Disk().Sync(t, w[1])
	case "replace":
		return "", t.Node().Disk().Replace(t, w[1], []byte(rest))
	case "read":
		b, err := t.Node().Disk().Read(t, w[1])
		if err == nil {
			s.say(t, "%s holds %q, missing %v", w[1], b, b == nil)
		}
		return "", err
	default:
		panic("unknown instruction " + w[0])
	}
	return "", nil
}

func (s *script) cond(name string) *env.Cond {
	if s.conds[name] == nil {
		s.conds[name] = &env.Cond{}
	}
	return s.conds[name]
}
