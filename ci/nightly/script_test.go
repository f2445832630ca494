package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/shardproof/shardproof/cmd/cli"
	"github.com/shardproof/shardproof/harness"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"nightly":    main,
		"shardproof": func() { os.Exit(cli.Main(harness.Targets()...)) },
	})
}

// TestScripts goes through nights: healthy ones, and one after another with the same bug.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}
