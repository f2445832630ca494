package faults

import (
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
)

var endingArg = wordArg("ending", "how that work is ended: crash, stepdown, cut (its node is cut "+
	"off from its replica set until another leads), again (its node is deposed and then re-elected) "+
	"or error (the next step fails)",
	"crash", "stepdown", "cut", "again", "error")

// deposedArg belongs to endingArg: a node that is re-elected at once finds what it has left behind,
// and nobody has done anything in between.
var deposedArg = numberArg("deposed", "with ending=again: for how many milliseconds, at least, "+
	"another node leads first", 0, 5000, 0)

// cutTime is how long a node is cut off from its replica set at most: longer than any election
// takes. Every cutStep it is asked whether another leads.
const cutTime, cutStep = 900 * time.Millisecond, 20 * time.Millisecond

// end ends what a node does for migrations, behind the step that is under way.
func (c *Case) end(id env.NodeID) {
	d := c.driver
	switch c.text("ending") {
	case "crash":
		d.soon(func() { d.crashFor(id, defaultDowntime) })
	case "stepdown":
		d.soon(func() { d.world.StepDown(id) })
	case "cut":
		d.soon(func() {
			heal := d.world.Partition([]env.NodeID{id},
				without(d.roles.members(setOf(id), d.nodes, len(d.nodes)), []env.NodeID{id}), true)
			d.healOnceLed(id, heal, d.world.Now().Add(cutTime))
		})
	case "again":
		least := time.Duration(c.number(deposedArg.Name)) * time.Millisecond
		d.soon(func() {
			d.electedAgain(reelection{
				id: id, from: id, least: least, ends: d.world.Now().Add(againTime + least),
			})
		})
	case "error":
		d.next = append(d.next, &interception{target: string(id), roles: migration,
			take: func(h *Hit, a *Action) {
				a.Err = errcode.New(errcode.Interrupted, "ended by fault %d at failpoint %s",
					c.Fault.ID, h.Site)
			}})
	}
}

// healOnceLed heals when another node leads the replica set of this one, which then hears of it, or
// at the latest when the time is up.
func (d *Driver) healOnceLed(id env.NodeID, heal func(), ends env.Time) {
	if d.roles.leader[setOf(id)] != id || d.world.Now() >= ends {
		heal()
		return
	}
	d.world.At(d.world.Now().Add(cutStep), func() { d.healOnceLed(id, heal, ends) })
}

// againTime is how long it may take until a deposed node leads again; every againStep somebody
// tries, which is enough time to hear of an election and to get what the new leader has.
const againTime, againStep = 1200 * time.Millisecond, 60 * time.Millisecond

// reelection is how a node loses the lead and gets it back.
type reelection struct {
	id env.NodeID
	// from is who led last, before anybody tried; since is from when on another node has led.
	from  env.NodeID
	since env.Time
	// least is for how long others lead at least; ends is when nobody tries any more.
	least time.Duration
	ends  env.Time
}

// electedAgain has another member of its set take over from a node that leads, and then the node
// from that one. It lives all the time: what its old term has left in its memory, such as a request
// that it serves, is there in its new term.
func (d *Driver) electedAgain(r reelection) {
	set, now := setOf(r.id), d.world.Now()
	leads := d.roles.leader[set]
	switch {
	case d.ended || now >= r.ends || leads == r.id && r.from != r.id:
		return
	case leads == r.id:
		for _, other := range d.roles.members(set, d.nodes, len(d.nodes)) {
			if other != r.id && d.world.Up(other) {
				d.world.TakeOver(other)
				break
			}
		}
	default:
		if r.from == r.id {
			r.since = now
		}
		if r.from = leads; d.world.Up(r.id) && now >= r.since.Add(r.least) {
			d.world.TakeOver(r.id)
		}
	}
	d.world.At(now.Add(againStep), func() { d.electedAgain(r) })
}

func (d *Driver) soon(do func()) {
	d.world.At(d.world.Now(), func() {
		if !d.ended {
			do()
		}
	})
}

// crashFor crashes a node, whatever it does, and restarts it later.
func (d *Driver) crashFor(id env.NodeID, downtime time.Duration) {
	if !d.world.Up(id) {
		return
	}
	d.world.Crash(id)
	d.world.At(d.world.Now().Add(downtime), func() { d.restart(id) })
}

// outlasting draws how long something is kept back that is to come too late: longer than an
// election, or until those who came after are at work.
func (d *Draw) outlasting() (most time.Duration, until *scenario.Trigger) {
	most = d.between("outlasting", 400*time.Millisecond, 4*time.Second)
	if d.n("until an event", 2) == 0 {
		event := d.pass("until", failpoint.Recovery, failpoint.RangeDeleter)
		event.Nth = 1
		until = &event
	}
	return most, until
}
