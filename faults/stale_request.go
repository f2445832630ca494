package faults

import (
	"maps"
	"slices"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

var _ = declare(210, Kind{
	Name: "stale-request",
	About: "a control message is held back and its sender's work ended at once; the message " +
		"arrives after the cluster has recovered from that",
	Aim:  AtLink,
	Args: []Arg{messagesArg, skipArg, endingArg, deposedArg},
	inject: func(c *Case) (repair func()) {
		r := c.rule()
		r.Requests, r.Hold, r.Limit = true, true, 1
		r.Class, r.Skip = c.classes(), c.number("skip")
		r.Taken = c.end
		return c.world.Disturb(r)
	},
	draw: drawStaleRequest,
})

func drawStaleRequest(d *Draw) scenario.Fault {
	if d.administers() {
		return drawLateAdministration(d)
	}
	message := d.one("messages", "CommitChunkMigration", d.one("commit", CommitMessages()...),
		d.one("control", ControlMessages()...))
	f := scenario.Fault{
		When:   d.anchored(failpoint.Donor, failpoint.Recipient),
		Target: senderOf(message) + ".primary>*",
		Args: []scenario.Setting{
			setting("messages", message),
			setting("ending", d.one("ending", "crash", "crash", "stepdown", "cut", "again")),
		},
	}
	f.For, f.Until = d.outlasting()
	return f
}

// senderOf is the role in a migration that sends a control message.
func senderOf(message string) string {
	switch message {
	case "MigrateClone", "TransferMods", "NextSessionMods":
		return "recipient"
	case "ShardsvrMoveRange":
		return "config"
	}
	return "donor"
}

// CommitMessages lists those of the control messages that belong to the commit window.
func CommitMessages() []string { return slices.Sorted(maps.Keys(commit)) }
