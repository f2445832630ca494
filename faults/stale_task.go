package faults

import (
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

var _ = declare(220, Kind{
	Name: "stale-task",
	About: "the task at a failpoint stalls; meanwhile its node's term as primary, or another " +
		"party's work, is ended; the task goes on once the cluster has recovered from that",
	Aim: AtPoint,
	Args: []Arg{
		textArg("party", "whose work ends: a role such as donor.primary, or self", "donor.primary"),
		endingArg, deposedArg,
		taskArg, aboutArg, passesArg,
	},
	inject: func(c *Case) (repair func()) {
		release := c.holdTask()
		if party := c.text("party"); party == "self" {
			c.end(c.Hit.Node)
		} else {
			for _, id := range c.driver.roles.resolve(party, c.driver.nodes) {
				c.end(id)
			}
		}
		return release
	},
	draw: drawStaleTask,
})

// answering are the steps between which a request has read or written what it answers, and waits:
// an answer that comes sooner than its client gives up, by a member that has been deposed
// meanwhile.
var answering = []string{
	failpoint.RequestVersionCheck.String(), failpoint.RequestAcquireSnapshot.String(),
	failpoint.RequestRestore.String(), failpoint.RequestCommit.String(),
	failpoint.RequestCommit.String(), failpoint.RequestReply.String(),
}

// drawStaleTask draws the role first: few sites are those of tasks that go on by themselves, such
// as the transfer of session history, and they are no less likely to come too late.
func drawStaleTask(d *Draw) scenario.Fault {
	role := failpoint.Role(d.one("role", string(failpoint.Request), string(failpoint.Request),
		string(failpoint.Donor), string(failpoint.Recipient), string(failpoint.Session),
		string(failpoint.Session), string(failpoint.Config)))
	f := scenario.Fault{When: d.pass("site", role)}
	f.When.After = 0
	f.For, f.Until = d.outlasting()
	party := "donor.primary"
	ending := d.one("ending", "crash", "crash", "stepdown", "again", "error")
	switch role {
	case failpoint.Recipient, failpoint.Session, failpoint.Config:
		party = d.one("party of "+string(role), "donor.primary", "donor.primary", "self")
	case failpoint.Donor:
		party = d.one("party", "recipient.primary", "config.primary", "self")
	case failpoint.Request:
		party = "self"
		f.When.Site = d.one("step of an answer", answering...)
		f.For, f.Until = d.between("answered after", 200*time.Millisecond,
			1500*time.Millisecond), nil
	}
	if party == "self" {
		ending = d.one("own ending", "cut", "again", "again", "stepdown")
	}
	f.Args = []scenario.Setting{setting("party", party), setting("ending", ending)}
	return f
}
