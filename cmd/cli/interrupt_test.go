package cli

import (
	"bytes"
	"context"
	"errors"
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
