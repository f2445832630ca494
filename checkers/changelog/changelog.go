// Package changelog judges what the config server keeps of what has happened for operators to read:
// config.changelog, to which shards add, and config.actionlog, to which the balancer does.
//
// Promise: an entry that is reported missing was acknowledged, or had to be there before something
// that was seen to happen, or is about a migration that nothing disturbed; an entry that is
// reported untrue differs from what its server has asked for, or from what has happened.
//
// Refusal: it does not report an entry that may have been lost: nothing waits for most of them.
package changelog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// The signatures of what is wrong with an entry.
const (
	Missing verdict.Signature = "entry-missing"
	Untrue  verdict.Signature = "entry-untrue"
	Unasked verdict.Signature = "entry-nobody-asked-for"
)

// The entries about migrations that say that one began, or how it has ended.
const (
	Started   = "moveChunk.start"
	Committed = "moveChunk.commit"
	Gave      = "moveChunk.from"
	Failed    = "moveChunk.error"
	Received  = "moveChunk.to"
)

// Entry is one of config.changelog. Details is all of its details as text; those after it are the
// ones that entries about migrations have, empty where there is none.
type Entry struct {
	What, NS, Server, Details     string
	Migration, From, To, Min, Max string
}

// text is the entry for people, and what makes it the same as another.
func (e *Entry) text() string {
	return fmt.Sprintf("%s of %s by %s with %s", e.What, e.NS, e.Server, e.Details)
}

// Move is what is known of a migration.
type Move struct {
	NS, From, To, Min, Max string
	// Cloned says that its donor was seen to clone, Committed that a majority of the config server
	// has committed it, Over that its donor has completed it and had nothing left to wait for.
	Cloned, Committed, Over bool
	// Gave says of the donor, and Got of the recipient, that it took part until the migration was
	// committed and over, and that no fault has hit it since the beginning: nothing that it has
	// recorded was lost.
	Gave, Got bool
}

// Log is what shards have asked the config server to record.
type Log struct {
	asked    map[string]int // how often, by text
	answered []answered
}

type answered struct {
	Entry
	step uint64
}

// New is a log in which nothing is.
func New() *Log { return &Log{asked: map[string]int{}} }

// Asked is called when a request to add an entry arrives.
func (l *Log) Asked(e Entry) { l.asked[e.text()]++ }

// Answered is called when it is acknowledged.
func (l *Log) Answered(e Entry, step uint64) { l.answered = append(l.answered, answered{e, step}) }

// Judge holds the entries that are there at the end against what was asked for and what has
// happened. ids are the migrations, of which move tells.
func (l *Log) Judge(
	entries []Entry, ids []string, move func(id string) *Move,
) (broken []verdict.Violation) {
	have, about := map[string]int{}, map[string][]string{}
	for i := range entries {
		e := &entries[i]
		have[e.text()]++
		if have[e.text()] == l.asked[e.text()]+1 {
			broken = append(broken, verdict.Violation{
				Signature: Unasked, NS: e.NS,
				Broke: fmt.Sprintf("config.changelog has %d times: %s", have[e.text()], e.text()),
				Because: []string{fmt.Sprintf("a request for it has arrived %d times",
					l.asked[e.text()])},
			})
		}
		if m := move(e.Migration); e.Migration != "" && m != nil {
			broken = append(broken, judgeMove(e, m)...)
		}
		about[e.Migration] = append(about[e.Migration], e.What)
	}
	for i := range l.answered {
		a := &l.answered[i]
		if have[a.text()] == 0 {
			have[a.text()]++ // once is enough
			broken = append(broken, verdict.Violation{
				Signature: Missing, NS: a.NS,
				Broke:   "config.changelog does not have: " + a.text(),
				Because: []string{"the config server has acknowledged it"},
				Events:  []uint64{a.step},
			})
		}
	}
	for _, id := range ids {
		if m := move(id); m != nil {
			broken = append(broken, lacking(id, m, about[id])...)
		}
	}
	return broken
}

// lacking reports the entries of a migration that must be there and are not; has are those that are
// there. The request for a committed migration may fail all the same, if it waited for more.
func lacking(id string, m *Move, has []string) (broken []verdict.Violation) {
	const undisturbed = "the migration was committed and is over, and no fault has hit the " +
		"server that records this since it began"
	for _, one := range []struct {
		must    bool
		either  []string
		because string
	}{
		{m.Cloned, []string{Started}, "its donor goes on only when a majority has that"},
		{m.Gave, []string{Committed}, undisturbed},
		{m.Gave, []string{Gave, Failed}, undisturbed},
		{m.Got, []string{Received}, undisturbed},
	} {
		is := func(what string) bool { return slices.Contains(one.either, what) }
		if one.must && !slices.ContainsFunc(has, is) {
			broken = append(broken, verdict.Violation{
				Signature: Missing, NS: m.NS,
				Broke:   "config.changelog has no " + one.either[0] + " of migration " + id,
				Because: []string{one.because},
			})
		}
	}
	return broken
}

// judgeMove holds an entry against the migration that it is about.
func judgeMove(e *Entry, m *Move) (broken []verdict.Violation) {
	untrue := func(what string, args ...any) {
		broken = append(broken, verdict.Violation{
			Signature: Untrue, NS: e.NS,
			Broke:   "config.changelog has: " + e.text(),
			Because: []string{fmt.Sprintf("migration "+e.Migration+" "+what, args...)},
		})
	}
	set, _, _ := strings.Cut(e.Server, ".")
	by := m.From
	if e.What == Received {
		by = m.To
	}
	switch {
	case e.From != m.From || e.To != m.To:
		untrue("is from %s to %s", m.From, m.To)
	case e.NS != m.NS:
		untrue("is of %s", m.NS)
	case e.Min != "" && m.Min != "" && e.Min != m.Min || e.Max != "" && m.Max != "" && e.Max != m.Max:
		untrue("is of another range")
	case set != by:
		untrue("is reported by %s there", by)
	case (e.What == Committed || e.What == Gave) && !m.Committed:
		untrue("was not committed by a majority of the config server")
	case e.What == Failed && m.Over:
		untrue("was completed, and nobody waited for anything else")
	}
	return broken
}

// Actions judges config.actionlog by the numbers of its records, which is not to have more of them
// than most, 0 for any number: only the oldest may be gone.
func Actions(numbers []int64, most int) (broken []verdict.Violation) {
	sorted := slices.Sorted(slices.Values(numbers))
	if most > 0 && len(sorted) > most {
		broken = append(broken, verdict.Violation{
			Signature: Unasked,
			Broke:     fmt.Sprintf("config.actionlog has %d records", len(sorted)),
			Because:   []string{fmt.Sprintf("actionLogMaxRecords was never above %d in this run", most)},
		})
	}
	for i, n := range sorted {
		if i > 0 && n != sorted[i-1]+1 {
			return append(broken, verdict.Violation{
				Signature: Missing,
				Broke:     fmt.Sprintf("config.actionlog has no record %d", sorted[i-1]+1),
				Because:   []string{fmt.Sprintf("it has records %d and %d", sorted[i-1], n)},
			})
		}
	}
	return broken
}
