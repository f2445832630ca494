package faults

import (
	"fmt"

	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

// SiteNames lists every failpoint.
func SiteNames() []string {
	var names []string
	for _, in := range failpoint.All() {
		names = append(names, in.Name)
	}
	return names
}

func checkTrigger(t scenario.Trigger) error {
	if t.Site == "" {
		return nil
	}
	if _, ok := failpoint.Parse(t.Site); !ok {
		return suggest.Unknown("failpoint", t.Site, SiteNames(), "failpoints")
	}
	if t.Nth < 1 {
		return fmt.Errorf("a trigger at failpoint %s needs a number from 1, not #%d", t.Site, t.Nth)
	}
	if t.Node != "" && !plausible(t.Node) {
		return fmt.Errorf(
			"a trigger needs a node such as shard-a.1 or a role such as donor.primary, not %q",
			t.Node,
		)
	}
	return nil
}

// Hit is a task passing a site.
type Hit struct {
	Node env.NodeID
	// Task is the name of the task: of one that serves a request, that of the command.
	Task string
	Site failpoint.Site
	Note env.Note
}

// waiter counts passes of a site until its trigger fires.
type waiter struct {
	trigger scenario.Trigger
	passed  int
	fire    func(h *Hit, a *Action)
}

// arm waits for the trigger. With After, or a time, fire is called without a hit.
func (d *Driver) arm(t scenario.Trigger, fire func(h *Hit, a *Action)) {
	if t.Site == "" {
		d.world.At(max(d.base.Add(t.At+t.After), d.world.Now()), func() { fire(nil, &Action{}) })
		return
	}
	if t.After > 0 {
		now := fire
		fire = func(*Hit, *Action) {
			d.world.At(d.world.Now().Add(t.After), func() { now(nil, &Action{}) })
		}
	}
	site, _ := failpoint.Parse(t.Site)
	d.waiting[site] = append(d.waiting[site], &waiter{trigger: t, fire: fire})
}

// pass lets everyone who waits for the site know; those whose count is full fire and are forgotten.
func (d *Driver) pass(h *Hit, a *Action) {
	waiting := d.waiting[h.Site]
	if len(waiting) == 0 {
		return
	}
	var full []*waiter
	kept := waiting[:0]
	for _, w := range waiting {
		if d.is(h.Node, w.trigger.Node) {
			w.passed++
		}
		if w.passed >= w.trigger.Nth {
			full = append(full, w)
		} else {
			kept = append(kept, w)
		}
	}
	d.waiting[h.Site] = kept
	for _, w := range full {
		w.fire(h, a)
	}
}

func (d *Driver) is(node env.NodeID, target string) bool {
	if target == "" {
		return true
	}
	for _, id := range d.roles.resolve(target, d.nodes) {
		if id == node {
			return true
		}
	}
	return false
}
