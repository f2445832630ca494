package oracle

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/checkers/batches"
	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// awaited is the memory of who waits for deletions.
type awaited struct {
	// sweeps are the deletions of 4.2, which no shard has on record, by migration.
	sweeps map[string]sweep
	// told are the answers of a shard that nothing is deleted in a range of a collection, by shard
	// and collection.
	told map[string][]toldDone
	// passed are the requests to move a range that the config server has passed on to a donor,
	// requests how often each has arrived there.
	passed   map[string]bool
	requests map[string]int
	// delayed are the requests to move a range of which nobody waits for the deletion, ready is
	// when a shard could begin with one, by migration and shard.
	delayed map[string]bool
	ready   map[string]readyAt
	// coming are the ranges that a shard has begun to receive.
	coming map[string][]comingRange
}

// comingRange is a range that a shard has begun to receive, and the step at which it has.
type comingRange struct {
	min, max string
	step     uint64
}

// toldDone is the step of an answer, and when the question arrived.
type toldDone struct {
	step    uint64
	arrived int64
}

// sweep is a deletion that a primary carries out in its term; it ends with that.
type sweep struct {
	node string
	term uint64
	step uint64
	at   int64
}

// follow keeps up with the deletions of primaries that have none on record.
func (a *awaited) follow(o *Oracle, e *trace.Event) {
	switch set := o.world.Set(e.Shard); {
	case e.Kind == trace.Answered && e.Asked() == "AwaitRangeDeletion" && e.Code() == "":
		at := shardOfNode(e.Node) + " " + e.NS
		a.told[at] = append(a.told[at], toldDone{e.Step, e.Arrived()})
	case e.Kind == trace.RecipientAdvanced && e.RecipientState() == trace.RecipientReady:
		a.coming[e.Shard] = append(a.coming[e.Shard], comingRange{e.Min, e.Max, e.Step})
	case e.Kind != trace.RangeDeletion || e.Orphans() >= 0 || set.Leader != e.Node:
	case e.DeletionState().Terminal():
		delete(a.sweeps, e.Migration())
	case e.DeletionState() == trace.DeletionReady && o.move(e.Migration()).from == e.Shard:
		a.sweeps[e.Migration()] = sweep{e.Node, set.Term, e.Step, e.At}
	}
}

// AwaitsDeletion is called when a client has a range moved to a shard, and wants an answer only
// when the donor has deleted what it had of it; and what it returns when the answer has come, with
// whether the range has moved. Of several migrations that have brought it since then, or when some
// of it was there already, nobody knows which one the answer is about. The one that has may have
// begun before, for somebody else who did not want to wait.
func (o *Oracle) AwaitsDeletion(name, ns, lo, hi, to string) (answered func(moved bool)) {
	asked, at := o.step, o.causes.now
	there := slices.ContainsFunc(
		slices.Concat(o.world.Latest(ns), o.world.Table(ns)), func(c trace.Chunk) bool {
			return c.Shard == to && c.Min < hi && lo < c.Max
		})
	return func(moved bool) {
		if !moved || there || o.drops[ns] >= asked {
			return
		}
		var since []*move
		//shardproof:allow map they are counted
		for _, m := range o.moves {
			if m.ns == ns && m.to == to && m.committed > asked && m.min < hi && lo < m.max {
				since = append(since, m)
			}
		}
		passed := o.awaited.passed[name] && o.awaited.requests[name] <= 1 &&
			o.causes.stable(model.Config, at)
		if len(since) == 1 && (passed || o.remembersDonor(since[0])) {
			o.judgeAwaited(since[0], asked)
		}
	}
}

// PassesOn is called when the config server asks a donor for what a client has requested.
func (o *Oracle) PassesOn(request string) { o.awaited.passed[request] = true }

// Requests is called when a client's request to move a range arrives at the config server: a
// repeated one, or a copy, may be answered by the catalog although the first was passed on.
func (o *Oracle) Requests(request string) { o.awaited.requests[request]++ }

// remembersDonor says whether the config server can still know from which shard the range came: a
// request that finds it moved already waits for the shards that the history names, and 4.2 drops
// even the last placement from that (protocol 3.3).
func (o *Oracle) remembersDonor(m *move) bool {
	names := func(p trace.Placement) bool { return p.Shard == m.from }
	return !slices.ContainsFunc(o.world.Table(m.ns), func(c trace.Chunk) bool {
		return c.Min < m.max && m.min < c.Max && !slices.ContainsFunc(c.History, names)
	})
}

// judgeAwaited judges an answer for which the donor has to have deleted the range. One that has
// left the cluster meanwhile cannot be asked.
func (o *Oracle) judgeAwaited(m *move, asked uint64) {
	because, cluster := "", o.world.Cluster()
	switch {
	case cluster.Knows() && !cluster.Has(m.from):
		return
	case slices.Contains(m.promised, m.from) && !slices.Contains(m.cleaned, m.from) &&
		!o.emptied(m, asked):
		because = fmt.Sprintf("the donor %s still has the deletion of the range on record", m.from)
	case o.sweeps(m, asked):
		because = fmt.Sprintf("the donor %s began to delete the range at step %d, and has not "+
			"finished", m.from, o.awaited.sweeps[m.id].step)
	default:
		return
	}
	o.report(deletionRule, verdict.Violation{
		Signature: cleanedTooEarly,
		NS:        m.ns,
		Broke: fmt.Sprintf("the request to move %s to %s, with waitForDelete, was answered",
			o.span(m.min, m.max), m.to),
		Because: []string{because, fmt.Sprintf("the client sent the request after step %d", asked)},
	}, asked)
}

// emptied says whether the donor has another primary since, and nothing left in the range: one that
// is deposed and does not know it may have answered when all was deleted for good, and only the
// removal of the record was not.
func (o *Oracle) emptied(m *move, asked uint64) bool {
	return o.elections[m.from] > asked &&
		len(o.world.Set(m.from).Documents(m.ns, m.min, m.max)) == 0
}

// sweeps says whether the donor is deleting what it gave away. One that had not begun yet when it
// was asked, and then said that it deletes nothing there, has been asked too early: nobody may know
// of the deletion then but the one who asked for the migration (4.2).
func (o *Oracle) sweeps(m *move, asked uint64) bool {
	w, set := o.awaited.sweeps[m.id], o.world.Set(m.from)
	if w.step == 0 || w.node != set.Leader || w.term != set.Term || m.life != o.lives[m.ns] {
		return false
	}
	return !slices.ContainsFunc(o.awaited.told[m.from+" "+m.ns], func(t toldDone) bool {
		return t.step > asked && t.arrived < w.at
	})
}

// deletedSoon is the signature of a deletion that has not waited as long as operators have set: a
// reader on a secondary goes by metadata from before the migration for that long (protocol 10.3).
const deletedSoon verdict.Signature = "deleted-too-soon"

// readyAt is when a deletion became ready on its shard for the first time.
type readyAt struct {
	step uint64
	at   int64
}

// followReady notes when a deletion could begin for the first time.
func (a *awaited) followReady(e *trace.Event) {
	at := e.Migration() + " " + e.Shard
	if _, known := a.ready[at]; !known && e.DeletionState() == trace.DeletionReady {
		a.ready[at] = readyAt{e.Step, e.At}
	}
}

// judgeDelay judges the first document of a range that the range deleter of a donor deletes, unless
// somebody waits for that. In 4.2 a range that is about to come back is deleted at once, too,
// whatever becomes of that.
func (o *Oracle) judgeDelay(e *trace.Event) {
	m, at := o.moves[e.For()], e.For()+" "+e.Shard
	ready := o.awaited.ready[at]
	o.awaited.ready[at] = readyAt{} // the rest follows at once
	if m == nil || m.from != e.Shard || ready.step == 0 || !o.awaited.delayed[m.request] ||
		o.limits == nil || o.machine == nil || o.hurries(m, ready.step) {
		return
	}
	waited, least := time.Duration(e.At-ready.at), o.limits().Deletion
	if int64(waited) < slack(least) {
		o.report(deletionRule, verdict.Violation{
			Signature: deletedSoon,
			NS:        e.NS,
			Key:       o.show(e.Key),
			Broke: fmt.Sprintf("%s began to delete %s for %s %v after the deletion became ready",
				e.Node, o.span(m.min, m.max), m.id, waited),
			Because: []string{fmt.Sprintf("orphanCleanupDelaySecs was never below %v in this "+
				"run, and the migration was requested without waitForDelete", least)},
		}, ready.step)
	}
}

// hurries says whether a donor of 4.2 has begun to receive a part of the range since a step. The
// collection may have another name by then.
func (o *Oracle) hurries(m *move, since uint64) bool {
	return o.machine.Protocol() != migrationmodel.V80 &&
		slices.ContainsFunc(o.awaited.coming[m.from], func(c comingRange) bool {
			return c.step > since && c.min < m.max && m.min < c.max
		})
}

// batchRule is batches (protocol 6.2, 10.3, 16).
var batchRule = verdict.Checker{
	Name: "batches",
	Promise: "Nobody deletes, inserts or hands over more at once than operators have set, pauses " +
		"for less time between batches, or continues before the requested number of members " +
		"has a batch. The range deleter goes on only when a majority has its batch. A " +
		"member deletes one range after the other, and a clone has each document once.",
	Signatures: verdict.Meanings{
		batches.TooLarge: "a batch is larger than operators have ever set",
		batches.TooSoon: "the range deleter, or a recipient that clones, paused for less than " +
			"operators have ever set",
		batches.Together:    "a member deleted two ranges at the same time",
		batches.HandedTwice: "a donor has handed over a document twice in one clone",
		batches.WentOn: "a recipient went on although fewer members have what it has written than " +
			"the request to move the range says",
		batches.TooEarly: "the range deleter deleted the next batch before a majority had the " +
			"previous one",
	},
}

var _ = declare(121, batchRule, func(o *Oracle) hooks { return hooks{event: o.followBatches} })

// Batches says how much is done in one go at most, and with which pauses at least.
func (o *Oracle) Batches(l batches.Limits) { o.batches = batches.New(l) }

// Concerns says how to learn two things: that fewer members have an entry of a node than are
// demanded by the request to move a range for which it was written, "" when enough do; and whether
// a primary does not know yet that a majority has an entry.
func (o *Oracle) Concerns(
	lacking func(request, node string, term, index uint64) string,
	unconfirmed func(node string, index uint64) bool,
) {
	o.batches.Unconfirmed(func(w batches.Written) bool { return unconfirmed(w.Node, w.Index) })
	o.batches.Lacking(func(w batches.Written) string {
		return lacking(o.move(w.Task).request, w.Node, w.Term, w.Index)
	})
}

// followBatches looks at what primaries write in their own terms for migrations. The copies that a
// movePrimary leaves behind are dropped as a whole.
func (o *Oracle) followBatches(e *trace.Event) {
	if o.batches == nil {
		return
	}
	switch {
	case e.Kind == trace.RangeDeletion:
		o.batches.Over(e.Node, e.Migration())
	case e.Kind == trace.RecipientAdvanced:
		if s := e.RecipientState(); o.world.Set(e.Shard).Leader == e.Node &&
			(s == trace.RecipientEnteredCritSec || s == trace.RecipientDone) {
			o.reportBatches(e.NS, o.batches.Entered(e.Node, e.Migration()))
		}
	case e.Kind != trace.Applied || !o.world.Set(e.Shard).Leads(e) || !o.copies(e):
	case e.Actor == trace.RangeDeleter && e.Hash == 0 && e.Key != "":
		o.reportBatches(e.NS, o.batches.Deleted(written(e), o.killed))
	case e.Actor == trace.Recipient && e.Hash != 0:
		switch r := o.process(e.Node).receiving; {
		case r == nil || r.id != e.For():
		case r.state == trace.RecipientClone:
			o.reportBatches(e.NS, o.batches.Inserted(written(e)))
		default:
			o.batches.Copied(written(e))
		}
	}
}

// copies says whether a document is one that a migration has copied, or may have.
func (o *Oracle) copies(e *trace.Event) bool {
	m := o.moves[e.For()]
	return m != nil && m.ns == e.NS
}

func written(e *trace.Event) batches.Written {
	return batches.Written{
		Node: e.Node, Task: e.For(), Term: e.Term, Index: e.Index, At: e.At, Step: e.Step,
	}
}

// Handed judges what a donor hands over.
func (o *Oracle) Handed(a *batches.Answer) {
	if o.batches != nil {
		o.reportBatches("", o.batches.Handed(a))
	}
}

func (o *Oracle) reportBatches(ns string, broken []verdict.Violation) {
	for _, v := range broken {
		v.NS = ns
		o.report(batchRule, v)
	}
}
