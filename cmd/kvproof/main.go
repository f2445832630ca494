// Command kvproof is shardproof for the example store of docs/extending.md: the store as it should
// be, and with planted bugs. It shows how a program for another system has all commands.
//
// Promise: it has all commands of cmd/cli.
//
// Refusal: the store is an example, and no bugs but the planted ones are of interest.
package main

import (
	"os"

	"github.com/shardproof/shardproof/cmd/cli"
	"github.com/shardproof/shardproof/harness/example/kvtarget"
)

func main() { os.Exit(cli.Main(kvtarget.All()...)) }
