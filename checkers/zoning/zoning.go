// Package zoning follows which ranges of keys are of which zones, through the log of the config
// server, and says what changed although nothing has asked for it.
//
// Promise: an entry says what it does in several events, in any order, so that it is judged when
// all of it is known. An entry of a leader whose successor may not have it is not judged.
//
// Refusal: whether a shard may own what is in a zone, and whether what a command asked for has
// happened, is judged elsewhere.
package zoning

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// The signatures of changes that nothing has asked for.
const (
	Unasked verdict.Signature = "zone-change-not-requested"
	Lost    verdict.Signature = "zones-lost-by-rename"
	Kept    verdict.Signature = "zones-kept-by-rename"
	Left    verdict.Signature = "zones-left-behind"
)

// Command is what a command about the range of a zone names; without the name of a zone, the range
// is to leave its zone.
type Command struct {
	NS string
	model.ZoneRange
}

// Zones are those of a cluster. Made by New.
type Zones struct {
	world  *model.World
	span   func(lo, hi string) string
	report func(v verdict.Violation, step uint64)
	// asked are all commands so far: one may be carried out long after.
	asked map[Command]bool
	entry entry
}

// entry is the newest entry of the config server, as far as it is known.
type entry struct {
	term, index uint64
	// before is what was known of the cluster when it came, nil when nothing of it is to be judged.
	before *model.Cluster
	// from and to are the names if it renames a collection; gone are the names whose collection is
	// gone after it. Both happened at a step.
	from, to string
	gone     []string
	step     uint64
	// ranged is the step of its last change of the cluster.
	ranged uint64
}

// New follows the zones of a world. Span is a range of keys for people; report gets each violation
// with the step that proves it.
func New(
	w *model.World, span func(lo, hi string) string, report func(verdict.Violation, uint64),
) *Zones {
	return &Zones{world: w, span: span, report: report, asked: map[Command]bool{}}
}

// Asked notes a command, which may be nil.
func (z *Zones) Asked(c *Command) {
	if c != nil {
		z.asked[*c] = true
	}
}

// Observe takes the next event, before the world does.
func (z *Zones) Observe(e *trace.Event) {
	config := z.world.Set(model.Config)
	switch e.Kind {
	case trace.Elected:
		if e.Shard == config.Name {
			z.entry = entry{} // whether the new leader has it is open
		}
	case trace.Majority:
		if e.Shard == config.Name && e.Index >= z.entry.index {
			z.judge()
		}
	case trace.CatalogWritten, trace.ClusterChanged:
		if config.Leads(e) {
			z.follow(e)
		}
	}
}

// follow takes an event of an entry of the leader.
func (z *Zones) follow(e *trace.Event) {
	if e.Term != z.entry.term || e.Index != z.entry.index {
		z.judge()
		z.entry = entry{term: e.Term, index: e.Index, before: z.world.LatestCluster()}
	}
	n := &z.entry
	if e.Kind == trace.ClusterChanged {
		n.ranged = e.Step
	}
	if from := e.FormerName(); from != "" {
		n.from, n.to, n.step = from, e.NS, e.Step
		n.gone = append(n.gone, from)
	} else if e.Change() == trace.Dropped {
		n.gone, n.step = append(n.gone, e.NS), e.Step
	}
}

// judge judges the entry that is complete now, once.
func (z *Zones) judge() {
	done, now := z.entry, z.world.LatestCluster()
	z.entry = entry{term: done.term, index: done.index}
	if now == nil {
		return
	}
	if len(done.gone) == 0 && done.before != nil {
		z.judgeRanges(done.before, now, done.ranged)
	}
	for _, ns := range done.gone {
		if ns != done.to && now.Zoned(ns) {
			z.reportLeft(ns, done.step)
		}
	}
	if done.from != "" && done.before != nil {
		z.judgeRename(done, now)
	}
}

// judgeRanges: updateZoneKeyRange changes the range that it names and no other (protocol 13.6).
func (z *Zones) judgeRanges(before, now *model.Cluster, step uint64) {
	for ns, r := range now.ZonesBut(before) {
		z.judgeRange(Command{ns, r}, "entered", r, step)
	}
	for ns, r := range before.ZonesBut(now) {
		asked := r
		asked.Name = ""
		z.judgeRange(Command{ns, asked}, "left", r, step)
	}
}

func (z *Zones) judgeRange(by Command, did string, r model.ZoneRange, step uint64) {
	if z.asked[by] {
		return
	}
	z.report(verdict.Violation{
		Signature: Unasked, NS: by.NS, Ranges: []verdict.KeyRange{{Min: r.Min, Max: r.Max}},
		Broke:   fmt.Sprintf("%s of %s %s zone %s", z.span(r.Min, r.Max), by.NS, did, r.Name),
		Because: []string{"no command until then has named exactly that range"},
	}, step)
}

// judgeRename: the ranges of a collection that gets another name stay in their zones, and those
// that the other name had before leave theirs.
func (z *Zones) judgeRename(done entry, now *model.Cluster) {
	differs := func(signature verdict.Signature, lo, hi, is, because string) {
		z.report(verdict.Violation{
			Signature: signature, NS: done.to,
			Broke: fmt.Sprintf("%s was renamed to %s, where %s %s",
				done.from, done.to, z.span(lo, hi), is),
			Because: []string{because},
		}, done.step)
	}
	if lo, hi, zone := now.LostZone(done.to, done.before, done.from); zone != "" {
		differs(Lost, lo, hi, "is not in zone "+zone,
			"it was under the former name, and no operator has taken it out")
	}
	if lo, hi, zone := done.before.LostZone(done.from, now, done.to); zone != "" {
		differs(Kept, lo, hi, "is in zone "+zone,
			"it was not under the former name: the new name had that zone before")
	}
}

// reportLeft: the next collection of that name would be held to zones that nobody gave it.
func (z *Zones) reportLeft(ns string, step uint64) {
	z.report(verdict.Violation{
		Signature: Left, NS: ns,
		Broke:   fmt.Sprintf("ranges of %s are still of zones", ns),
		Because: []string{"its collection was dropped, or has another name now"},
	}, step)
}
