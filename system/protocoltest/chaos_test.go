package protocoltest_test

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
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/store"
)

var (
	chaosSeeds = flag.Int("chaos.seeds", 6, "how many runs TestChaos makes")
	chaosSeed  = flag.Int("chaos.seed", -1, "the only run that TestChaos makes, with every write told")
)

// TestChaos moves ranges back and forth under load while sites fail, nodes crash and messages get lost, doubled and late.
// Then everything heals; every acknowledged write must be there, once, and the cluster at rest.
func TestChaos(t *testing.T) {
	first, last := 0, *chaosSeeds
	if *chaosSeed >= 0 {
		first, last = *chaosSeed, *chaosSeed+1
	}
	for seed := first; seed < last; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := &chaos{rig: rig{t: t}, dice: rand.New(rand.NewPCG(uint64(seed), 1))}
			defer c.close()
			if err := c.run(uint64(seed)); err != nil {
				t.Errorf("%v\n%s", err, c.out.String())
			}
		})
	}
}

type chaos struct {
	rig
	dice   *rand.Rand
	calm   bool
	acked  map[int64]map[string]bool
	maybe  map[string]bool
	moving bool
}

func (c *chaos) run(seed uint64) error {
	c.acked, c.maybe = map[int64]map[string]bool{}, map[string]bool{}
	c.calm = true
	c.defaults()
	c.settings.CloneBatchDocs = 1 + c.dice.IntN(8)
	c.settings.RangeDeleterBatch = 1 + c.dice.IntN(8)
	c.settings.OrphanCleanupDelay = time.Duration(c.dice.IntN(100)) * time.Millisecond
	c.settings.OverlapWait = time.Second
	c.shards = 2 + int(seed%2)
	c.act = c.strike
	if *chaosSeed >= 0 {
		c.tellAll()
	}
	if err := c.assemble(seed, []string{"5", "10", "15"}, 20, sharded); err != nil {
		return err
	}
	c.calm = false
	var rules []sim.RuleID
	for _, r := range []sim.Rule{{Loss: 3333}, {Duplicate: 10000}, {LoseReply: 3333}, {Tail: 20000}} {
		if c.dice.IntN(2) == 0 {
			rules = append(rules, c.world.AddRule(r))
		}
	}
	c.moving = true
	c.send(c.operator(), c.moves)
	for i, o := range c.clients() {
		c.send(o, func(t env.Task) { c.pushes(t, o.client, int64(i)) })
	}
	for i := range c.dice.IntN(4) {
		c.world.At(c.world.Now().Add(time.Duration(i+1)*1500*time.Millisecond), c.part)
	}
	if err := c.pass(8 * time.Second); err != nil {
		return err
	}
	c.calm, c.moving = true, false
	for _, id := range rules {
		c.world.RemoveRule(id)
	}
	if err := c.until(5*time.Minute, "clients are done", func() bool { return c.pending == 0 }); err != nil {
		return err
	}
	if err := c.settle(); err != nil {
		return err
	}
	return c.judge()
}

// part cuts a server off for a while, from everybody, in one direction or both, or keeps back what it sends.
func (c *chaos) part() {
	all := c.cluster.Servers()
	node := string(all[c.dice.IntN(len(all))])
	rules := []sim.Rule{{From: node, Fate: sim.Fate{Drop: true}}, {To: node, Fate: sim.Fate{Drop: true}}}
	if pick := c.dice.IntN(3); pick < 2 {
		rules = rules[pick : pick+1]
	}
	hold := c.dice.IntN(3) == 0
	c.say("%v %s is cut off, %d rules, hold %t", c.world.Now(), node, len(rules), hold)
	for _, r := range rules {
		if hold {
			r.Fate, r.Hold = sim.Fate{}, true
		}
		id := c.world.AddRule(r)
		c.world.At(c.world.Now().Add(time.Duration(100+c.dice.IntN(4000))*time.Millisecond), func() { c.world.RemoveRule(id) })
	}
}

func (c *chaos) moves(t env.Task) {
	for i := 0; c.moving; i++ {
		from := []string{"min", "5", "10", "15", "max"}
		at := c.dice.IntN(4)
		req := &command.MoveRange{NS: sharded, Min: bound(from[at]), Max: bound(from[at+1]), To: system.ShardName(c.dice.IntN(c.shards)), Name: fmt.Sprint("m", i)}
		_, err := rpc.CallPrimary[command.Done](t, c.operator().sets["config"], req, 10*time.Second)
		c.say("%v move %v to %s: %v", c.world.Now(), from[at], req.To, err)
		if t.Sleep(20*time.Millisecond) != nil {
			return
		}
	}
}

// pushes adds identities to the lists of every seventh document from the first.
func (c *chaos) pushes(t env.Task, user *client.Client, first int64) {
	for i := 0; c.moving; i++ {
		k := first + int64(i%3)*7
		v := fmt.Sprintf("%d.%d", k, i)
		a := user.FindAndModify(t, command.FindAndModify{
			NS: sharded, Filter: raw(bson.D{{Key: "k", Value: k}}), Upsert: true, Concern: command.Majority,
			Change: raw(bson.D{{Key: "$push", Value: bson.D{{Key: "l", Value: v}}}}),
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
		if t.Sleep(time.Duration(5+c.dice.IntN(60))*time.Millisecond) != nil {
			return
		}
	}
}

// strike has something happen at one passage in many.
func (c *chaos) strike(p *sim.PointHit) sim.Action {
	if c.calm || !role(p.Site) || c.dice.IntN(120) != 0 {
		return sim.Action{}
	}
	do := []string{"crash", "error", "kill", "stepdown", "pause"}[c.dice.IntN(5)]
	node := p.Node
	c.say("%v %s: %s at %v %s", c.world.Now(), node, do, p.Site, p.Note.ID)
	switch do {
	case "crash":
		c.world.At(c.world.Now().Add(time.Duration(100+c.dice.IntN(1000))*time.Millisecond), func() { c.world.Restart(node) })
		return sim.Action{Crash: true}
	case "error":
		return sim.Action{Err: errcode.New(errcode.FailPointEnabled, "on purpose")}
	case "kill":
		task := p.Task
		if task == "step-up" {
			return sim.Action{} // nobody can kill it
		}
		c.world.At(c.world.Now(), func() {
			c.world.Interrupt(node, func(t string) bool { return t == task }, errcode.New(errcode.Interrupted, "killed on purpose"))
		})
		return sim.Action{Pause: time.Millisecond}
	case "stepdown":
		c.world.At(c.world.Now(), func() { c.stepDown(node) })
		return sim.Action{Pause: time.Duration(c.dice.IntN(100)) * time.Millisecond}
	}
	return sim.Action{Pause: time.Duration(c.dice.IntN(3000)) * time.Millisecond}
}

// judge compares the lists with what was acknowledged.
func (c *chaos) judge() error {
	for k := range int64(21) {
		seen := map[string]int{}
		for _, name := range c.cluster.Topology().ShardNames() {
			c.cluster.Member(c.cluster.Primary(name)).Store().Scan(sharded, store.Latest, func(_ string, d bson.Raw) bool {
				if d.Lookup("k").Int64() == k {
					if list, ok := d.Lookup("l").ArrayOK(); ok {
						vs, _ := list.Values()
						for _, v := range vs {
							seen[v.StringValue()]++
						}
					}
				}
				return true
			})
		}
		for v := range c.acked[k] {
			if seen[v] != 1 {
				return fmt.Errorf("write %s was acknowledged and is there %d times", v, seen[v])
			}
		}
		for v, n := range seen {
			if n > 1 || !c.acked[k][v] && !c.maybe[v] {
				return fmt.Errorf("write %s is there %d times; acknowledged %t, unknown %t", v, n, c.acked[k][v], c.maybe[v])
			}
		}
	}
	return nil
}
