// Package tenures judges why replica sets change their primaries.
//
// Promise: a primary that is settled, in a set that nothing disturbs, leads on until somebody has
// it hand over, and then hands over. Judged from what is known of faults, chance and operators, and
// not from what members say of each other.
//
// Refusal: whatever happened within the last few election timeouts counts as a cause, so that an
// election is never judged that a disturbance could have led to. Sets of one member hand over to
// nobody and are not judged for it.
package tenures

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers/quiet"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

var rule = verdict.Checker{
	Name: "tenure",
	Promise: "A primary that has led for some time stays primary until a fault, a random " +
		"disturbance or an operator disturbs its replica set; when an operator asks it to step " +
		"down, it finds a successor.",
	Signatures: verdict.Meanings{
		electedIdly: "a replica set changed its primary although nothing had disturbed it",
		handOverIdly: "a primary found no successor although all members of its set were running " +
			"undisturbed",
	},
}

// The signatures of what has no cause.
const (
	electedIdly  verdict.Signature = "election-without-cause"
	handOverIdly verdict.Signature = "hand-over-failed-without-cause"
)

// Catalog is the only checker of this package.
func Catalog() []verdict.Checker { return []verdict.Checker{rule} }

// Timing is what operators have set that changes of primaries go by.
type Timing struct {
	// Election is the largest election timeout that is set in the run; a member that hears of no
	// primary campaigns after one to two of them.
	Election time.Duration
	// HandOver is the shortest time for which a primary waits for a successor to catch up.
	HandOver time.Duration
	// Changed is set when one of the times by which members hear of each other changes in a run.
	Changed bool
}

// Judge follows the primaries of all replica sets.
type Judge struct {
	quiet   *quiet.Record
	timing  func() Timing
	members func(set string) int
	sets    map[string]*set
	verdict verdict.Verdict
}

// set is who leads a replica set, as far as events say.
type set struct {
	// primary is the settled one, empty while there is none; changed is when anybody last began or
	// ceased to lead.
	primary string
	changed int64
	// leaving are the members that operators have hand over, left is when the last had ended.
	leaving []*handOver
	left    int64
	// crowded is set when several had it hand over at a time.
	crowded bool
}

// handOver is a request of an operator that has not ended; with its node's process it ends unheard.
type handOver struct{ node string }

// New returns a judge of primaries that rests on a record of disturbances. It must be shown every
// event after the record has been.
func New(
	record *quiet.Record, timing func() Timing, members func(set string) int,
) *Judge {
	return &Judge{
		quiet: record, timing: timing, members: members, sets: map[string]*set{},
		verdict: rule.Begin(),
	}
}

// Verdict is the conclusion so far.
func (j *Judge) Verdict() verdict.Verdict { return j.verdict }

func (j *Judge) of(name string) *set {
	s := j.sets[name]
	if s == nil {
		s = &set{}
		j.sets[name] = s
	}
	return s
}

// Observe takes the next event.
func (j *Judge) Observe(e *trace.Event) {
	switch e.Kind {
	case trace.NodeUp, trace.NodeDown:
		name, _, _ := strings.Cut(e.Node, ".")
		s := j.of(name)
		s.end(func(h *handOver) bool { return h.node == e.Node }, e.At)
		if s.primary == e.Node { // which may take long to come back, and then leads no more
			s.primary, s.changed = "", e.At
		}
	case trace.Elected, trace.SteppedDown:
		j.verdict.Checked++
		s := j.of(e.Shard)
		j.judgeChange(s, e)
		s.primary, s.changed = "", e.At
	case trace.Writable:
		s := j.of(e.Shard)
		s.primary, s.changed = e.Node, e.At
	}
}

// aftermath is for how long something that has disturbed a set may still have an effect: a message
// that was copied comes so late at most, and what chance holds up it does not hold up for longer.
const aftermath = 3 * time.Second

// window is from when on nothing may have disturbed a set, for a change of its primary to have no
// cause: twice the time that any member waits for a word of the primary.
func (j *Judge) window(at int64) int64 {
	return at - int64(4*j.timing().Election+aftermath)
}

// judgeChange judges that a primary steps down, or that another member is elected before it has.
// That there was another change shortly before is no cause, once the primary has been settled for
// as long as a member that heard nothing of it would have waited at least.
func (j *Judge) judgeChange(s *set, e *trace.Event) {
	since, settled := j.window(e.At), e.At-int64(j.timing().Election)
	if since <= 0 || s.primary == "" || s.changed >= settled || len(s.leaving) > 0 ||
		s.left >= since || j.timing().Changed || !j.quiet.Set(e.Shard, since) {
		return
	}
	what := "steps down"
	if e.Kind == trace.Elected {
		what = "is elected"
	}
	j.verdict.Add(verdict.Violation{
		Signature: electedIdly,
		Broke: fmt.Sprintf("%s %s in term %d of replica set %s, of which %s had been the primary "+
			"since %v", e.Node, what, e.Term, e.Shard, s.primary, time.Duration(s.changed)),
		Because: []string{
			"the cause would have to be a fault, a random disturbance, or an operator",
			fmt.Sprintf("none of them has disturbed the set in the last %v, in which a member "+
				"campaigns that hears nothing of a primary for %v to %v",
				time.Duration(e.At-since), j.timing().Election, 2*j.timing().Election),
		},
		Events: []uint64{e.Step},
	})
}

// before is from when on nothing may have disturbed a set for its members to have everything and to
// be known to be there, when a primary is to hand over.
func (j *Judge) before(at int64) int64 {
	return at - int64(2*j.timing().Election+time.Second)
}

// shortestHandOver is the time in which a primary that waits for a successor must have found one.
const shortestHandOver = 250 * time.Millisecond

// HandsOver is called when an operator has the primary of a set hand over. What it returns is
// called when that has come to its end; found says whether there was a successor in time.
func (j *Judge) HandsOver(node, name string, at int64) (over func(found bool, at int64)) {
	s := j.of(name)
	mine := &handOver{node}
	s.leaving = append(s.leaving, mine)
	s.crowded = s.crowded || len(s.leaving) > 1
	settled := s.primary == node && s.changed < j.before(at)
	return func(found bool, ended int64) {
		alone := !s.crowded && slices.Contains(s.leaving, mine)
		s.end(func(h *handOver) bool { return h == mine }, ended)
		if !found && settled && alone && s.primary == node && s.changed < at {
			j.judgeHandOver(node, name, at, ended)
		}
	}
}

// end takes note that some of those who hand over do so no more.
func (s *set) end(which func(*handOver) bool, at int64) {
	before := len(s.leaving)
	if s.leaving = slices.DeleteFunc(s.leaving, which); len(s.leaving) < before {
		s.left, s.crowded = at, s.crowded && len(s.leaving) > 0
	}
}

func (j *Judge) judgeHandOver(node, name string, began, ended int64) {
	j.verdict.Checked++
	since := j.before(began)
	t := j.timing()
	if since <= 0 || j.members(name) < 2 || t.HandOver < shortestHandOver || t.Changed ||
		!j.quiet.Set(name, since) {
		return
	}
	j.verdict.Add(verdict.Violation{
		Signature: handOverIdly,
		Broke: fmt.Sprintf("%s was to hand over replica set %s at %v and found no successor until %v",
			node, name, time.Duration(began), time.Duration(ended)),
		Because: []string{
			fmt.Sprintf("all %d members have been running undisturbed for %v",
				j.members(name), time.Duration(ended-since)),
			fmt.Sprintf("a primary waits %v for a successor to catch up", t.HandOver),
		},
		Times: []int64{ended},
	})
}
