package waits

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
)

// place is a collection, or a database, on a node.
type place struct{ node, ns string }

// section is the critical section of a collection on a primary.
type section struct {
	// holders are those who hold it, and whether they block reads as well.
	holders       map[string]bool
	writes, reads blocking
}

// blocking is when requests of a kind were last blocked without a break: the zero blocking is
// never.
type blocking struct {
	on          bool
	since, till int64
}

func (b *blocking) set(on bool, now int64) {
	switch {
	case on && !b.on:
		b.since = now
	case !on && b.on:
		b.till = now
	}
	b.on = on
}

// through says whether requests of the kind were blocked from before one moment until another.
func (b *blocking) through(from, to int64) bool {
	return b.since < from && (b.on || b.till >= to) && b.since != 0
}

// followSection follows who blocks what. Requests are blocked from the event on that says so.
func (j *Judge) followSection(e *trace.Event) {
	at := place{e.Node, e.NS}
	s := j.sections[at]
	if s == nil {
		s = &section{holders: map[string]bool{}}
		j.sections[at] = s
	}
	holder := fmt.Sprint(e.Actor, e.Migration())
	if e.SectionState().Terminal() {
		delete(s.holders, holder)
	} else {
		s.holders[holder] = e.SectionState() == trace.ReadsBlocked
	}
	reads := false
	//shardproof:allow map whether any of them blocks reads does not depend on the order
	for _, too := range s.holders {
		reads = reads || too
	}
	s.writes.set(len(s.holders) > 0, e.At)
	s.reads.set(reads, e.At)
}

// versioned are the requests that are let in by the version with which they come.
var versioned = []string{"Find", "Insert", "Update", "Delete", "FindAndModify"}

// judgeRefusal: a request that comes while the critical section blocks it is not refused for its
// version before the section has ended, or the time of the wait (protocol 3.4).
func (j *Judge) judgeRefusal(e *trace.Event) {
	if !slices.Contains(versioned, e.Asked()) || len(e.Chunks) == 0 {
		return
	}
	r := Refusal{e.Node, e.Peer, e.NS, e.Asked(), e.Code(), e.Arrived()}
	b := j.blocks(&r)
	if b == nil {
		return
	}
	j.verdict.Checked++
	waited := time.Duration(e.At - r.Arrived)
	if !b.through(r.Arrived, e.At+1) || waited >= byFastClock(j.limits().Behind) {
		return
	}
	j.broken(refusedEarly, e.NS,
		fmt.Sprintf("%s refuses %s of %s with %s after %v, while the critical section is held",
			r.Node, r.Request, r.Peer, r.Code, waited),
		fmt.Sprintf("the section has blocked such requests since %v, before this one came",
			time.Duration(b.since)),
		fmt.Sprintf("such a request waits for the end of the section, or for %v",
			j.limits().Behind))
}

// Refusal is the answer of a node to a request with a version that came at some time.
type Refusal struct {
	Node, Peer, NS, Request, Code string
	Arrived                       int64
}

// Refused is called when a request is refused that can have waited for nothing but the critical
// section: neither for a session nor for a cluster time.
func (j *Judge) Refused(r Refusal, at int64) {
	b, l := j.blocks(&r), j.limits()
	waited, most := time.Duration(at-r.Arrived), l.BehindMost+slack
	if b == nil || waited <= most || !b.through(r.Arrived, r.Arrived+int64(most)) ||
		!j.quiet.Node(r.Node, r.Arrived) {
		return
	}
	j.broken(heldLong, r.NS,
		fmt.Sprintf("%s has held up %s of %s for %v behind a critical section", r.Node, r.Request,
			r.Peer, waited),
		fmt.Sprintf("that is all that it waits for, for at most %v", l.BehindMost),
		fmt.Sprintf("nothing has held up %s", r.Node))
}

// blocks is what has blocked a refused request since before it came; nil when that is not for
// certain. A collection of a database is blocked by its own section, or else by that of the
// database.
func (j *Judge) blocks(r *Refusal) *blocking {
	settled, leads := j.primaries[r.Node]
	if !leads || settled >= r.Arrived || r.Code != "StaleConfig" && r.Code != "StaleDbVersion" {
		return nil
	}
	own := j.kind(r, r.NS)
	if own != nil && own.since != 0 && (own.on || own.till >= r.Arrived) {
		return own
	}
	if r.Code == "StaleDbVersion" {
		database, _, _ := strings.Cut(r.NS, ".")
		return j.kind(r, database)
	}
	return own
}

// kind is what blocks such a request in a section.
func (j *Judge) kind(r *Refusal, ns string) *blocking {
	s := j.sections[place{r.Node, ns}]
	switch {
	case s == nil:
		return nil
	case r.Request == "Find":
		return &s.reads
	}
	return &s.writes
}

// byFastClock is the time in which a clock measures the wait that goes half as fast again as time,
// and none goes faster.
func byFastClock(wait time.Duration) time.Duration { return wait * 2 / 3 }
