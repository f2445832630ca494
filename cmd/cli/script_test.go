package cli

import (
	"testing"

	"github.com/shardproof/shardproof/cmd/scripttest"
	"github.com/shardproof/shardproof/harness"
)

func TestMain(m *testing.M) {
	scripttest.Main(m, scripttest.Program{
		Name: "shardproof", Main: func() int { return Main(harness.Targets()...) },
	})
}

// TestScripts runs the whole tool: what it prints, which files it writes, its exit codes.
func TestScripts(t *testing.T) { scripttest.Run(t, "testdata/script") }
