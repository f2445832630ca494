package failuredb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/harness/failuredb"
)

// TestMerge: several machines begin a night with the same memory. Merged, they know what one
// machine would that had seen it all in the order of time: no line of their past counts twice, and
// what is new to one is new to all.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root, err := os.MkdirTemp("", "merge")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(root)
		machines := rapid.IntRange(1, 4).Draw(t, "machines")
		past := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 0, 3).Draw(t, "past")
		dirs := make([]string, machines)
		for i := range dirs {
			dirs[i] = filepath.Join(root, string(rune('0'+i)))
		}
		one := filepath.Join(root, "one")
		for _, dir := range append([]string{one}, dirs...) {
			m := opened(t, dir)
			begin(t, m, 1)
			for i, signature := range past {
				fail(t, m, signature, 2+i)
			}
			shut(t, m)
		}
		alone := opened(t, one)
		begin(t, alone, 5)
		for i, dir := range dirs {
			m := opened(t, dir)
			begin(t, m, 5+i)
			signature := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "signature")
			fail(t, m, signature, 10+i)
			fail(t, alone, signature, 10+i)
			shut(t, m)
		}
		want := alone.Entries()
		shut(t, alone)
		merged := filepath.Join(root, "merged")
		if err := os.Mkdir(merged, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := failuredb.Merge(merged, dirs); err != nil {
			t.Fatal(err)
		}
		got, err := failuredb.Read(merged)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-one machine +merged)\n%s", diff)
		}
	})
}

func opened(t *rapid.T, dir string) *failuredb.Memory {
	m, err := failuredb.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func begin(t *rapid.T, m *failuredb.Memory, day int) {
	if err := m.Begin(at(day)); err != nil {
		t.Fatal(err)
	}
}

func fail(t *rapid.T, m *failuredb.Memory, signature string, day int) {
	if _, err := m.Failed(signature, at(day), ""); err != nil {
		t.Fatal(err)
	}
}

func shut(t *rapid.T, m *failuredb.Memory) {
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestMergeRefuses: a damaged line is refused with its place, and nothing is written.
func TestMergeRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, failuredb.File)
	if err := os.WriteFile(file, []byte(`{"schema":"shardproof.memory/1"}`+"\n{\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	err := failuredb.Merge(to, []string{dir})
	if err == nil || !strings.Contains(err.Error(), failuredb.File+":2") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(to, failuredb.File)); err == nil {
		t.Error("something was written")
	}
}
