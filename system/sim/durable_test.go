package sim

import (
	"testing"

	"github.com/shardproof/shardproof/system/env"
)

// TestDurable: from outside one sees what every crash leaves of a file: what was synced or replaced,
// and nothing else, from any offset on.
func TestDurable(t *testing.T) {
	w := New(Options{})
	defer w.Close()
	see := func(what string, from int, want string, replaced int) {
		t.Helper()
		if b, n := w.Durable("a", "f", from); string(b) != want || n != replaced {
			t.Errorf("%s: from %d on %q is durable, %d times replaced; want %q, %d",
				what, from, b, n, want, replaced)
		}
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	ended := false
	w.AddNode("a", func(task env.Task) {
		disk := task.Node().Disk()
		see("there is no file", 0, "", 0)
		must(disk.Append(task, "f", []byte("one")))
		must(disk.Append(task, "f", []byte("two")))
		see("before the sync", 0, "", 0)
		must(disk.Sync(task, "f"))
		for from, want := range []string{"onetwo", "netwo", "etwo", "two", "wo", "o", ""} {
			see("after the sync", from, want, 0)
		}
		must(disk.Append(task, "f", []byte("three")))
		must(disk.Sync(task, "g"))
		see("with something unsynced", 3, "two", 0)
		must(disk.Replace(task, "f", []byte("new")))
		see("replaced", 1, "ew", 1)
		see("beyond the end", 9, "", 1)
		ended = true
	})
	w.Run(nil, env.Time(1<<40))
	if !ended {
		t.Errorf("the task has not ended: %v", w.Err())
	}
}
