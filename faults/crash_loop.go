package faults

import (
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
)

var _ = declare(165, Kind{
	Name: "crash-loop",
	About: "a member, or all of a replica set, crash again and again, each time soon after " +
		"they have come back",
	Aim: AtNode,
	Args: []Arg{
		numberArg("times", "how often they crash", 2, 10, 3),
		durationArg("up", "how long they are up between two crashes", "30ms"),
		durationArg("down", "how long they are down after each but the last", "20ms"),
	},
	inject: injectCrashLoop,
	draw: func(d *Draw) scenario.Fault {
		millis := []time.Duration{2, 10, 40, 200}
		f := scenario.Fault{
			When: d.anchored(onDisk...),
			Target: d.one("target", "donor.primary", "recipient.primary", "config.primary",
				"donor.*", "recipient.*", "config.*"),
			For: d.between("until", 100*time.Millisecond, 900*time.Millisecond),
			Args: []scenario.Setting{
				setting("times", 2+d.n("times", 3)),
				setting("up", millis[d.n("up", len(millis))]*time.Millisecond),
				setting("down", millis[d.n("down", len(millis))]*time.Millisecond),
			},
		}
		if d.n("up again", 3) == 0 { // for long enough to elect a primary, which writes
			f.Args[1] = setting("up", d.between("up long", 300*time.Millisecond, time.Second))
			f.For += time.Second
		}
		return f
	},
})

// injectCrashLoop crashes the targets at once and then again after each restart. What a crash
// leaves on disk, the next process takes for acknowledged: a second crash must not take it.
func injectCrashLoop(c *Case) (repair func()) {
	repair = injectCrash(c)
	at, down, up := c.world.Now(), c.duration("down"), c.duration("up")
	for range c.number("times") - 1 {
		c.unlessDone(at.Add(down), repair)
		at = at.Add(down + up)
		c.unlessDone(at, func() {
			for _, id := range c.Target {
				if c.world.Up(id) {
					c.world.Crash(id)
				}
			}
		})
	}
	return repair
}

// unlessDone has something happen at a time before which the fault is not repaired.
func (c *Case) unlessDone(at env.Time, do func()) {
	c.world.At(at, func() {
		if !c.done {
			do()
		}
	})
}
