package main

import "testing"

const traces = `File: shardproof
Type: cpu
Duration: 1s, Total samples = 100ms
-----------+-------------------------------------------------------
      60ms   runtime.nextFreeFast (inline)
             runtime.mallocgc
             go.etcd.io/raft/v3.(*raft).send
             github.com/shardproof/shardproof/system/replset.(*Member).step
-----------+-------------------------------------------------------
      20ms   runtime.mapaccess1_faststr
             github.com/shardproof/shardproof/system/shard.(*Server).find
             github.com/shardproof/shardproof/system/sim.(*World).serve
-----------+-------------------------------------------------------
      10ms   github.com/shardproof/shardproof/system/sim.(*World).note
-----------+-------------------------------------------------------
      10ms   runtime.scanObject
             runtime.gcBgMarkWorker
-----------+-------------------------------------------------------
`

// TestShares: the innermost function of a part counts, whatever of the runtime it calls.
func TestShares(t *testing.T) {
	const want = `| part | percent | of it for memory |
| --- | ---: | ---: |
| raft | 60 | 60 |
| protocols | 20 | 0 |
| runtime alone | 10 | 10 |
| executor | 10 | 0 |
| replica sets | 0 | 0 |
| documents | 0 | 0 |
| oracles and checkers | 0 | 0 |
| harness | 0 | 0 |
`
	if got := partsTable(sharesOf([]byte(traces))); got != want {
		t.Errorf("the table is\n%s\nnot\n%s", got, want)
	}
}
