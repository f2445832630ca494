package protocoltest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
)

// passage is one announcement of a site by a node's primary.
type passage struct {
	site failpoint.Site
	node env.NodeID
	nth  int
}

// maxPassages is how many passages of one site by one node are tried.
const maxPassages = 1

// TestEveryFaultEverywhere moves a range while clients write, with one fault at one site of one node in each run, and
// then demands that the cluster comes to rest, with every document where the catalogue says and nowhere else.
func TestEveryFaultEverywhere(t *testing.T) {
	all := reached(t)
	if len(all) < 100 {
		t.Fatalf("only %d passages were reached", len(all))
	}
	for i, p := range all {
		for _, do := range []string{"crash", "error", "kill", "stepdown"} {
			if testing.Short() && i%10 != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%v/%s/%d/%s", p.site, p.node, p.nth, do), func(t *testing.T) {
				sweepOne(t, p, do)
			})
		}
	}
}

func sweepOne(t *testing.T, p passage, do string) {
	r := &rig{t: t}
	defer r.close()
	if err := r.assemble80(); err != nil {
		t.Fatal(err)
	}
	r.faults = []*fault{{site: p.site, nth: p.nth, node: string(p.node), do: do}}
	err := r.busyMove()
	if err == nil {
		err = r.settle()
	}
	if err != nil {
		t.Errorf("%v\n%s", err, r.out.String())
	}
}

// reached lists the passages of a run without faults.
func reached(t *testing.T) (all []passage) {
	counts := map[passage]int{}
	r := &rig{t: t}
	r.passed = func(p *sim.PointHit) {
		at := passage{site: p.Site, node: p.Node}
		if role(p.Site) && counts[at] < maxPassages {
			counts[at]++
			all = append(all, passage{p.Site, p.Node, counts[at]})
		}
	}
	defer r.close()
	if err := r.assemble80(); err != nil {
		t.Fatal(err)
	}
	all = nil
	clear(counts)
	if err := r.busyMove(); err != nil {
		t.Fatal(err)
	}
	if err := r.settle(); err != nil {
		t.Fatal(err)
	}
	return all
}

func role(site failpoint.Site) bool {
	for _, in := range failpoint.All() {
		if in.Site == site {
			switch in.Role {
			case failpoint.Donor, failpoint.Recipient, failpoint.RangeDeleter, failpoint.Session, failpoint.Recovery, failpoint.Config:
				return true
			}
		}
	}
	return false
}

func (r *rig) assemble80() error {
	r.defaults()
	r.settings.CloneBatchDocs = 4
	r.settings.RangeDeleterBatch = 4
	return r.assemble(1, []string{"10"}, 20, sharded)
}

// busyMove moves a range there, with writes to it all the while.
func (r *rig) busyMove() error {
	for i, o := range r.clients() {
		r.send(o, func(t env.Task) {
			for k := i; k < 20 && t.Sleep(time.Duration(i)*time.Millisecond) == nil; k += len(r.clients()) {
				r.upsert(t, o, int64(k), fmt.Sprintf("w%d", k))
			}
		})
	}
	r.send(r.operator(), func(t env.Task) {
		req := &command.MoveRange{NS: sharded, Min: bound("min"), Max: bound("10"), To: "shard-b", Name: "move"}
		_, err := rpc.CallPrimary[command.Done](t, r.operator().sets["config"], req, time.Minute)
		r.say("move: %v", err)
	})
	return r.until(3*time.Minute, "the move and the writes are answered", func() bool { return r.pending == 0 })
}
