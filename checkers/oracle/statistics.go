package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/changelog"
	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// statisticsRule is statistics: what servers count for operators is what they have done.
var statisticsRule = verdict.Checker{
	Name: "statistics",
	Promise: "The counters of a server (shardingStatistics) agree with what its process has " +
		"done: migrations, documents, and the time for which users had to wait.",
	Signatures: verdict.Meanings{
		miscounted: "a counter is not what the process did since it started",
	},
}

var _ = declare(117, statisticsRule, func(o *Oracle) hooks {
	return hooks{event: o.tally}
})

// miscounted is the signature of a counter that does not agree with the events.
const miscounted verdict.Signature = "counter-wrong"

// Statistics judges the counters with which a node has answered.
func (o *Oracle) Statistics(node string, counters map[string]int64) {
	p := o.process(node)
	p.interrupted = p.interrupted || o.killed > p.began
	for _, expected := range append(p.expectations(), bytesOf(counters)...) {
		value, counted := expected.of(counters)
		if !counted || expected.least <= value && value <= expected.most {
			continue
		}
		o.report(statisticsRule, verdict.Violation{
			Signature: miscounted,
			Broke: fmt.Sprintf("%s answers that %s is %d, which must be from %d to %d",
				node, expected.name, value, expected.least, expected.most),
			Because: []string{
				"its process has " + expected.what + ", by the events since it started",
			},
		}, p.began)
	}
}

// OnRecord judges a number of what is outstanding, which is to be what is on record at that moment.
func (o *Oracle) OnRecord(node, name string, value, right int64) {
	if value != right {
		o.report(statisticsRule, verdict.Violation{
			Signature: miscounted,
			Broke:     fmt.Sprintf("%s answers that %s is %d", node, name, value),
			Because:   []string{fmt.Sprintf("by what it has on record it is %d", right)},
		})
	}
}

// expectation is what a counter may be, and why.
type expectation struct {
	name, what string
	span
}

// bytesOf are what counters of bytes may be by the documents that are counted beside them.
func bytesOf(counters map[string]int64) (all []expectation) {
	const least, most = 1, 16 << 20 // of a document, or of the _id of one that was deleted
	for _, kind := range []string{
		"ClonedOnDonor", "ClonedOnRecipient", "ClonedOnCatchUpOnRecipient", "DeletedByRangeDeleter",
	} {
		n := counters["countDocs"+kind]
		all = append(all, expectation{
			"countBytes" + kind, fmt.Sprintf("counted %d documents", n), span{n * least, n * most},
		})
	}
	return all
}

// of is the counter's value, or that of the sum.
func (x *expectation) of(counters map[string]int64) (sum int64, counted bool) {
	for _, name := range strings.Split(x.name, "+") {
		n, known := counters[name]
		if !known {
			return 0, false
		}
		sum += n
	}
	return sum, true
}

// noLimit is the most of what only grows with what cannot be seen.
const noLimit = 1 << 62

// expectations are those of a process in which nothing is under way.
func (p *process) expectations() []expectation {
	p.endGiving(true)
	p.endReceiving(true)
	return []expectation{
		{
			"countDonorMoveChunkStarted",
			fmt.Sprintf("begun %d migrations, %d of which have cloned", p.created, p.cloning),
			span{p.cloning, p.created},
		},
		{
			"countDonorMoveChunkAborted", "ended migrations before it requested a commit",
			p.aborted,
		},
		{
			"countDonorMoveChunkCommitted", "completed migrations that were committed",
			span{p.completed, p.ended.most},
		},
		{
			"countDonorMoveChunkAborted+countDonorMoveChunkCommitted" +
				"+countDonorMoveChunkCommitUncertain",
			"ended migrations", p.ended,
		},
		{
			"totalDonorMoveChunkTimeMillis", "worked on migrations",
			span{times(p.donorTime, 0).least, noLimit},
		},
		{
			"totalDonorChunkCloneTimeMillis", "cloned as a donor",
			span{times(p.cloneTime, 0).least, noLimit},
		},
		{
			"unfinishedMigrationFromPreviousPrimary", "completed migrations of earlier primaries",
			span{p.inherited, noLimit},
		},
		{
			"totalCriticalSectionTimeMillis", "blocked writes as a donor",
			times(p.section.least, p.section.most),
		},
		{
			"totalCriticalSectionCommitTimeMillis", "blocked reads as a donor",
			times(p.commitWait.least, p.commitWait.most),
		},
		{
			"countRecipientMoveChunkStarted", "received migrations", span{p.ready, p.ready},
		},
		{"countRecipientMoveChunkFailed", "failed as a recipient", p.failed},
		{
			"totalRecipientCriticalSectionTimeMillis", "blocked users as a recipient",
			span{times(p.entered.least, 0).least, noLimit},
		},
		{"countDocsClonedOnRecipient", "cloned documents", p.cloned},
		{
			"countDocsClonedOnCatchUpOnRecipient", "applied changes",
			span{p.caughtUp.least, noLimit},
		},
		{
			"countDocsClonedOnDonor", "given documents that have arrived",
			span{p.given.least, noLimit},
		},
		{
			"countDocsDeletedByRangeDeleter", "deleted orphans", p.deleted,
		},
		{
			"countStaleConfigErrors", "refused requests for their version",
			span{p.refused, noLimit},
		},
		p.failures("countDonorMoveChunkTooBig", "ChunkTooBig"),
		p.failures("countDonorMoveChunkMemoryExceeded", "ExceededMemoryLimit"),
		p.failures("countDonorMoveChunkLockTimeout", "LockTimeout"),
	}
}

// failures is how often migrations have failed for one reason, by the answers to those who have
// asked for them. Several may have asked for the same one. When a term ends, or a fault ends a
// task, there may be an answer about what is not counted, or none about what is.
func (p *process) failures(counter, code string) expectation {
	n := p.refusals[code]
	x := expectation{counter, fmt.Sprintf("answered %d times that a migration has failed with %s",
		n, code), span{min(n, 1), n}}
	if p.interrupted {
		x.span = span{0, noLimit}
	}
	return x
}

// times is a time of that many nanoseconds, in milliseconds by a node's clock, of which faults keep
// the drift below half of the right rate.
func times(least, most int64) span {
	const millisecond = 1_000_000
	return span{least / 2 / millisecond, 2*most/millisecond + 1}
}

// changelogRule is changelog (protocol 2.1, 5).
var changelogRule = verdict.Checker{
	Name: "changelog",
	Promise: "What the config server keeps for operators to read (config.changelog, " +
		"config.actionlog) is what shards and the balancer have recorded, and what has happened.",
	Signatures: verdict.Meanings{
		changelog.Missing: "an entry is missing that was acknowledged, or that had to be there",
		changelog.Untrue:  "an entry about a migration says what has not happened",
		changelog.Unasked: "there are entries that nobody has asked for, or too many",
	},
}

var _ = declare(122, changelogRule, func(*Oracle) hooks { return hooks{} })

// ChangeAsked is called when a request arrives to add an entry to the changelog, ChangeAnswered
// when it is acknowledged.
func (o *Oracle) ChangeAsked(e changelog.Entry) { o.changes.Asked(e) }

// ChangeAnswered see ChangeAsked.
func (o *Oracle) ChangeAnswered(e changelog.Entry) { o.changes.Answered(e, o.step) }

// Changelog judges what the primary of the config server has at the end: the entries of the
// changelog, and the numbers of those of the action log, which may have so many.
func (o *Oracle) Changelog(entries []changelog.Entry, actions []int64, most int) {
	broken := o.changes.Judge(entries, slices.Sorted(maps.Keys(o.moves)), o.outcome)
	for _, v := range append(broken, changelog.Actions(actions, most)...) {
		o.report(changelogRule, v)
	}
}

// outcome is what has become of a migration, nil when it is unknown.
func (o *Oracle) outcome(id string) *changelog.Move {
	m := o.moves[id]
	if m == nil || m.from == "" {
		return nil
	}
	over := m.decided == trace.Committed && m.completed
	return &changelog.Move{
		Gave: over && o.undisturbed(m.by, id, true),
		Got:  over && o.undisturbed(o.world.Set(m.to).Leader, id, false),
		NS:   m.ns, From: m.from, To: m.to, Min: m.min, Max: m.max,
		Cloned: m.cloning != 0, Committed: m.committed != 0 || o.committedFor(m),
		Over: m.completed && o.awaited.delayed[m.request] && o.machine != nil &&
			o.machine.Protocol() == migrationmodel.V80,
	}
}

// undisturbed says whether a node took part in a migration to its end, as its donor or else as its
// recipient, and has been the settled primary since before it began, with no fault and no request
// that failed, as has the primary of the config server: one who finds none has nobody to ask.
func (o *Oracle) undisturbed(node, id string, donor bool) bool {
	n := o.causes.of(node)
	return slices.ContainsFunc(o.causes.takes[node], func(p *part) bool {
		return p.id == id && p.donor == donor && p.over != 0 && n.settledSince(p.began) &&
			o.causes.stable(model.Config, p.began) && n.quiet(p.began) && n.any < p.began
	})
}

// committedFor says whether a migration counts as committed for its donor because of the late
// commit of another one, to whatever shard: a donor of 4.2 goes by whether the lowest key of the
// range is still its own (protocol 4, H-21).
func (o *Oracle) committedFor(m *move) bool {
	return slices.ContainsFunc(o.unfenced, func(u damagingCommit) bool {
		late := o.moves[u.id]
		return late != nil && late.ns == m.ns && late.from == m.from && late.min <= m.min &&
			m.min < late.max
	})
}
