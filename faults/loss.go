package faults

import (
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
)

var _ = declare(100, Kind{
	Name:  "lossy-link",
	About: "a percentage of the messages of a link is lost",
	Aim:   AtLink,
	Args: []Arg{
		percentArg("percentage of messages that are lost", 20),
		textArg("messages", messagesArg.About, "all"),
	},
	inject: func(c *Case) (repair func()) {
		r := c.rule()
		r.Lose, r.Class = c.number("percent"), c.classes()
		return c.world.Disturb(r)
	},
	draw: func(d *Draw) scenario.Fault {
		return scenario.Fault{
			When:   d.anchored(migration...),
			Target: d.link("link"),
			For:    d.span("lossy"),
			Args: []scenario.Setting{
				setting("percent", 3+d.n("percent", 40)),
				setting("messages", d.one("messages", "all", "control")),
			},
		}
	},
})

var (
	countArg = numberArg("count", "how many messages in a row", 1, 1000, 1)
	skipArg  = numberArg("skip", "how many messages pass first", 0, 1_000_000, 0)
)

var _ = declare(120, Kind{
	Name:  "lost-request",
	About: "the next control messages are lost, and the sender times out",
	Aim:   AtLink,
	Args:  []Arg{messagesArg, countArg},
	inject: func(c *Case) (repair func()) {
		r := c.rule()
		r.Requests = true
		r.Lose, r.Class, r.Limit = 100, c.classes(), c.number("count")
		return c.world.Disturb(r)
	},
	draw: func(d *Draw) scenario.Fault { return drawLoss(d) },
})

func drawLoss(d *Draw) scenario.Fault {
	f := scenario.Fault{
		Target: d.one("link", "*>*", "*>*", "*>*", d.link("which")),
		For:    d.span("window"),
	}
	messages, most := "", 3
	if d.administers() {
		messages, f.When = d.administration()
		f.Target, most = "*>*", 6
	} else {
		messages, f.When = messagesArgs(d), d.anchored(migration...)
	}
	f.Args = []scenario.Setting{
		setting("messages", messages), setting("count", 1+d.n("count", most)),
	}
	return f
}

var _ = declare(110, Kind{
	Name:  "lost-reply",
	About: "the next control messages are executed, but their replies are lost",
	Aim:   AtLink,
	Args:  []Arg{messagesArg, countArg},
	inject: func(c *Case) (repair func()) {
		r := c.rule()
		r.Requests = true
		r.LoseReply, r.Class, r.Limit = 100, c.classes(), c.number("count")
		return c.world.Disturb(r)
	},
	draw: func(d *Draw) scenario.Fault { return drawLoss(d) },
})

var _ = declare(115, Kind{
	Name: "lost-outcome",
	About: "a control message is executed and its reply is lost; soon after, the work of the node " +
		"that sent it is ended, while that node does not know the outcome or is about to learn it",
	Aim: AtLink,
	Args: []Arg{
		messagesArg, skipArg, endingArg, deposedArg,
		durationArg("after", "how long after the message its sender's work ends", "50ms"),
	},
	inject: func(c *Case) (repair func()) {
		r := c.rule()
		r.Requests, r.LoseReply, r.Limit = true, 100, 1
		r.Class, r.Skip = c.classes(), c.number("skip")
		r.Taken = func(from env.NodeID) {
			c.world.At(c.world.Now().Add(c.duration("after")), func() {
				if !c.driver.ended {
					c.end(from)
				}
			})
		}
		return c.world.Disturb(r)
	},
	draw: func(d *Draw) scenario.Fault {
		f := drawStaleRequest(d)
		f.For, f.Until = d.span("window"), nil
		// Before, about when or after the sender gives up on the reply, whatever its patience.
		f.Args = append(f.Args, setting("after",
			d.within("after", 5*time.Millisecond, 100*time.Millisecond, 600*time.Millisecond)))
		return f
	},
})
