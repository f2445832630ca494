package system_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/sim"
)

var (
	storms = flag.Int("storms", 10, "number of seeds of the storm test")
	first  = flag.Int("storm", 1, "first seed of the storm test")
)

// storm pushes numbers to documents while ranges move, members crash and links break, and then
// wants every acknowledged push exactly once and the cluster at rest.
type storm struct {
	*rig
	pushed map[int64]client.Certainty // by number, which is unique
	onto   map[int64]int64            // the document of a number
	moving bool
	scans  int
}

const (
	stormKeys = 40
	stormEnds = env.Time(4 * time.Second)
)

func TestStorms(t *testing.T) {
	for i := range *storms {
		seed := uint64(*first + i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			hash := runStorm(t, seed)
			if i == 0 && !t.Failed() && runStorm(t, seed) != hash {
				t.Error("the same seed gave another run")
			}
		})
	}
}

func runStorm(t *testing.T, seed uint64) uint64 {
	var s *storm
	opts := sim.Options{Seed: seed, OnPoint: func(p *sim.PointHit) sim.Action {
		return s.strike(p)
	}, Network: sim.Network{Tail: sim.Always / 100}, Disk: sim.DiskTiming{Tail: sim.Always / 100}}
	r := newRig(t, opts, small, seed%4 == 0, stormKeys)
	s = &storm{rig: r, pushed: make(map[int64]client.Certainty), onto: make(map[int64]int64)}
	r.cluster.Settings().OrphanCleanupDelay = 20 * time.Millisecond
	// a lost cursor keeps a range from being deleted.
	r.cluster.Settings().CursorTimeout = 2 * time.Second
	s.faults()
	for id := range int64(3) {
		r.client(func(task env.Task, c *client.Client) { s.push(task, c, id) })
	}
	r.client(s.read)
	s.moving = true
	r.client(s.move)
	r.run(2 * time.Minute)
	why := r.world.Run(func() bool {
		return len(r.cluster.Outstanding()) == 0
	}, r.world.Now().Add(2*time.Minute))
	if left := r.cluster.Outstanding(); len(left) > 0 {
		t.Fatalf("%v at %v, still outstanding: %q\ntasks: %v",
			why, r.world.Now(), left, r.world.Tasks())
	}
	r.client(s.check)
	r.run(time.Minute)
	t.Logf("seed %d: %d pushes, %d scans, %d migrations, %d decisions, %d elections, at rest "+
		"after %v, %d steps", seed, len(s.pushed), s.scans,
		r.seen[trace.MigrationRequested], r.seen[trace.DecisionMade], r.seen[trace.Elected],
		time.Duration(r.world.Now()), r.world.Steps())
	return r.world.Hash()
}

// faults crashes a member or cuts it off every 100 to 400 ms, and repairs it a little later.
func (s *storm) faults() {
	servers := s.cluster.Servers()
	pick := func(site string, n int) int { return s.world.Gate().Pick("storm", site, n) }
	for at := env.Time(
		100 * time.Millisecond,
	); at < stormEnds; at = at.Add(time.Duration(100+pick("gap", 300)) * time.Millisecond) {
		victim := servers[pick("victim", len(servers))]
		ends := at.Add(time.Duration(50+pick("length", 900)) * time.Millisecond)
		if pick("kind", 3) > 0 {
			s.world.At(at, func() { s.world.Crash(victim) })
			s.world.At(ends, func() { s.world.Restart(victim) })
			continue
		}
		oneWay := pick("oneWay", 2) == 0
		each := func(do func(a, b env.NodeID, oneWay bool)) func() {
			return func() {
				for _, other := range servers {
					if other != victim {
						do(victim, other, oneWay)
					}
				}
			}
		}
		s.world.At(at, each(s.world.Partition))
		s.world.At(ends, each(s.world.Heal))
	}
}

// strike crashes, holds or fails a server at a failpoint now and then.
func (s *storm) strike(p *sim.PointHit) sim.Action {
	if s.world.Now() > stormEnds || strings.HasPrefix(string(p.Node), "client") {
		return sim.Action{}
	}
	pick := func(what string, n int) int {
		return s.world.Gate().Pick("storm", what+" "+p.Site.String(), n)
	}
	if pick("strike", 150) > 0 {
		return sim.Action{}
	}
	switch pick("how", 4) {
	case 0:
		node := p.Node
		s.world.At(s.world.Now().Add(time.Duration(20+pick("down", 600))*time.Millisecond), func() {
			s.world.Restart(node)
		})
		return sim.Action{Crash: true}
	case 1:
		return sim.Action{Err: errcode.New(errcode.FailPointEnabled,
			"the storm interrupted %s", p.Site)}
	}
	return sim.Action{Pause: time.Duration(pick("pause", 700)) * time.Millisecond}
}

func (s *storm) push(t env.Task, c *client.Client, id int64) {
	for i := int64(0); s.moving || s.world.Now() < stormEnds; i++ {
		n, k := id*1_000_000+i, (id*7+i)%stormKeys
		s.onto[n], s.pushed[n] = k, client.Unknown
		a := c.Update(t, command.Update{NS: ns,
			Filter:  raw(bson.D{{Key: "k", Value: k}}),
			Change:  raw(bson.D{{Key: "$push", Value: bson.D{{Key: "l", Value: n}}}}),
			Concern: command.Majority})
		s.pushed[n] = a.Certainty
		if a.Certainty == client.OK && a.Written.N != 1 {
			s.t.Errorf("push %d found no document %d", n, k)
		}
		if t.Sleep(5*time.Millisecond) != nil {
			return
		}
	}
}

func (s *storm) move(t env.Task, c *client.Client) {
	defer func() { s.moving = false }()
	for i := 0; s.world.Now() < stormEnds; i++ {
		min := int64(s.world.Gate().Pick("storm", "min", 35))
		to := system.ShardName(s.world.Gate().Pick("storm", "to", 2))
		// Refusals are part of it.
		_ = c.MoveRange(t, command.MoveRange{
			NS:  ns,
			Min: key.Int(min),
			Max: key.Int(min + 5),
			To:  to,
		}, 10*time.Second)
		if t.Sleep(20*time.Millisecond) != nil {
			return
		}
	}
}

// read wants of every scan that ends each document exactly once, with every push in it that was
// acknowledged before the scan began.
func (s *storm) read(t env.Task, c *client.Client) {
	for i := 0; s.moving || s.world.Now() < stormEnds; i++ {
		owed := s.acknowledged()
		find := command.Find{
			NS:        ns,
			Filter:    raw(bson.D{}),
			BatchSize: []int{0, 1, 7}[i%3],
			Concern:   command.Linearizable,
		}
		if i%2 == 0 {
			find.Concern = command.MajorityRead
		}
		var docs []bson.Raw
		a := c.Scan(t, find, 0, func(batch []bson.Raw) { docs = append(docs, batch...) })
		if a.Certainty == client.OK {
			s.complete(docs)
			if find.Concern == command.Linearizable {
				s.holds(docs, owed)
			}
		}
		if t.Sleep(7*time.Millisecond) != nil {
			return
		}
	}
}

func (s *storm) acknowledged() (numbers []int64) {
	for n, certainty := range s.pushed {
		if certainty == client.OK {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

func (s *storm) complete(docs []bson.Raw) {
	ks := keys(docs)
	slices.Sort(ks)
	for i, k := range ks {
		if len(ks) != stormKeys || k != int64(i) {
			s.t.Errorf("at %v a scan returned the documents %v", s.world.Now(), ks)
			return
		}
	}
	s.scans++
}

func (s *storm) holds(docs []bson.Raw, numbers []int64) {
	found := s.lists(docs)
	for _, n := range numbers {
		if found[n] != 1 {
			s.t.Errorf("at %v a scan found push %d of document %d %d times",
				s.world.Now(), n, s.onto[n], found[n])
		}
	}
}

// lists counts how often each number was pushed, and checks that each is where it belongs.
func (s *storm) lists(docs []bson.Raw) map[int64]int {
	found := make(map[int64]int)
	for _, doc := range docs {
		list, _ := doc.Lookup("l").ArrayOK()
		values, _ := list.Values()
		for _, v := range values {
			found[v.Int64()]++
			if s.onto[v.Int64()] != doc.Lookup("k").Int64() {
				s.t.Errorf("push %d is in document %v", v.Int64(), doc.Lookup("k"))
			}
		}
	}
	return found
}

// check reads everything when the cluster has come to rest.
func (s *storm) check(t env.Task, c *client.Client) {
	a := c.Find(t, command.Find{NS: ns, Filter: raw(bson.D{}), Concern: command.Linearizable})
	if a.Certainty != client.OK || len(a.Docs) != stormKeys {
		s.t.Errorf("the final scan: %v, %d documents, %v", a.Certainty, len(a.Docs), a.Err)
	}
	found := s.lists(a.Docs)
	for n, certainty := range s.pushed {
		if times := found[n]; times > 1 || times == 0 && certainty == client.OK ||
			times > 0 && certainty == client.Failed {
			s.t.Errorf("push %d to document %d is %v and was found %d times",
				n, s.onto[n], certainty, times)
		}
	}
}
