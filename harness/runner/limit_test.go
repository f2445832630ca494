package runner

import (
	"fmt"
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/sim"
)

// TestLastPassHasItsTime: clients whose operations have taken as long as they may have as long again
// for the last pass over all keys.
func TestLastPassHasItsTime(t *testing.T) {
	text := "shardproof scenario 2\nseed 1\nplanned\n" +
		"topology shards=2 members=1 config=1 routers=1 clients=1\nfaults-end 0s\nlimit 1m\n" +
		"collection test.docs ranged keys=4 preload=4 bounds=2\npreset quick\n" +
		"set sim.net.latency 10ms\n\n"
	for n := 1; n <= 40; n++ {
		text += fmt.Sprintf("op %d at 0s client 0 read test.docs k=%d\n", n, n%4)
	}
	s, err := Parse(store, "slow", text)
	if err != nil {
		t.Fatal(err)
	}
	pool := &sim.Pool{}
	defer pool.Close()
	long, err := Run(s, Options{Targets: store, Pool: pool})
	if err != nil || !long.Passed() {
		t.Fatal(long.Signature(), err)
	}
	var last time.Duration
	for i := range long.History {
		if op := &long.History[i]; op.ID > 0 && op.ID < finalIDs {
			last = max(last, time.Duration(op.ReturnAt))
		}
	}
	s.Limit = last + time.Millisecond
	short, err := Run(s, Options{Targets: store, Pool: pool})
	if err != nil || !short.Passed() {
		t.Errorf("with a limit of %v: %s %v", s.Limit, short.Signature(), err)
	}
}
