package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/shardproof/shardproof/cmd/cli"
	"github.com/shardproof/shardproof/harness/example/kvtarget"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kvproof": func() {
		os.Exit(cli.Main(kvtarget.Target{}, kvtarget.Target{ForgetsChanges: true}))
	}})
}

// TestScript finds the planted bug of the example store with the commands of shardproof.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", RequireExplicitExec: true})
}
