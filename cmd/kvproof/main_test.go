package main

import (
	"testing"

	"github.com/shardproof/shardproof/cmd/cli"
	"github.com/shardproof/shardproof/cmd/scripttest"
	"github.com/shardproof/shardproof/harness/example/kvtarget"
)

func TestMain(m *testing.M) {
	scripttest.Main(m, scripttest.Program{
		Name: "kvproof", Main: func() int { return cli.Main(kvtarget.All()...) },
	})
}

// TestScript finds the planted bug of the example store with the commands of shardproof.
func TestScript(t *testing.T) { scripttest.Scripts{Folder: "testdata"}.Run(t) }
