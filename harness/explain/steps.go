package explain

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
)

// Failpoint sites are between the steps that a party takes: which it passed, and in which order,
// tells what it did where no event does. A story tells them where a step may have been left out, or
// taken too early or too late.

// steps are what parties did, where that is in question.
func (s *slice) steps() (all []Moment) {
	for i := range s.turns {
		all = append(all, s.donorSteps(&s.turns[i])...)
	}
	if len(s.docs) == 0 {
		all = append(all, s.stepsAfterFailure()...)
		all = append(all, s.committingSteps()...)
	}
	all = append(all, s.parked()...)
	if strings.Contains(s.about.Text, "documents left") {
		all = append(all, s.lastSteps()...)
	}
	return all
}

// donorSteps are those by which a donor made ready what it did not hand over: up to the first
// request for it.
func (s *slice) donorSteps(t *turn) []Moment {
	if s.notBrought(t) == "" {
		return nil
	}
	asked := slices.IndexFunc(s.events, func(x trace.Event) bool {
		return x.Asked() == "MigrateClone" && ofMigration(&x) == t.migration
	})
	if asked < 0 || !s.once("steps "+t.migration) {
		return nil
	}
	x := &s.events[asked]
	way := s.way(x.Node, t.migration, "donor.", 0, x.Arrived())
	if len(way) == 0 {
		return nil
	}
	return []Moment{{
		At: way[len(way)-1].At, Weight: Must,
		Text: fmt.Sprintf("%s, the donor of %s, has taken these steps, in this order: %s",
			x.Node, t.migration, strings.Join(stepNames(way), ", ")),
	}}
}

// committingSteps are those by which a donor came to its commit, where one of its secondaries has
// not learnt of it.
func (s *slice) committingSteps() (all []Moment) {
	for _, i := range slices.Sorted(maps.Keys(s.lastBelief)) {
		if s.leads(&s.events[i]) {
			continue
		}
		for j := range s.events {
			e := &s.events[j]
			if e.Kind != trace.DonorAdvanced || e.DonorState() != trace.DonorCriticalSection ||
				s.chosen[j] == 0 || e.Shard != setOf(s.events[i].Node) || e.At < s.events[i].At {
				continue
			}
			way := s.way(e.Node, e.Migration(), "donor.", e.At, s.events[len(s.events)-1].At)
			if len(way) > 0 && s.once("committing steps "+e.Migration()) {
				all = append(all, Moment{
					At: way[0].At, Weight: Must,
					Text: fmt.Sprintf("%s, the donor of %s, takes these steps from here on, in this order: %s",
						e.Node, e.Migration(), strings.Join(stepNames(way), ", ")),
				})
			}
		}
	}
	return all
}

// participation tells the steps that shards took for a change of the catalog by an operation on a
// collection: before it and after, by what they were asked.
func (s *slice) participation(i int) []Moment {
	e := &s.events[i]
	if e.Kind != trace.CatalogWritten || movedBy(e) != "" || s.chosen[i] == 0 || len(s.docs) == 0 {
		return nil
	}
	operation := s.operationAt(e)
	if operation == "" || !s.once("operation "+operation+e.NS) {
		return nil
	}
	var before, after []string
	for j := range s.events[:min(s.horizon+1, len(s.events))] {
		x := &s.events[j]
		if of, _ := x.Argument("Operation"); of != operation || x.NS != e.NS {
			continue
		}
		step, _ := x.Argument("Step")
		text := fmt.Sprintf("%s %s", x.Node, step)
		if _, answer := x.Said(); answer != "Done" {
			text += " (" + answer + ")"
		}
		switch {
		case x.At <= e.At:
			before = append(before, text)
		case !slices.Contains(before, text) && !slices.Contains(after, text):
			after = append(after, text)
		}
	}
	if len(before) == 0 {
		return nil
	}
	return []Moment{{
		At: e.At, Weight: Telling,
		Text: fmt.Sprintf("for %s of %s, the config server has requested these steps before the "+
			"change: %s; and these after it: %s", e.Why(), e.NS, listed(before), listed(after)),
	}}
}

func listed(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// operationAt is the operation on a collection that a write of the catalog is for: the last one
// that shards were asked for a step of; empty when there is none.
func (s *slice) operationAt(of *trace.Event) (operation string) {
	for i := range s.events {
		x := &s.events[i]
		id, numbered := x.Argument("Operation")
		if !numbered || x.Kind != trace.Exchanged || x.NS != of.NS || setOf(x.Peer) != model.Config {
			continue
		}
		if x.Arrived() <= of.At {
			operation = id
		}
	}
	return operation
}

// stepNames are the sites of one role by what they have in common: a step may pass several, which
// are told as one. That it asks how things are is no step.
func stepNames(way []trace.Passage) (all []string) {
	for _, p := range way {
		_, name, _ := strings.Cut(p.Site, ".")
		name, _, _ = strings.Cut(name, ".")
		if !strings.HasSuffix(name, "Poll") && (len(all) == 0 || all[len(all)-1] != name) {
			all = append(all, name)
		}
	}
	return all
}

// stepsAfterFailure are those that a recipient took although its part of a migration had failed.
func (s *slice) stepsAfterFailure() (all []Moment) {
	for i := range s.events {
		e := &s.events[i]
		if e.Kind != trace.RecipientAdvanced || s.chosen[i] == 0 || !e.RecipientState().Failed() {
			continue
		}
		way := s.way(e.Node, e.Migration(), "recipient.", e.At+1, s.events[len(s.events)-1].At)
		way = slices.DeleteFunc(way, func(p trace.Passage) bool { return endsMigration(p.Site) })
		if len(way) == 0 || !s.once("failed steps "+e.Migration()) {
			continue
		}
		all = append(all, Moment{
			At: way[0].At, Weight: Must,
			Text: fmt.Sprintf("%s, where migration %s has failed, goes on with it: it passes %s",
				e.Node, e.Migration(), sites(way)),
		})
	}
	return all
}

// endsMigration says whether a recipient passes a site to end a migration that has failed.
func endsMigration(site string) bool {
	_, step, _ := strings.Cut(site, ".")
	return step == "fail" || step == "abort" || strings.HasPrefix(step, "recv")
}

var parkedTask = regexp.MustCompile(`(\S+): \S+ (\S+) is parked after (\w+\.\w+)`)

// parked are the ways of tasks that the contradiction says are parked, where one has come to the
// same place before: then it may itself have held what it waits for.
func (s *slice) parked() (all []Moment) {
	for _, m := range parkedTask.FindAllStringSubmatch(s.about.Text, -1) {
		node, about, site := m[1], m[2], m[3]
		role, _, _ := strings.Cut(site, ".")
		way := s.way(node, about, role+".", 0, math.MaxInt64)
		is := func(p trace.Passage) bool { return p.Site == site }
		first := slices.IndexFunc(way, is)
		if first < 0 || !slices.ContainsFunc(way[first+1:], is) || !s.once("parked "+node+about) {
			continue
		}
		next := first + 1 + slices.IndexFunc(way[first+1:], is)
		all = append(all, Moment{
			At: way[first].At, Weight: Must,
			Text: fmt.Sprintf("%s passes %s for %s, and then %s", node, site, about,
				sites(way[first+1:next])),
		}, Moment{
			At: way[next].At, Weight: Must,
			Text: fmt.Sprintf("%s comes to %s again for %s", node, site, about),
		})
	}
	return all
}

// lastSteps are the last that a replica set did for what it still has a record of.
func (s *slice) lastSteps() (all []Moment) {
	role := roleOfRecord(s.about.Text)
	last := map[string]string{}
	var ids []string
	for i := range s.passages {
		p := &s.passages[i]
		if !strings.Contains(p.About, "/") || !strings.HasPrefix(p.Site, role) ||
			!namesIt(s.about.Text, p.About) ||
			!strings.Contains(s.about.Text, setOf(p.Node)+" has documents left") {
			continue
		}
		if last[p.About] == "" {
			ids = append(ids, p.About)
		}
		last[p.About] = p.Node
	}
	for _, id := range ids {
		way := s.way(last[id], id, role, 0, s.events[len(s.events)-1].At)
		if s.once("parked " + last[id] + id) {
			all = append(all, Moment{
				At: way[len(way)-1].At, Weight: Must,
				Text: fmt.Sprintf("the last that %s does for %s: it passes %s", last[id], id,
					sites(way[max(0, len(way)-lastSites):])),
			})
		}
	}
	return all
}

// roleOfRecord is the kind of the sites of those who delete the records that are left.
func roleOfRecord(text string) string {
	switch {
	case strings.Contains(text, "config.migrationRecipients"):
		return "recipient."
	case strings.Contains(text, "config.migrationCoordinators"):
		return "donor."
	case strings.Contains(text, "config.rangeDeletions"):
		return "rangeDeleter."
	}
	return ""
}

// lastSites is how many sites are named of the end of a way.
const lastSites = 5

// way are the sites of a kind that were passed on a node for an identifier in a time.
func (s *slice) way(node, about, kind string, from, to int64) (all []trace.Passage) {
	for i := range s.passages {
		p := &s.passages[i]
		if p.Node == node && p.About == about && strings.HasPrefix(p.Site, kind) &&
			from <= p.At && p.At <= to {
			all = append(all, p.Passage)
		}
	}
	return all
}

// sites names sites with the times at which time went on.
func sites(way []trace.Passage) string {
	var all []string
	for i, p := range way {
		text := p.Site
		if i == 0 || p.At-way[i-1].At >= int64(roundedTo) {
			text += " at " + rounded(p.At)
		}
		all = append(all, text)
	}
	return strings.Join(FirstLines(all, sitesTold), ", ")
}

// sitesTold is how many sites are named.
const sitesTold = 14

// detour tells the way of a request past failpoint sites if it passed one of them again; empty for
// a straight way.
func detour(way []trace.Passage) string {
	var seen []string
	text, again := "; it passed ", false
	for n, p := range way {
		switch {
		case slices.Contains(seen, p.Site):
			again = true
			seen = nil
			text += fmt.Sprintf("; at %s again ", rounded(p.At))
		case n > 0:
			text += ", "
		}
		seen = append(seen, p.Site)
		text += p.Site
	}
	if !again {
		return ""
	}
	return text
}
