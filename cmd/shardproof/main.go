// Command shardproof proves that moving data between shards loses nothing, or shows how it does: it
// runs seeds, replays them, checks histories and lists what it knows.
//
// Promise: it has all commands of cmd/cli, for the systems that come with this module, and those of
// cmd/cluster, which run the store as real processes, and of cmd/serve, which shows what was found.
//
// Refusal: it has no logic of its own; every command is in a package below.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/cmd/attack"
	"github.com/shardproof/shardproof/cmd/cli"
	"github.com/shardproof/shardproof/cmd/cluster"
	"github.com/shardproof/shardproof/cmd/serve"
	"github.com/shardproof/shardproof/harness"
)

func main() {
	os.Exit(cli.MainWith([]*cobra.Command{
		cluster.New(), attack.New(), serve.New(),
	}, harness.Targets()...))
}
