package migration_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocoltest"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/store"
)

var (
	chaosSeeds = flag.Int("chaos.seeds", 6, "how many runs TestChaos makes")
	chaosSeed  = flag.Int("chaos.seed", -1, "the only run of TestChaos, with every write shown")
)

// TestChaos moves ranges back and forth under load while failpoints fire, nodes crash and messages
// are lost, duplicated and late. Then everything heals; every acknowledged write must be there,
// once, and the cluster must become quiescent.
func TestChaos(t *testing.T) {
	first, last := 0, *chaosSeeds
	if *chaosSeed >= 0 {
		first, last = *chaosSeed, *chaosSeed+1
	}
	for seed := first; seed < last; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := &chaos{Rig: protocoltest.New(), random: rand.New(rand.NewPCG(uint64(seed), 1))}
			defer c.Close()
			if err := c.run(uint64(seed)); err != nil {
				t.Errorf("%v\n%s", err, c.Happened())
			}
		})
	}
}

// chaos is a cluster, what goes wrong in it at random, and what clients were answered.
type chaos struct {
	*protocoltest.Rig
	random *rand.Rand
	calm   bool                      // no faults happen
	moving bool                      // clients send requests
	acked  map[int64]map[string]bool // acknowledged pushes, by key of the document
	maybe  map[string]bool           // pushes of which nobody knows
}

func (c *chaos) run(seed uint64) error {
	if err := c.start(seed); err != nil {
		return err
	}
	c.calm, c.moving = false, true
	rules := c.troubleTheNetwork()
	c.Request(c.Operator(), c.moves)
	for i, u := range c.Clients() {
		c.Request(u, func(t env.Task) { c.pushes(t, u.Client, int64(i)) })
	}
	for i := range c.random.IntN(4) {
		at := c.World.Now().Add(time.Duration(i+1) * 1500 * time.Millisecond)
		c.World.At(at, c.partition)
	}
	if err := c.Pass(8 * time.Second); err != nil {
		return err
	}
	c.calm, c.moving = true, false
	for _, id := range rules {
		c.World.RemoveRule(id)
	}
	if err := c.Until(5*time.Minute, "clients are done", c.Answered); err != nil {
		return err
	}
	if err := c.Quiesce(); err != nil {
		return err
	}
	return c.compare()
}

func (c *chaos) start(seed uint64) error {
	c.acked, c.maybe = map[int64]map[string]bool{}, map[string]bool{}
	c.calm = true
	c.Settings.CloneBatchDocs = 1 + c.random.IntN(8)
	c.Settings.RangeDeleterBatch = 1 + c.random.IntN(8)
	c.Settings.OrphanCleanupDelay = time.Duration(c.random.IntN(100)) * time.Millisecond
	c.Settings.OverlapWait = time.Second
	c.Shards = 2 + int(seed%2)
	c.Act = c.strike
	if *chaosSeed >= 0 {
		c.TraceAll()
	}
	return c.Assemble(seed, 20, key.Int(5), key.Int(10), key.Int(15))
}

func (c *chaos) troubleTheNetwork() (rules []sim.RuleID) {
	all := []sim.Rule{{Loss: 3333}, {Duplicate: 10000}, {LoseReply: 3333}, {Tail: 20000}}
	for _, r := range all {
		if c.random.IntN(2) == 0 {
			rules = append(rules, c.World.AddRule(r))
		}
	}
	return rules
}

// partition cuts a server off for a while, from everybody, in one direction or both, or delays what
// it sends.
func (c *chaos) partition() {
	all := c.Cluster.Servers()
	node := string(all[c.random.IntN(len(all))])
	drop := sim.Fate{Drop: true}
	rules := []sim.Rule{{From: node, Fate: drop}, {To: node, Fate: drop}}
	if pick := c.random.IntN(3); pick < 2 {
		rules = rules[pick : pick+1]
	}
	hold := c.random.IntN(3) == 0
	c.Say("%v %s is cut off, %d rules, hold %t", c.World.Now(), node, len(rules), hold)
	for _, r := range rules {
		if hold {
			r.Fate, r.Hold = sim.Fate{}, true
		}
		id := c.World.AddRule(r)
		length := time.Duration(100+c.random.IntN(4000)) * time.Millisecond
		c.World.At(c.World.Now().Add(length), func() { c.World.RemoveRule(id) })
	}
}

func (c *chaos) moves(t env.Task) {
	bounds := []key.Key{key.Min, key.Int(5), key.Int(10), key.Int(15), key.Max}
	for i := 0; c.moving; i++ {
		at := c.random.IntN(4)
		req := &command.MoveRange{
			NS: protocoltest.Sharded, Min: bounds[at], Max: bounds[at+1],
			To: system.ShardName(c.random.IntN(c.Shards)), Name: fmt.Sprint("m", i),
		}
		_, err := rpc.CallPrimary[command.Done](t, c.Operator().Sets["config"], req, 10*time.Second)
		c.Say("%v move %v to %s: %v", c.World.Now(), req.Min, req.To, err)
		if t.Sleep(20*time.Millisecond) != nil {
			return
		}
	}
}

// pushes adds unique values to the lists of every seventh document from the first.
func (c *chaos) pushes(t env.Task, user *client.Client, first int64) {
	for i := 0; c.moving; i++ {
		k := first + int64(i%3)*7
		v := fmt.Sprintf("%d.%d", k, i)
		a := user.FindAndModify(t, command.FindAndModify{
			NS: protocoltest.Sharded, Filter: document(bson.E{Key: "k", Value: k}), Upsert: true,
			Concern: command.Majority,
			Change:  document(bson.E{Key: "$push", Value: bson.D{{Key: "l", Value: v}}}),
		})
		switch a.Certainty {
		case client.OK:
			if c.acked[k] == nil {
				c.acked[k] = map[string]bool{}
			}
			c.acked[k][v] = true
		case client.Unknown:
			c.maybe[v] = true
		}
		if t.Sleep(time.Duration(5+c.random.IntN(60))*time.Millisecond) != nil {
			return
		}
	}
}

func document(fields ...bson.E) bson.Raw {
	doc, err := bson.Marshal(bson.D(fields))
	if err != nil {
		panic(err)
	}
	return doc
}

// strike has something happen at one failpoint in many.
func (c *chaos) strike(p *sim.PointHit) sim.Action {
	if c.calm || !ofMigration(p.Site) || c.random.IntN(120) != 0 {
		return sim.Action{}
	}
	do := []string{"crash", "error", "kill", "stepdown", "pause"}[c.random.IntN(5)]
	node := p.Node
	c.Say("%v %s: %s at %v %s", c.World.Now(), node, do, p.Site, p.Note.ID)
	switch do {
	case "crash":
		down := time.Duration(100+c.random.IntN(1000)) * time.Millisecond
		c.World.At(c.World.Now().Add(down), func() { c.World.Restart(node) })
		return sim.Action{Crash: true}
	case "error":
		return sim.Action{Err: errcode.New(errcode.FailPointEnabled, "on purpose")}
	case "kill":
		task := p.Task
		if task == "step-up" {
			return sim.Action{} // nobody can kill it
		}
		c.World.At(c.World.Now(), func() { c.Kill(node, task) })
		return sim.Action{Pause: time.Millisecond}
	case "stepdown":
		c.World.At(c.World.Now(), func() { c.StepDown(node) })
		return sim.Action{Pause: time.Duration(c.random.IntN(100)) * time.Millisecond}
	}
	return sim.Action{Pause: time.Duration(c.random.IntN(3000)) * time.Millisecond}
}

// compare holds the lists to what was acknowledged.
func (c *chaos) compare() error {
	for k := range int64(21) {
		seen := c.pushed(k)
		for v := range c.acked[k] {
			if seen[v] != 1 {
				return fmt.Errorf("write %s was acknowledged and is there %d times", v, seen[v])
			}
		}
		for v, n := range seen {
			if n > 1 || !c.acked[k][v] && !c.maybe[v] {
				return fmt.Errorf("write %s is there %d times; acknowledged %t, unknown %t",
					v, n, c.acked[k][v], c.maybe[v])
			}
		}
	}
	return nil
}

// pushed counts the values in the lists of the documents with a key, on all shards.
func (c *chaos) pushed(k int64) map[string]int {
	seen := map[string]int{}
	count := func(_ string, d bson.Raw) bool {
		if list, ok := d.Lookup("l").ArrayOK(); ok && d.Lookup("k").Int64() == k {
			vs, _ := list.Values()
			for _, v := range vs {
				seen[v.StringValue()]++
			}
		}
		return true
	}
	for _, name := range c.Cluster.Topology().ShardNames() {
		data := c.Member(c.Primary(name)).Store()
		data.Scan(protocoltest.Sharded, store.Latest, count)
	}
	return seen
}
