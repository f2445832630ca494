package race

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shardproof/shardproof/harness/activity"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Pass is a task passing a site.
type Pass struct {
	Site string
	// By is the node, or "shard-a.*" for any of its set; it was the Nth pass by these.
	By  string
	Nth int
	At  time.Duration
	// Leads is true when the node was the primary of its set.
	Leads bool
}

// trigger is the pass as a trigger of a fault.
func (p *Pass) trigger() scenario.Trigger {
	return scenario.Trigger{Site: p.Site, Nth: p.Nth, Node: p.By}
}

// String is the pass in a journal.
func (p *Pass) String() string {
	leads := ""
	if p.Leads {
		leads = "!"
	}
	return fmt.Sprintf("%s/%s/%d/%d%s", p.Site, p.By, p.Nth, p.At, leads)
}

// parsePass is the inverse of String.
func parsePass(text string) (p Pass, err error) {
	text, p.Leads = strings.CutSuffix(text, "!")
	words := strings.Split(text, "/")
	if len(words) != 4 {
		return p, fmt.Errorf("%q is no pass of a site", text)
	}
	at, err := strconv.ParseInt(words[3], 10, 64)
	if err != nil {
		return p, fmt.Errorf("the pass %q has no time: %w", text, err)
	}
	p.Site, p.By, p.At = words[0], words[1], time.Duration(at)
	if p.Nth, err = strconv.Atoi(words[2]); err != nil {
		return p, fmt.Errorf("the pass %q has no number: %w", text, err)
	}
	return p, nil
}

// passesOf are those of the sites of an activity, in order.
func passesOf(a *activity.Activity, points []runner.InjectionPoint) (all []Pass) {
	for i := range points {
		o := &points[i]
		if o.What == runner.FailpointPassed && activity.Of(o.Site) == a {
			all = append(all, Pass{
				Site: o.Site, By: o.Node, Nth: int(o.Nth), At: o.At, Leads: o.Leads,
			})
		}
	}
	return all
}

// where is the site and who passes it.
func (p *Pass) where() string { return p.Site + " " + p.By }

// some are up to most passes of each site: the first and the last of them, and others evenly
// between.
func some(all []Pass, most int) (few []Pass) {
	count, nth := make(map[string]int), make(map[string]int)
	for i := range all {
		count[all[i].Site]++
	}
	for i := range all {
		n, of := nth[all[i].Site], count[all[i].Site]
		nth[all[i].Site]++
		if n == 0 || of <= most || n*(most-1)/(of-1) > (n-1)*(most-1)/(of-1) {
			few = append(few, all[i])
		}
	}
	return few
}

// events are the first passes of each site between two times by anybody of a set.
func events(all []Pass, from, to time.Duration) (few []Pass) {
	seen := make(map[string]bool)
	for _, p := range all {
		p.By, p.Nth = setOf(p.By)+".*", 1
		if p.At > from && p.At < to && !seen[p.where()] {
			seen[p.where()] = true
			few = append(few, p)
		}
	}
	return few
}

func setOf(node string) string {
	set, _, _ := strings.Cut(node, ".")
	return set
}
