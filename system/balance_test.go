package system_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

// TestNothingMovesOnceTheBalancerIsStopped has the balancer move at random while members crash and
// links break, and an operator stop and start it: between the answer to a stop and the next start
// every chunk stays where it is, and in the end the cluster comes to rest.
func TestNothingMovesOnceTheBalancerIsStopped(t *testing.T) {
	for i := range *storms {
		seed := uint64(*first + i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { runBalanceStorm(t, seed) })
	}
}

func runBalanceStorm(t *testing.T, seed uint64) {
	var s *storm
	opts := sim.Options{Seed: seed, OnPoint: func(p *sim.PointHit) sim.Action {
		return s.strike(p)
	}, Network: sim.Network{Tail: sim.Always / 100}}
	top := system.Topology{
		Shards:        4,
		Members:       3,
		ConfigMembers: 3,
		Routers:       1,
		Clients:       3,
		Profile:       protocol.Profile(seed % 2),
	}
	r := newRig(t, opts, top, false, stormKeys)
	s = &storm{
		rig:    r,
		moving: true,
		pushed: make(map[int64]client.Certainty),
		onto:   make(map[int64]int64),
	}
	set := r.cluster.Settings()
	set.OrphanCleanupDelay, set.CursorTimeout = 20*time.Millisecond, 2*time.Second
	set.BalancerRandom, set.BalancerInterval, set.BalancerPause = 1, 200*time.Millisecond,
		20*time.Millisecond
	s.faults()
	for i := range 60 { // a donor of 4.2 may have to end itself
		r.world.At(env.Time(i)*env.Time(time.Second), func() {
			for _, id := range r.cluster.Servers() {
				r.world.Restart(id)
			}
		})
	}
	r.client(func(task env.Task, c *client.Client) { s.push(task, c, 1) })
	stops := 0
	r.client(func(task env.Task, _ *client.Client) { stops = s.operate(task) })
	r.run(5 * time.Minute)
	why := r.world.Run(func() bool {
		return len(r.cluster.Outstanding()) == 0
	}, r.world.Now().Add(2*time.Minute))
	if left := r.cluster.Outstanding(); len(left) > 0 {
		t.Fatalf("%v at %v, still outstanding: %q\ntasks: %v",
			why, r.world.Now(), left, r.world.Tasks())
	}
	t.Logf("seed %d: %d stops, %d rounds, %d chosen, %d migrations, %d decisions, %d elections",
		seed, stops, r.seen[trace.BalancerRound]/2, r.seen[trace.BalancerChose],
		r.seen[trace.MigrationRequested], r.seen[trace.DecisionMade], r.seen[trace.Elected])
}

// operate starts and stops the balancer, and returns how often.
func (s *storm) operate(t env.Task) (stops int) {
	defer func() { s.moving = false }()
	ep, sets := s.cluster.Operator(t.Node())
	config := sets["config"]
	insist := func(req env.Message) {
		for {
			if _, err := rpc.CallPrimary[command.Done](t, config, req, 5*time.Second); err == nil ||
				t.Sleep(50*time.Millisecond) != nil {
				return
			}
		}
	}
	for s.world.Now() < stormEnds {
		insist(&command.BalancerStart{})
		_ = t.Sleep(time.Duration(s.world.Gate().Pick("storm", "on", 1000)) * time.Millisecond)
		insist(&command.BalancerStop{})
		stops++
		before := s.owners(t, ep, config)
		_ = t.Sleep(time.Duration(s.world.Gate().Pick("storm", "off", 1500)) * time.Millisecond)
		if after := s.owners(t, ep, config); after != before {
			s.t.Errorf("at %v the balancer is stopped, and yet %s became %s",
				s.world.Now(), before, after)
		}
	}
	return stops
}

// owners reads the catalog at or after everything that was answered.
func (s *storm) owners(t env.Task, ep *rpc.Endpoint, config *rpc.Set) (text string) {
	for {
		req := &command.GetRoutingTable{NS: ns, After: ep.Clock().Now().Config}
		update, err := rpc.CallAny[command.RoutingUpdate](t, config, req, time.Second)
		if err == nil {
			table, err := catalog.NewTable(update.Collection, update.Chunks)
			if err != nil {
				s.t.Fatal(err)
			}
			for c := range table.Chunks() {
				text += fmt.Sprintf("%v %s ", c.Range, c.Shard)
			}
			return text
		}
		if t.Sleep(50*time.Millisecond) != nil {
			return ""
		}
	}
}

// TestSessionsAreSplit: the collection of sessions begins with one chunk and is to have 1024
// (protocol 13.2).
func TestSessionsAreSplit(t *testing.T) {
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	s := settings.Default80()
	const sessions = "config.system.sessions"
	top := system.Topology{Shards: 2, Members: 1, ConfigMembers: 1, Routers: 1}
	cluster, err := system.Assemble(w, top, &s,
		system.Collection{NS: sessions, Key: key.Pattern{Field: "_id"}})
	if err != nil {
		t.Fatal(err)
	}
	w.Run(nil, env.Time(10*time.Second))
	if table, err := cluster.Catalog(sessions); err != nil || table.Len() != s.SessionChunks {
		t.Errorf("after ten seconds the sessions have %v (%v)", table, err)
	}
}
