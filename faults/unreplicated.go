package faults

import (
	"slices"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

// givesEntries recognises the messages by which a primary gives the members of its set what it has
// written: messages of replication are of one class, and know their type.
func givesEntries(m env.Message) bool {
	typed, ok := m.(interface{ Class() string })
	return ok && slices.Contains([]string{"MsgApp", "MsgSnap"}, typed.Class())
}

var _ = declare(137, Kind{
	Name: "unreplicated",
	About: "once a primary passes a failpoint, its set still accepts it as primary and replicates " +
		"none of its writes until the fault ends",
	Aim: AtPoint,
	Args: []Arg{
		wordArg("ending", "how the fault ends: power-loss: the primary loses power, and the writes "+
			"that it reported before a majority had them are gone; late: those writes reach a "+
			"majority after all", "power-loss", "late"),
		numberArg("unanswered", "how many of its next replies to requests from outside the set are "+
			"lost, so that these are retried before a majority has their effects", 0, 1000, 0),
	},
	inject: injectUnreplicated,
	draw: func(d *Draw) scenario.Fault {
		f := scenario.Fault{
			When: d.pass("site", d.writers("who")...),
			For:  d.span("unreplicated"),
			Args: []scenario.Setting{setting("ending", d.one("ending", "power-loss", "late"))},
		}
		if d.n("answers", 3) == 0 {
			f.Args = append(f.Args, setting("unanswered", 1+d.n("unanswered", 3)))
		}
		if f.When.After = 0; f.When.Site == "" {
			f.Target = d.primary("primary")
		}
		return f
	},
})

// writers are the roles of one party whose writes others rest on.
func (d *Draw) writers(question string) []failpoint.Role {
	switch d.n(question, 6) {
	case 0, 1:
		return []failpoint.Role{failpoint.Donor}
	case 2:
		return []failpoint.Role{failpoint.Recipient, failpoint.Session}
	case 3:
		return []failpoint.Role{failpoint.Config}
	case 4:
		return []failpoint.Role{failpoint.Recovery, failpoint.RangeDeleter}
	}
	return []failpoint.Role{failpoint.Request}
}

// injectUnreplicated lets heartbeats pass, so that nobody takes the lead until the fault ends.
func injectUnreplicated(c *Case) (repair func()) {
	id, d := c.Hit.Node, c.driver
	set := setOf(id)
	if d.Leader(set) != id {
		return nil
	}
	is := func(node env.NodeID) bool { return node == id }
	repairs := []func(){c.world.Disturb(Rule{
		From: is,
		To:   func(to env.NodeID) bool { return setOf(to) == set },
		Body: givesEntries,
		Lose: 100,
	})}
	if n := c.number("unanswered"); n > 0 {
		repairs = append(repairs, c.world.Disturb(Rule{
			From:      func(from env.NodeID) bool { return setOf(from) != set },
			To:        is,
			Requests:  true,
			LoseReply: 100,
			Limit:     n,
		}))
	}
	deliver := all(repairs)
	if c.text("ending") == "late" {
		return deliver
	}
	return func() {
		if !d.ended && c.world.Up(id) {
			c.world.Crash(id)
			c.world.At(c.world.Now().Add(defaultDowntime), func() { d.restart(id) })
		}
		deliver()
	}
}
