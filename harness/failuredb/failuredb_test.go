package failuredb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/harness/failuredb"
)

func at(day int) failuredb.Sighting {
	return failuredb.Sighting{
		At:    time.Date(2026, 11, day, 12, 0, 0, 0, time.UTC),
		Build: fmt.Sprint("build-", day),
		Seed:  uint64(day),
	}
}

func open(t testing.TB, dir string) *failuredb.Memory {
	t.Helper()
	m, err := failuredb.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestLife follows a signature from its first failure through a fix and back, each campaign with
// the memory opened again.
func TestLife(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "memory")
	days := []struct {
		say  func(m *failuredb.Memory, s failuredb.Sighting) (failuredb.Status, error)
		want failuredb.Status
	}{
		1: {fails("lost-write-1"), failuredb.New},
		2: {replayed(true), failuredb.Known},
		3: {fails("lost-write-3"), failuredb.Known},
		4: {replayed(false), failuredb.Fixed},
		5: {replayed(false), failuredb.Fixed},
		6: {fails(""), failuredb.CameBack},
		7: {replayed(true), failuredb.Known},
	}
	for day := 1; day < len(days); day++ {
		m := open(t, dir)
		if err := m.Begin(at(day)); err != nil {
			t.Fatal(err)
		}
		if got, err := days[day].say(m, at(day)); err != nil || got != days[day].want {
			t.Errorf("day %d: %s, %v; want %s", day, got, err, days[day].want)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := []failuredb.Entry{{
		Signature: "lost-write",
		Status:    failuredb.Known,
		First:     at(1),
		Last:      at(7),
		Times:     3,
		Cases:     []string{"lost-write-1", "lost-write-3"},
	}}
	m := open(t, dir)
	defer m.Close()
	if diff := cmp.Diff(want, m.Entries()); diff != "" {
		t.Error(diff)
	}
}

func fails(folder string) func(*failuredb.Memory, failuredb.Sighting) (failuredb.Status, error) {
	return func(m *failuredb.Memory, s failuredb.Sighting) (failuredb.Status, error) {
		return m.Failed("lost-write", s, folder)
	}
}

func replayed(fails bool) func(*failuredb.Memory, failuredb.Sighting) (failuredb.Status, error) {
	return func(m *failuredb.Memory, s failuredb.Sighting) (failuredb.Status, error) {
		return m.Replayed("lost-write", s, fails)
	}
}

// TestKilledAnywhere cuts the record at every byte, as a crash may: what is left is what had been
// told by then.
func TestKilledAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "memory")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, failuredb.File)
		m, err := failuredb.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int64
		var states [][]failuredb.Entry
		note := func(err error) {
			info, statErr := os.Stat(path)
			if err != nil || statErr != nil {
				t.Fatal(err, statErr)
			}
			sizes, states = append(sizes, info.Size()), append(states, m.Entries())
		}
		note(nil)
		for i := range rapid.IntRange(1, 8).Draw(t, "lines") {
			signature := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "signature")
			switch rapid.IntRange(0, 2).Draw(t, "event") {
			case 0:
				note(m.Begin(at(i + 1)))
			case 1:
				_, err := m.Failed(signature, at(i+1), signature)
				note(err)
			case 2:
				_, err := m.Replayed(signature, at(i+1), rapid.Bool().Draw(t, "fails"))
				note(err)
			}
		}
		_ = m.Close()
		cut := rapid.Int64Range(0, sizes[len(sizes)-1]).Draw(t, "cut")
		if err := os.Truncate(path, cut); err != nil {
			t.Fatal(err)
		}
		last := 0
		for i, size := range sizes {
			if size <= cut {
				last = i
			}
		}
		again, err := failuredb.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if diff := cmp.Diff(states[last], again.Entries()); diff != "" {
			t.Fatalf("cut at %d of %v: %s", cut, sizes, diff)
		}
	})
}

// TestRefused: what is no memory is left alone, and a damaged line is named.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, failuredb.File)
	for text, want := range map[string]string{
		"groceries\n": `memory.ndjson:1: this is the journal of a different command: "groceries"`,
		"{\"schema\":\"shardproof.memory/1\"}\nmilk\n": "memory.ndjson:2: it is damaged",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := failuredb.Open(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("it is now %q, %v", now, err)
		}
	}
	if _, err := failuredb.Open(path); err == nil ||
		!strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file as the folder: %v", err)
	}
}

// TestShapes: of a known signature a run of each shape is kept, and a shape only once.
func TestShapes(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	add := func(shape, folder string, day int) {
		t.Helper()
		if _, err := m.Failed("lost-write", at(day), ""); err != nil {
			t.Fatal(err)
		}
		if !m.WorthShaping("lost-write") || !m.WantsShape("lost-write", shape) {
			t.Fatalf("the shape %s is not wanted", shape)
		}
		if err := m.HasShape("lost-write", shape, at(day), folder); err != nil {
			t.Fatal(err)
		}
		if m.WantsShape("lost-write", shape) {
			t.Fatalf("the shape %s is wanted again", shape)
		}
	}
	add("kCloning, crash", "lost-write-1", 1)
	add("kCommittingOnConfig, pause", "lost-write-2", 2)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = open(t, dir)
	defer m.Close()
	e := m.Entries()[0]
	if diff := cmp.Diff([]string{"lost-write-1", "lost-write-2"}, e.Cases); diff != "" ||
		len(e.Shapes) != 2 || e.Times != 2 {
		t.Errorf("%+v %s", e, diff)
	}
	const many = 1000
	looked := 0
	for range many {
		if _, err := m.Failed("lost-write", at(3), ""); err != nil {
			t.Fatal(err)
		}
		if m.WorthShaping("lost-write") {
			looked++
		}
	}
	if looked < 5 || looked > 20 {
		t.Errorf("%d of %d more were looked at", looked, many)
	}
}
