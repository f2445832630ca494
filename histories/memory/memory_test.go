package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/histories/memory"
)

func at(day int) memory.Sighting {
	return memory.Sighting{At: time.Date(2026, 11, day, 12, 0, 0, 0, time.UTC), Build: fmt.Sprint("build-", day), Seed: uint64(day)}
}

func open(t testing.TB, dir string) *memory.Memory {
	t.Helper()
	m, err := memory.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestLife follows a signature from its first failure through a fix and back, each campaign with the memory opened anew.
func TestLife(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "memory")
	days := []struct {
		say  func(m *memory.Memory, s memory.Sighting) (memory.Status, error)
		want memory.Status
	}{
		1: {fails("lost-write-1"), memory.New},
		2: {replayed(true), memory.Known},
		3: {fails("lost-write-3"), memory.Known},
		4: {replayed(false), memory.Fixed},
		5: {replayed(false), memory.Fixed},
		6: {fails(""), memory.CameBack},
		7: {replayed(true), memory.Known},
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
	want := []memory.Entry{{
		Signature: "lost-write", Status: memory.Known, First: at(1), Last: at(7), Times: 3, Cases: []string{"lost-write-1", "lost-write-3"},
	}}
	m := open(t, dir)
	defer m.Close()
	if diff := cmp.Diff(want, m.Entries()); diff != "" {
		t.Error(diff)
	}
}

func fails(folder string) func(*memory.Memory, memory.Sighting) (memory.Status, error) {
	return func(m *memory.Memory, s memory.Sighting) (memory.Status, error) {
		return m.Failed("lost-write", s, folder)
	}
}

func replayed(fails bool) func(*memory.Memory, memory.Sighting) (memory.Status, error) {
	return func(m *memory.Memory, s memory.Sighting) (memory.Status, error) {
		return m.Replayed("lost-write", s, fails)
	}
}

// TestKilledAnywhere cuts the record at every byte, as a crash may: what is left is what had been told by then.
func TestKilledAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "memory")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, memory.File)
		m, err := memory.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int64
		var states [][]memory.Entry
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
		again, err := memory.Open(dir)
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
	path := filepath.Join(dir, memory.File)
	for text, want := range map[string]string{
		"groceries\n": `memory.ndjson:1: this is the journal of something else: "groceries"`,
		"{\"schema\":\"shardproof.memory/1\"}\nmilk\n": "memory.ndjson:2: it is damaged",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := memory.Open(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("it is now %q, %v", now, err)
		}
	}
	if _, err := memory.Open(path); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file as the folder: %v", err)
	}
}
