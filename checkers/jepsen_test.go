package checkers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/histories/jepsen"
)

const recorded = "../histories/jepsen/testdata"

// patient limits leave the verdict to the search alone.
func patient() Limits {
	return Limits{Search: time.Minute, Acts: 100_000, Sample: 1000}
}

func judgeFile(t *testing.T, path string) Outcome {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ops, err := jepsen.Read(path, f)
	if err != nil {
		t.Fatal(err)
	}
	return Worst(Check(ops, patient())).Outcome
}

// All verdicts on histories that Jepsen recorded from etcd are the known ones.
func TestJepsenEtcd(t *testing.T) {
	verdicts, err := os.ReadFile(filepath.Join(recorded, "jepsen-etcd", "verdicts.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, line := range strings.Split(strings.TrimSpace(string(verdicts)), "\n") {
		name, linearizable, _ := strings.Cut(line, "\t")
		want := map[string]Outcome{"true": Pass, "false": Fail}[linearizable]
		if got := judgeFile(t, filepath.Join(recorded, "jepsen-etcd", name)); got != want {
			t.Errorf("%s: %s, known as %s", name, got, want)
		}
		count++
	}
	if count != 52 {
		t.Errorf("%d files", count)
	}
}

// So are those on the key-value histories.
func TestKeyValue(t *testing.T) {
	for name, want := range map[string]Outcome{"c01-ok": Pass, "c10-ok": Pass, "c10-bad": Fail} {
		if got := judgeFile(t, filepath.Join(recorded, "kv", name+".txt")); got != want {
			t.Errorf("%s: %s, known as %s", name, got, want)
		}
	}
}
