package migration_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocoltest"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
)

// pointHit is a failpoint that a node reaches in a migration without faults.
type pointHit struct {
	site failpoint.Site
	node env.NodeID
}

// TestEveryFaultEverywhere moves a range while clients write, with one fault at one failpoint of
// one node in each run. Then the cluster must become quiescent, with every document where the
// catalog says and nowhere else.
func TestEveryFaultEverywhere(t *testing.T) {
	all := pointsOfAMigration(t)
	if len(all) < 100 {
		t.Fatalf("only %d failpoints were reached", len(all))
	}
	for i, p := range all {
		for _, do := range []string{"crash", "error", "kill", "stepdown", "outlast"} {
			if testing.Short() && i%10 != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%v/%s/%s", p.site, p.node, do), func(t *testing.T) {
				r := newBusyMigration(t)
				r.Plan(protocoltest.Fault{Site: p.site, Nth: 1, Node: string(p.node), Do: do})
				if err := r.run(); err != nil {
					t.Errorf("%v\n%s", err, r.Happened())
				}
			})
		}
	}
}

// pointsOfAMigration lists what is reached in a run without faults.
func pointsOfAMigration(t *testing.T) (all []pointHit) {
	r := newBusyMigration(t)
	seen := map[pointHit]bool{}
	r.Reached = func(p *sim.PointHit) {
		at := pointHit{p.Site, p.Node}
		if ofMigration(p.Site) && !seen[at] {
			seen[at] = true
			all = append(all, at)
		}
	}
	if err := r.run(); err != nil {
		t.Fatal(err)
	}
	return all
}

func ofMigration(site failpoint.Site) bool {
	for _, in := range failpoint.All() {
		if in.Site == site {
			switch in.Role {
			case failpoint.Donor, failpoint.Recipient, failpoint.RangeDeleter, failpoint.Session,
				failpoint.Recovery, failpoint.Config:
				return true
			}
		}
	}
	return false
}

// busyMigration is a cluster in which a range moves while clients write to it.
type busyMigration struct{ *protocoltest.Rig }

func newBusyMigration(t *testing.T) busyMigration {
	r := busyMigration{protocoltest.New()}
	t.Cleanup(r.Close)
	r.Settings.CloneBatchDocs = 4
	r.Settings.RangeDeleterBatch = 4
	if err := r.Assemble(1, 20, key.Int(10)); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r busyMigration) run() error {
	clients := r.Clients()
	for i, u := range clients {
		r.Request(u, func(t env.Task) {
			pause := time.Duration(i) * time.Millisecond
			for k := i; k < 20 && t.Sleep(pause) == nil; k += len(clients) {
				r.Upsert(t, u, int64(k), fmt.Sprintf("w%d", k))
			}
		})
	}
	r.Request(r.Operator(), func(t env.Task) {
		req := &command.MoveRange{
			NS: protocoltest.Sharded, Min: key.Min, Max: key.Int(10), To: "shard-b", Name: "move",
		}
		_, err := rpc.CallPrimary[command.Done](t, r.Operator().Sets["config"], req, time.Minute)
		r.Say("move: %v", err)
	})
	err := r.Until(3*time.Minute, "the move and the writes are answered", r.Answered)
	if err != nil {
		return err
	}
	return r.Quiesce()
}
