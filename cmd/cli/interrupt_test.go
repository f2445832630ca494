package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/harness"
)

// TestInterruptionHasItsExitCode stops a campaign before its first seed, as an impatient SIGINT
// does.
func TestInterruptionHasItsExitCode(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	root := newRoot(harness.Targets())
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs([]string{"run", "--seeds", "5"})
	var end *exitError
	if err := root.ExecuteContext(ctx); !errors.As(err, &end) || end.code != exitInterrupted {
		t.Errorf("error %v, want exit code %d", err, exitInterrupted)
	}
	if !strings.Contains(out.String(), "0 of 5, interrupted") {
		t.Errorf("the summary does not say that it is partial:\n%s", &out)
	}
}

// TestInterruptedExplanation: the search for a scenario that passes ends when it is asked to, the
// failure is told all the same.
func TestInterruptedExplanation(t *testing.T) {
	hasty := filepath.Join(t.TempDir(), "hasty.txt")
	if err := os.WriteFile(hasty, []byte(hastyScenario), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	root := newRoot(harness.Targets())
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs([]string{"replay", "--explain", hasty})
	var end *exitError
	if err := root.ExecuteContext(ctx); !errors.As(err, &end) || end.code != exitBroke {
		t.Errorf("error %v, want exit code %d", err, exitBroke)
	}
	for _, want := range []string{"FAIL  not-finished", "passes was interrupted"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &out)
		}
	}
}

const hastyScenario = `shardproof scenario 2
seed 7
topology shards=2 members=3 config=3 routers=1 clients=2
faults-end 300ms
limit 1s
collection test.docs ranged keys=4 preload=4 bounds=2
set orphanCleanupDelaySecs 30s
op 1 at 10ms client 0 read test.docs k=1
op 2 at 20ms client 1 write test.docs k=1 v=w2
move 1 at 10ms test.docs [2, MaxKey) to shard-a
`
