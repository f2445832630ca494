package main

import "github.com/shardproof/shardproof/harness"

// targets are the systems that the command tests. The first is that of scenarios that name none.
var targets = harness.Targets()
