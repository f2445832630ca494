package faults

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// Space is what faults are drawn for.
type Space struct {
	Topology scenario.Topology
	// From and To bound the times.
	From, To time.Duration
	// Migrations is how many the scenario asks for.
	Migrations int
	// MovesPrimary says that it also moves the primary of a database.
	MovesPrimary bool
	// Splits says that it also splits and merges chunks.
	Splits bool
	// Whole are the times at which operations on a whole collection start.
	Whole []time.Duration
}

// Draw plans one fault. Every question carries its own name, so that another answer to one changes
// nothing else.
type Draw struct {
	Space
	dice func(question string, n int) int
	id   int
}

// Plan draws the fault with the given number, of the given kind. Dice answers with a number in
// [0,n).
func Plan(kind *Kind, id int, s Space, dice func(question string, n int) int) scenario.Fault {
	d := &Draw{Space: s, dice: dice, id: id}
	f := kind.draw(d)
	f.ID, f.Kind = id, kind.Name
	return f
}

func (d *Draw) n(question string, n int) int {
	return d.dice(fmt.Sprintf("fault/%d/%s", d.id, question), n)
}

func (d *Draw) one(question string, of ...string) string { return keyed.One(d.n, question, of...) }

func (d *Draw) between(question string, from, to time.Duration) time.Duration {
	steps := int((to - from) / time.Millisecond)
	return from + time.Duration(d.n(question, max(steps, 1)))*time.Millisecond
}

// span is how long a fault lasts: often shorter than an election, sometimes longer than a command's
// timeout.
func (d *Draw) span(question string) time.Duration {
	return d.within(question, 5*time.Millisecond, 60*time.Millisecond, 900*time.Millisecond)
}

// within draws a time from the least on to 4 s: half of them between the two bounds, and a quarter
// on either side.
func (d *Draw) within(question string, least, short, long time.Duration) time.Duration {
	switch d.n(question+" class", 4) {
	case 0:
		return d.between(question, least, short)
	case 1, 2:
		return d.between(question, short, long)
	default:
		return d.between(question, long, 4*time.Second)
	}
}

func (d *Draw) at() scenario.Trigger { return scenario.Trigger{At: d.between("at", d.From, d.To)} }

// soonBefore is a little before something that happens at a time.
func (d *Draw) soonBefore(times []time.Duration) scenario.Trigger {
	at := times[d.n("which time", len(times))] - d.between("before", 0, 12*time.Millisecond)
	return scenario.Trigger{At: max(at, d.From)}
}

// anchored draws a trigger at a site of one of the roles, or one time in four at a time: migrations
// fail at their phases, and a phase is hit far more surely by its name than by the clock.
func (d *Draw) anchored(roles ...failpoint.Role) scenario.Trigger {
	if d.n("by time", 4) == 0 {
		return d.at()
	}
	return d.pass("site", roles...)
}

func (d *Draw) pass(question string, roles ...failpoint.Role) scenario.Trigger {
	if d.MovesPrimary && slices.Contains(roles, failpoint.Donor) {
		roles = append(slices.Clone(roles), failpoint.MovePrimary)
	}
	if d.Splits && slices.Contains(roles, failpoint.Donor) {
		roles = append(slices.Clone(roles), failpoint.Split)
	}
	in, ok := d.site(question, roles)
	if !ok {
		return d.at()
	}
	t := scenario.Trigger{Site: in.Name, Nth: 1 + d.n(question+" pass", d.passes(in.Role))}
	if d.n(question+" late", 4) == 0 {
		t.After = d.between(question+" after", time.Millisecond, 80*time.Millisecond)
	}
	return t
}

// passes is how often a site of the role is likely to be passed; requests come much more often than
// migrations.
func (d *Draw) passes(r failpoint.Role) int {
	switch r {
	case failpoint.Request, failpoint.Router:
		return 120
	case failpoint.Replica, failpoint.Balancer:
		return 12
	default:
		return max(1, min(d.Migrations, 5))
	}
}

// site draws a site of one of the roles, a role that stands twice twice as likely; false when there
// is none.
func (d *Draw) site(question string, roles []failpoint.Role) (failpoint.Info, bool) {
	weight := func(in failpoint.Info) (name string, times int) {
		for _, r := range roles {
			if r == in.Role && in.System == "" {
				times++
			}
		}
		return in.Name, times
	}
	in := keyed.Choose(d.n, question, failpoint.Catalog(), weight)
	return in, in.Name != ""
}

// migration are the roles that a migration passes.
var migration = []failpoint.Role{
	failpoint.Donor, failpoint.Recipient, failpoint.Config, failpoint.Session,
	failpoint.RangeDeleter, failpoint.Recovery,
}

// onDisk are also the roles of requests and, as often as all others together, of what a member
// writes: what is lost depends on what is not durable yet.
var onDisk = slices.Concat(migration, []failpoint.Role{failpoint.Request},
	slices.Repeat([]failpoint.Role{failpoint.Replica}, 20))

// member draws any member of any replica set.
func (d *Draw) member(question string) string {
	n := d.n(question, d.Topology.Shards*d.Topology.Members+d.Topology.ConfigMembers)
	if n < d.Topology.ConfigMembers {
		return fmt.Sprintf("config.%d", n)
	}
	n -= d.Topology.ConfigMembers
	return fmt.Sprintf("%s.%d", scenario.ShardName(n/d.Topology.Members), n%d.Topology.Members)
}

// primary draws a role that matters to a migration.
func (d *Draw) primary(question string) string {
	return d.one(question, "donor.primary", "donor.primary", "recipient.primary",
		"recipient.primary", "config.primary", "config.primary")
}

// link draws a direction in which a migration's messages travel.
func (d *Draw) link(question string) string {
	return d.one(question, "donor.primary>recipient.primary", "recipient.primary>donor.primary",
		"donor.primary>config.primary", "config.primary>donor.primary",
		"recipient.primary>config.primary",
		"donor.*>*", "recipient.*>*", "*>*")
}

func setting(name string, value any) scenario.Setting {
	return scenario.Setting{Name: name, Value: fmt.Sprint(value)}
}
