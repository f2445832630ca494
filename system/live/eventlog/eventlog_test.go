package eventlog_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/live/eventlog"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func open(t *testing.T, folder string, limits eventlog.Limits) *eventlog.Log {
	t.Helper()
	l, err := eventlog.Open(folder, limits, quiet())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// add writes events with the steps from first on.
func add(l *eventlog.Log, incarnation, first, n int) {
	for step := first; step < first+n; step++ {
		e := trace.WritableEvent{Shard: "shard-a", Term: 1}.Event()
		e.Step, e.Node = uint64(step), "shard-a.0"
		l.Add(incarnation, e)
	}
}

type seen struct {
	incarnation int
	step        uint64
}

func read(t *testing.T, folder string) (all []seen) {
	t.Helper()
	err := eventlog.Read(folder, func(incarnation int, e *trace.Event) error {
		if e.Kind != trace.Writable || e.Shard != "shard-a" || e.Node != "shard-a.0" {
			t.Errorf("read %+v", e)
		}
		all = append(all, seen{incarnation, e.Step})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestKeepsNewest: the folder stays within its bound, and what is left are the newest events, in
// their order, over all incarnations.
func TestKeepsNewest(t *testing.T) {
	folder := t.TempDir()
	limits := eventlog.Limits{Segment: 1000, Segments: 3, Queue: 10_000}
	for incarnation := 1; incarnation <= 3; incarnation++ {
		l := open(t, folder, limits)
		add(l, incarnation, 1, 500)
		l.Close()
		if l.Dropped() > 0 {
			t.Errorf("%d events were dropped", l.Dropped())
		}
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) > 3 {
		t.Errorf("%d files: %v", len(files), err)
	}
	all := read(t, folder)
	if n := len(all); n == 0 || n > 200 || all[n-1] != (seen{3, 500}) {
		t.Fatalf("read %v", all)
	}
	for i := 1; i < len(all); i++ {
		if all[i] != (seen{3, all[i-1].step + 1}) {
			t.Fatalf("%v follows %v", all[i], all[i-1])
		}
	}
}

// TestTornEnd: what a crash has torn ends a segment without an error.
func TestTornEnd(t *testing.T) {
	folder := t.TempDir()
	l := open(t, folder, eventlog.Limits{})
	add(l, 1, 1, 10)
	l.Close()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], text[:len(text)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	if all := read(t, folder); len(all) != 9 {
		t.Errorf("of ten events, the last of them torn, %d are read", len(all))
	}
	other := []byte("something else, and longer than that")
	if err := os.WriteFile(files[0], other, 0o600); err != nil {
		t.Fatal(err)
	}
	if eventlog.Read(folder, nil) == nil {
		t.Error("a file that is no segment was read")
	}
}

// TestNeverWaits: events that come faster than they are written are counted.
func TestNeverWaits(t *testing.T) {
	l := open(t, t.TempDir(), eventlog.Limits{Queue: 1})
	for deadline := time.Now().Add(10 * time.Second); l.Dropped() == 0; {
		add(l, 1, 1, 1000)
		if time.Now().After(deadline) {
			t.Fatal("nothing was dropped")
		}
	}
	l.Close()
}
