package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// durabilityRule is durability. What the donor had when it blocked writes is what must have
// arrived; a donor that never blocked them is held to what it has at the commit.
var durabilityRule = verdict.Checker{
	Name: "durability",
	Promise: "When a migration or a movePrimary commits, a majority of the recipient " +
		"holds exactly the documents that the donor had, and knows every statement that " +
		"the donor has executed on them, so that no retry is executed again. The " +
		"recipient of a migration does not report that everything has arrived before that " +
		"is so. The recipient imports no statement that the donor may still lose. No " +
		"primary executes a statement that its session history already contains, nor one " +
		"of an older transaction of the same session.",
	Signatures: verdict.Meanings{
		notMoved: "a majority of the recipient lacks a document at the commit",
		movedStale: "a majority of the recipient has an older version of a document at the " +
			"commit",
		movedDeleted: "a majority of the recipient has a document that the donor had deleted",
		notDurableYet: "only the recipient's primary, and no majority, has a document at the " +
			"commit",
		notRemembered: "a majority of the recipient does not know an executed statement at the " +
			"commit",
		rememberedYet: "only the recipient's primary, and no majority, knows an executed " +
			"statement at the commit",
		executedAgain: "a primary executed for a client a statement that its own log excludes",
		importedYet:   "the recipient recorded a statement that no majority of the donor has",
		saidTooEarly: "a recipient reported that everything had arrived, although a majority of " +
			"its shard lacked a document or a statement",
		notDefined: "at the commit, a collection on the recipient's primary lacks options, an " +
			"index or a former name that it has on the donor",
	},
}

var _ = declare(50, durabilityRule, func(o *Oracle) hooks {
	return hooks{
		event: func(e *trace.Event) {
			o.judgeStatement(e)
			o.judgeArrival(e)
		},
		commit: o.judgeDurability,
	}
})

// The signatures of durability violations.
const (
	notMoved      verdict.Signature = "commit-without-document"
	movedStale    verdict.Signature = "commit-with-stale-document"
	movedDeleted  verdict.Signature = "commit-with-deleted-document"
	notDurableYet verdict.Signature = "commit-before-majority"
	notRemembered verdict.Signature = "commit-without-statement"
	rememberedYet verdict.Signature = "commit-before-statement-majority"
	importedYet   verdict.Signature = "imported-before-majority"
	executedAgain verdict.Signature = "executed-on-record"
	notDefined    verdict.Signature = "commit-without-definition"
	saidTooEarly  verdict.Signature = "arrival-said-too-early"
)

func (o *Oracle) judgeDurability(w *model.Write) {
	if w.Migration() == "" {
		return
	}
	for _, moved := range w.Moved() {
		for _, ns := range o.world.Placed(w, o.world.Set(moved.From)) {
			o.compareDefinition(w, ns, moved)
			o.compareRange(w, ns, moved)
			o.compareHistory(w, ns, moved)
		}
	}
}

// Undefined says how the oracle gets to know what the definition of a collection on one member
// lacks on another.
func (o *Oracle) Undefined(lacking func(has, other, ns string) []string) { o.undefined = lacking }

// compareDefinition: changes of the whole collection and moves of it exclude each other. Only a
// movePrimary of 4.2 does not see what changes while it copies (protocol 15).
func (o *Oracle) compareDefinition(w *model.Write, ns string, r model.Move) {
	donor, recipient := o.world.Set(r.From).Leader, o.world.Set(r.To).Leader
	if o.undefined == nil || donor == "" || recipient == "" ||
		o.primaries[w.Migration()] != nil && o.older() ||
		!o.causes.of(donor).settled || !o.causes.of(recipient).settled {
		return
	}
	lacks := o.undefined(donor, recipient, ns)
	if len(lacks) == 0 {
		return
	}
	o.report(durabilityRule, verdict.Violation{
		Signature: notDefined, NS: ns,
		Broke: fmt.Sprintf("%s moved from %s to %s, whose primary lacks a part of the definition of %s",
			o.span(r.Min, r.Max), r.From, r.To, ns),
		Because: []string{fmt.Sprintf("%s has %s, and %s has not", donor, lacks[0], recipient)},
		Ranges:  []verdict.KeyRange{{Min: r.Min, Max: r.Max}},
	}, w.Step)
}

// compareRange: what a donor has that was deposed before it blocked writes is not known as a whole,
// only where it differs from its successor.
func (o *Oracle) compareRange(w *model.Write, ns string, r model.Move) {
	donor, recipient := o.world.Set(r.From), o.world.Set(r.To)
	sent, deposed := donor.Documents(ns, r.Min, r.Max), true
	if m := o.move(w.Migration()); m.blocked != 0 {
		sent, deposed = model.Within(m.donor, r.Min, r.Max), false
	}
	durable, applied := recipient.Durable(ns, r.Min, r.Max), recipient.Documents(ns, r.Min, r.Max)
	for _, id := range ids(sent, durable) {
		d, got := sent[id], durable[id]
		excused := deposed && o.strays[strayID(r.From, ns, id)] == stray{got, d}
		if d != got && !excused {
			o.reportDifference(w, ns, r, d, got, applied[id])
		}
	}
}

// ids are the documents of both, in order.
func ids(a, b map[string]model.Doc) []string {
	all := append(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))...)
	slices.Sort(all)
	return slices.Compact(all)
}

func (o *Oracle) reportDifference(
	w *model.Write, ns string, r model.Move, sent, durable, applied model.Doc,
) {
	key := sent.Key
	if key == "" {
		key = durable.Key
	}
	v := verdict.Violation{Signature: notMoved, NS: ns, Key: o.show(key)}
	what := "has no document"
	switch {
	case applied == sent:
		v.Signature, what = notDurableYet, "does not have the document that its primary has"
	case sent.Hash == 0:
		v.Signature, what = movedDeleted, "has a document that the donor had deleted"
	case durable.Hash != 0:
		v.Signature, what = movedStale, "has a different document than the donor had"
	}
	v.Broke = fmt.Sprintf("%s moved from %s to %s, and for key %s a majority of %s %s",
		o.span(r.Min, r.Max), r.From, r.To, o.show(key), r.To, what)
	v.Because = []string{
		fmt.Sprintf(
			"migration %s was written to the catalog at step %d and is majority-committed now",
			w.Migration(), w.Step,
		),
		fmt.Sprintf("the document's hash is %x on %s and %x on a majority of %s",
			sent.Hash, r.From, durable.Hash, r.To),
	}
	o.report(durabilityRule, v, o.move(w.Migration()).blocked, w.Step)
}

// judgeStatement judges a statement that a primary has executed or been told of.
func (o *Oracle) judgeStatement(e *trace.Event) {
	if e.Kind != trace.Executed || e.Statement() < 0 || !o.world.Set(e.Shard).Leads(e) {
		return
	}
	if e.Actor == trace.Session {
		o.judgeImported(e)
	} else {
		o.judgeExecuted(e)
	}
}

// judgeExecuted: a request may have looked for its statement long ago, in an earlier term of the
// primary. Most second executions change nothing that a client could see.
func (o *Oracle) judgeExecuted(e *trace.Event) {
	why := o.world.Set(e.Shard).OnRecord(e)
	if why == "" {
		return
	}
	o.report(durabilityRule, verdict.Violation{
		Signature: executedAgain, NS: e.NS, Key: o.show(e.Key),
		Broke: fmt.Sprintf("%s executed statement %d of transaction %d of session %s", e.Node,
			e.Statement(), e.Txn(), e.Session()),
		Because: []string{why},
	})
}

// judgeImported: if the donor loses the write, nobody has it, and a retry would be told that it was
// executed (protocol 7).
func (o *Oracle) judgeImported(e *trace.Event) {
	m := o.moves[e.Migration()]
	if m == nil || m.from == "" || m.committed != 0 || m.ended != 0 ||
		o.world.Set(m.from).Refuses(e) {
		return
	}
	o.report(durabilityRule, verdict.Violation{
		Signature: importedYet,
		NS:        e.NS,
		Key:       o.show(e.Key),
		Broke: fmt.Sprintf("%s recorded statement %d of transaction %d of session %s, in "+
			"migration %s", e.Node, e.Statement(), e.Txn(), e.Session(), e.Migration()),
		Because: []string{fmt.Sprintf("no majority of %s, the donor, has it on record", m.from)},
	})
}

// compareHistory: of what the donor has on record and a client may try again, the recipient
// executes nothing (protocol 7). A statement is part of the collection that it was executed on,
// also under a name that it had before.
func (o *Oracle) compareHistory(w *model.Write, ns string, r model.Move) {
	if o.primaries[w.Migration()] != nil && o.older() {
		return // in 4.2 no history moves with a database (protocol 15)
	}
	recipient := o.world.Set(r.To)
	durable, applied := recipient.DurableHistory(), recipient.History()
	sent := o.historyOf(w.Migration(), ns, r)
	for _, id := range ids(sent, nil) {
		if st := sent[id]; !durable.Refuses(id, st) && !o.ofAnother(w, ns, r, id, st.Hash) {
			o.reportForgotten(w, ns, r, id, st, applied.Refuses(id, st))
		}
	}
}

// ofAnother says whether a statement was executed on an unsharded collection that has given way to
// another one of its name, which does not move with the database: an operation that shards it
// blocks it on the donor.
func (o *Oracle) ofAnother(w *model.Write, ns string, r model.Move, st string, txn uint64) bool {
	session, number, _ := strings.Cut(st, "\x00")
	first, known := o.executions[executionID(session, number, txn)]
	leader := o.world.Set(r.From).Leader
	now := o.identity(leader, ns)
	return o.primaries[w.Migration()] != nil && known && first.identity != "" && now != "" &&
		first.identity != now && slices.ContainsFunc(o.node(leader).sections, func(h held) bool {
		return h.ns == ns && h.id != w.Migration()
	})
}

// judgeArrival: the donor requests the commit when its recipient has said that it has everything.
// If the recipient says so too early, the rest usually arrives before the commit, which then shows
// nothing. While the donor that has blocked writes leads, what it had then cannot change.
func (o *Oracle) judgeArrival(e *trace.Event) {
	if e.Kind != trace.RecipientAdvanced || e.RecipientState() != trace.RecipientEnteredCritSec &&
		(e.RecipientState() != trace.RecipientDone || !o.older()) {
		return
	}
	if m := o.moves[e.Migration()]; m != nil && o.world.Set(m.to).Leader == e.Node {
		o.judgeArrived(m, e.Node+" said")
	}
}

// ReceiptCommitted judges that a recipient has everything as soon as a majority of it has the
// receipt of a migration, since its next primary goes on from there (protocol 5.2 step 7).
func (o *Oracle) ReceiptCommitted(set, migration string) {
	if m := o.moves[migration]; m != nil && m.to == set {
		o.judgeArrived(m, "a majority of "+set+" has on record")
	}
}

func (o *Oracle) judgeArrived(m *move, says string) {
	if m.blocked == 0 || m.done || m.committed != 0 || o.drops[m.ns] > m.blocked ||
		o.world.Set(m.from).Term != m.term {
		return
	}
	for _, l := range o.lacksToArrive(m) {
		o.report(durabilityRule, verdict.Violation{
			Signature: saidTooEarly, NS: m.ns, Key: o.show(l.key),
			Broke: fmt.Sprintf("%s that it had everything of %s, for migration %s", says,
				o.span(m.min, m.max), m.id),
			Because: []string{l.text, "the donor had blocked writes before that"},
		}, m.blocked)
	}
}

// lacked is a key of which something has not arrived, and a text that says what.
type lacked struct{ key, text string }

// lacksToArrive is what a majority of the recipient lacks of what the donor had.
func (o *Oracle) lacksToArrive(m *move) (all []lacked) {
	to := o.world.Set(m.to)
	sent, durable := model.Within(m.donor, m.min, m.max), to.Durable(m.ns, m.min, m.max)
	for _, id := range ids(sent, durable) {
		if d, got := sent[id], durable[id]; d != got {
			key := cmp.Or(d.Key, got.Key)
			all = append(all, lacked{key, fmt.Sprintf("the donor has key %s with hash %x, and a "+
				"majority of %s has it with hash %x", o.show(key), d.Hash, m.to, got.Hash)})
		}
	}
	r := model.Move{From: m.from, To: m.to, Min: m.min, Max: m.max}
	known, executed := to.DurableHistory(), o.historyOf(m.id, m.ns, r)
	for _, id := range ids(executed, nil) {
		if st := executed[id]; !known.Refuses(id, st) {
			_, key := st.StatementPlace()
			all = append(all, lacked{key, fmt.Sprintf("%s is on record on the donor, and not on a "+
				"majority of %s: a retry would be executed again",
				st.DescribeStatement(id), m.to)})
		}
	}
	return all
}

func (o *Oracle) reportForgotten(
	w *model.Write, ns string, r model.Move, id string, st model.Doc, soon bool,
) {
	name, at := st.StatementPlace()
	v := verdict.Violation{Signature: notRemembered, NS: ns, Key: o.show(at)}
	what := "does not know it"
	if soon {
		v.Signature, what = rememberedYet, "does not know it, although its primary does"
	}
	v.Broke = fmt.Sprintf("%s moved from %s, which had %s on record, to %s, and a majority of %s %s",
		o.span(r.Min, r.Max), r.From, st.DescribeStatement(id), r.To, r.To, what)
	v.Because = []string{
		fmt.Sprintf(
			"migration %s was written to the catalog at step %d and is majority-committed now",
			w.Migration(), w.Step,
		),
		"a retry that reaches " + r.To + " would be executed again",
	}
	if name != ns {
		v.Because = append(v.Because, "the collection was called "+name+" when it was executed")
	}
	o.report(durabilityRule, v, o.move(w.Migration()).blocked, w.Step)
}

// keptRule is kept-on-disk: replication rests on it, but documents show a violation only if a
// machine crashes at the wrong moment.
var keptRule = verdict.Checker{
	Name: "kept-on-disk",
	Promise: "A member of a replica set acknowledges an entry, or grants a vote, only after that " +
		"entry or vote is durable on its own disk; a primary announces an entry as committed " +
		"only when it is durable on the disks of a majority of the set; and it acknowledges a " +
		"write only when that is durable on as many disks as the write concern wants.",
	Signatures: verdict.Meanings{
		acknowledgedUnkept: "a member acknowledged an entry, or granted a vote, that was not " +
			"durable on its disk",
		announcedUnkept: "a primary announced as committed an entry that is durable on no " +
			"majority of the disks",
		writtenUnkept: "a write was acknowledged that fewer disks keep than its write concern " +
			"wants",
	},
}

var _ = declare(119, keptRule, func(*Oracle) hooks { return hooks{} })

const (
	acknowledgedUnkept verdict.Signature = "acknowledged-before-sync"
	announcedUnkept    verdict.Signature = "committed-before-sync"
	writtenUnkept      verdict.Signature = "write-acknowledged-early"
)

// AcknowledgedUnkept reports a member whose disk lacks what it has just promised to keep.
func (o *Oracle) AcknowledgedUnkept(node, lacking string) {
	o.report(keptRule, verdict.Violation{
		Signature: acknowledgedUnkept,
		Broke: fmt.Sprintf("%s acknowledged an entry, or granted a vote, that is not durable on its disk",
			node),
		Because: []string{lacking},
	}, o.step)
}

// AnnouncedUnkept reports a primary that announces as committed what too few disks keep.
func (o *Oracle) AnnouncedUnkept(node, lacking string) {
	o.report(keptRule, verdict.Violation{
		Signature: announcedUnkept,
		Broke: fmt.Sprintf("%s announced an entry as committed that is durable on no majority of disks",
			node),
		Because: []string{lacking},
	}, o.step)
}

// WrittenUnkept reports a write that a primary acknowledges and that too few disks keep.
func (o *Oracle) WrittenUnkept(node, request, ns, lacking string) {
	o.report(keptRule, verdict.Violation{
		Signature: writtenUnkept, NS: ns,
		Broke: fmt.Sprintf("%s acknowledges %s, which fewer disks keep than its write concern wants",
			node, request),
		Because: []string{lacking},
	}, o.step)
}
