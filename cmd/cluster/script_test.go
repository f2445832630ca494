package cluster_test

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/cmd/cli"
	"github.com/shardproof/shardproof/cmd/cluster"
	"github.com/shardproof/shardproof/cmd/scripttest"
	"github.com/shardproof/shardproof/harness"
)

func TestMain(m *testing.M) {
	tool := func() int {
		return cli.MainWith([]*cobra.Command{cluster.New()}, harness.Targets()...)
	}
	scripttest.Main(m, scripttest.Program{Name: "shardproof", Main: tool},
		scripttest.Program{Name: "session", Main: session},
		scripttest.Program{Name: "certificate", Main: certificate})
}

// TestScripts runs clusters of real processes by the commands: what they print, their exit codes.
func TestScripts(t *testing.T) {
	scripttest.Scripts{Folder: "testdata/script", CleanUp: stopAll}.Run(t)
}

// stopAll ends the processes of every cluster below a folder, which a script that fails leaves.
func stopAll(folder string) error {
	plans, err := filepath.Glob(filepath.Join(folder, "*", "cluster.json"))
	errs := []error{err}
	for _, plan := range plans {
		stop := cluster.New()
		stop.SetArgs([]string{"stop", filepath.Dir(plan)})
		stop.SetOut(io.Discard)
		errs = append(errs, stop.Execute())
	}
	return errors.Join(errs...)
}
