package attack_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/cmd/attack"
	"github.com/shardproof/shardproof/cmd/cli"
	"github.com/shardproof/shardproof/cmd/cluster"
	"github.com/shardproof/shardproof/harness"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"shardproof": func() {
		os.Exit(cli.MainWith([]*cobra.Command{cluster.New(), attack.New()}, harness.Targets()...))
	}})
}

// TestScripts attacks small clusters of real processes by the command: what it prints, leaves and
// refuses. The command `exits CODE ARGS...` runs the tool and wants that code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	err := ts.Exec("shardproof", args[1:]...)
	code := "0"
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		code = strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}
