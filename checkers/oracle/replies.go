package oracle

import (
	"fmt"
	"strconv"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// repliesRule is replies: what an answer says besides that for which histories have words. Who asks
// knows what it may say.
var repliesRule = verdict.Checker{
	Name: "replies",
	Promise: "Every field of an answer to a client is one that the request may have: counts, " +
		"flags, documents with their keys, the order and size of batches, and the operation time, " +
		"which for a snapshot read is the time that was asked for. " +
		"If a server answers that a write was not executed, it has written nothing there, and a " +
		"router knows of no attempt that may have been executed.",
	Signatures: verdict.Meanings{
		wrongReply:     "an answer says what no state of the data explains",
		refusedWritten: "a server refused a write that it has in its log",
		refusedInDoubt: "a router answered that a write was not executed, although it had not " +
			"learned that of each of its attempts",
	},
}

var _ = declare(114, repliesRule, func(*Oracle) hooks { return hooks{} })

const (
	wrongReply     verdict.Signature = "reply-inconsistent"
	refusedWritten verdict.Signature = "refused-what-it-wrote"
	refusedInDoubt verdict.Signature = "refused-in-doubt"
)

// FoundNothing is called when a primary has answered a statement that it had no record of, and had
// nothing to change. If another shard has executed it, in a collection that was dropped since, the
// client learns of an outcome that is not the first one: its history could not follow.
func (o *Oracle) FoundNothing(node, ns, session string, txn int64, statement int) {
	first, known := o.executions[executionID(session, strconv.Itoa(statement), uint64(txn))]
	if !known || first.at.Shard == shardOfNode(node) || first.at.NS != ns ||
		!o.droppedSince(first) && !o.replaced(first, node, ns) {
		return
	}
	o.twice = append(o.twice, Twice{
		NS: ns, Key: first.at.Key, Session: session, Txn: txn, Statement: statement,
		Found: o.causes.now,
	})
}

// RefusedWritten reports a write that its server has logged at that index and refuses with a code
// that stands for one that was certainly not executed.
func (o *Oracle) RefusedWritten(node, request, ns, code string, index uint64) {
	o.report(repliesRule, verdict.Violation{
		Signature: refusedWritten, NS: ns,
		Broke: fmt.Sprintf("%s refuses %s with %s, as if it had certainly not executed it",
			node, request, code),
		Because: []string{fmt.Sprintf("the request wrote entry %d of its log", index)},
	}, o.step)
}

// RefusedInDoubt reports a router that refuses a write with a code that stands for one that was
// certainly not executed, although an attempt of it on a member has ended with another code.
func (o *Oracle) RefusedInDoubt(node, request, ns, code, member, earlier string) {
	o.report(repliesRule, verdict.Violation{
		Signature: refusedInDoubt, NS: ns,
		Broke: fmt.Sprintf("%s refuses %s with %s, as if it had certainly not been executed",
			node, request, code),
		Because: []string{fmt.Sprintf("its attempt on %s ended with %s, which leaves that open",
			member, earlier)},
	}, o.step)
}

// Answered reports what is wrong with the answer to a client's operation, as clauses; none when it
// may be so.
func (o *Oracle) Answered(operation int, kind, ns string, k int64, wrong []string) {
	if len(wrong) == 0 {
		return
	}
	o.report(repliesRule, verdict.Violation{
		Signature: wrongReply, NS: ns, Key: fmt.Sprint(k), Ops: []int{operation},
		Broke:   fmt.Sprintf("the answer to operation %d (%s of k=%d) is wrong", operation, kind, k),
		Because: wrong,
	}, o.step)
}

// AnsweredRead reports what is wrong with what a shard answers to the opening of a query, as
// clauses; none when it may be so.
func (o *Oracle) AnsweredRead(node, ns string, wrong []string) {
	if len(wrong) == 0 {
		return
	}
	o.report(repliesRule, verdict.Violation{
		Signature: wrongReply, NS: ns,
		Broke:   fmt.Sprintf("the answer of %s to a query of %s is wrong", node, ns),
		Because: wrong,
	}, o.step)
}

// AnsweredSum reports what is wrong with the answer of a router to a write, by what shards have
// answered to its statements, as clauses; none when it is the sum of these.
func (o *Oracle) AnsweredSum(router, request, ns string, wrong []string) {
	if len(wrong) == 0 {
		return
	}
	o.report(repliesRule, verdict.Violation{
		Signature: wrongReply, NS: ns,
		Broke: fmt.Sprintf("the answer of %s to %s on %s is not what shards have answered",
			router, request, ns),
		Because: wrong,
	}, o.step)
}

// Delivered reports what is wrong with a change that a stream delivered, as clauses; none when it
// may be so.
func (o *Oracle) Delivered(ns string, k int64, wrong []string) {
	if len(wrong) == 0 {
		return
	}
	o.report(repliesRule, verdict.Violation{
		Signature: wrongReply, NS: ns, Key: fmt.Sprint(k),
		Broke:   fmt.Sprintf("a change of k=%d that a stream of %s delivered is wrong", k, ns),
		Because: wrong,
	}, o.step)
}

// preferenceRule is read-preference: what a primary returns is never wrong for a secondary, so that
// no answer shows who has given it.
var preferenceRule = verdict.Checker{
	Name: "read-preference",
	Promise: "A router does not send a read with read preference secondary to the member " +
		"that it believes to be the primary, unless the replica set has only one member.",
	Signatures: verdict.Meanings{
		notPreferred: "a router sent a read for secondaries to a primary",
	},
}

var _ = declare(116, preferenceRule, func(*Oracle) hooks { return hooks{} })

const notPreferred verdict.Signature = "read-sent-to-primary"

// NotPreferred reports a read for secondaries that a router sends to a member that it takes for the
// primary, and what that is known by.
func (o *Oracle) NotPreferred(router, member, ns, why string) {
	o.report(preferenceRule, verdict.Violation{
		Signature: notPreferred, NS: ns,
		Broke: fmt.Sprintf("%s sends a read for secondaries to %s", router, member),
		Because: []string{why, "it has sent what is for the primary there, and since then no " +
			"request there has failed"},
	}, o.step)
}

// placementRule is secondary-placement: a placement from before a migration shows documents that
// have moved away, and only where its router knows no better.
var placementRule = verdict.Checker{
	Name: "secondary-placement",
	Promise: "A secondary does not use cached filtering metadata after its log has " +
		"invalidated it. Two kinds of entries invalidate it: the signal that the " +
		"ownership of ranges is about to change, and the first entry of a new primary. A " +
		"secondary uses metadata from a primary only once its own log contains everything that " +
		"the primary had written when it replied.",
	Signatures: verdict.Meanings{
		readOutdated: "a secondary answered by a placement that it should have forgotten",
		learnedEarly: "a secondary uses metadata from a primary and lacks entries of that primary's log",
		learnedOutdated: "a secondary began to use a placement that it had been told to forget " +
			"since it asked for it",
	},
}

var _ = declare(124, placementRule, func(*Oracle) hooks { return hooks{} })

const (
	readOutdated    verdict.Signature = "read-by-outdated-placement"
	learnedEarly    verdict.Signature = "learned-without-log"
	learnedOutdated verdict.Signature = "learned-outdated"
)

// LearnedEarly reports a secondary that uses a placement without the log of the primary that has
// told it (protocol 3.4 step 5).
func (o *Oracle) LearnedEarly(node, ns, why string) {
	o.misplaced(learnedEarly, ns, why,
		fmt.Sprintf("%s uses metadata of %s from its primary too early", node, ns))
}

// LearnedOutdated reports a secondary that begins to use a placement which it had been told to
// forget before it used it, and by what (protocol 4 step 8): whatever it answers from then on is
// suspect.
func (o *Oracle) LearnedOutdated(node, ns, why string) {
	o.misplaced(learnedOutdated, ns, why,
		fmt.Sprintf("%s uses metadata of %s that it should have forgotten already", node, ns))
}

// ReadOutdated reports a secondary that answers a query by a placement that it should have
// forgotten, and why it should (protocol 4 step 8).
func (o *Oracle) ReadOutdated(node, ns, why string) {
	o.misplaced(readOutdated, ns, why, fmt.Sprintf(
		"%s answers a query of %s by a placement that it should have forgotten", node, ns))
}

func (o *Oracle) misplaced(signature verdict.Signature, ns, why, broke string) {
	o.report(placementRule, verdict.Violation{
		Signature: signature, NS: ns, Broke: broke, Because: []string{why},
	}, o.step)
}

// streamReadsRule is stream-reads: what lies in a gap is delivered only to readers that began
// before, so that few runs show one.
var streamReadsRule = verdict.Checker{
	Name: "stream-reads",
	Promise: "For its change streams, a router reads the changes of each shard without a " +
		"gap: it begins at the time at which a stream begins, or at the change that " +
		"announces that the shard is about to own its first range of the collection, and " +
		"then continues where the shard's last answer ended.",
	Signatures: verdict.Meanings{
		skipsChanges: "a router left out a part of what a shard tells change streams",
	},
}

var _ = declare(123, streamReadsRule, func(*Oracle) hooks { return hooks{} })

const skipsChanges verdict.Signature = "changes-skipped"

// SkipsChanges reports a router that reads the changes of a shard from later on than it has to: if
// anything was written in between, its stream never delivers that.
func (o *Oracle) SkipsChanges(router, shard, ns, why string) {
	o.report(streamReadsRule, verdict.Violation{
		Signature: skipsChanges, NS: ns,
		Broke:   fmt.Sprintf("%s does not read everything that %s tells change streams", router, shard),
		Because: []string{why},
	}, o.step)
}

// lastingRule is lasting-answers (H-42): an operation goes on to its next step, a donor or a new
// primary decides, and the config server adds or removes a shard, because of what a server has
// answered.
var lastingRule = verdict.Checker{
	Name: "lasting-answers",
	Promise: "An answer to another server or an operator depends only on majority-committed " +
		"data: what was written for it, and what may have been read for it, can no longer " +
		"be rolled back. It comes from a primary that was not deposed when the request " +
		"arrived, and whose leadership a majority has confirmed since then. A new primary " +
		"of a shard serves no client, and no new primary sends requests to others, until " +
		"the first entry of its term is majority-committed. No primary requests the next " +
		"step of an operation before its record of that operation is majority-committed. A " +
		"member of the config server answers from its own log, at the config time requested " +
		"or later.",
	Signatures: verdict.Meanings{
		answeredEarly:    "a server answered what no majority of its set has",
		answeredDeposed:  "a deposed primary answered by what it knew",
		answeredUnproven: "a primary answered without proof that it led",
		servedEarly:      "a new primary served users before it knew what lasts",
		servedUnsure: "a new primary of 4.2 served users before it was sure to know of the commits " +
			"that had been in progress",
		askedEarly:  "a new primary acted on what may yet be undone",
		askedUnkept: "a primary had others act on what may yet be undone",
		knowsLess:   "a primary used an older config time than its shard has stored",
		otherTable:  "a config server answered with something else than its log has",
	},
}

var _ = declare(89, lastingRule, func(*Oracle) hooks { return hooks{} })

const (
	answeredEarly    verdict.Signature = "answered-before-majority"
	answeredDeposed  verdict.Signature = "answered-when-deposed"
	answeredUnproven verdict.Signature = "answered-without-proof"
	servedEarly      verdict.Signature = "served-before-majority"
	servedUnsure     verdict.Signature = "served-before-config-write"
	askedEarly       verdict.Signature = "asked-before-majority"
	askedUnkept      verdict.Signature = "asked-before-it-was-kept"
	knowsLess        verdict.Signature = "config-time-forgotten"
	otherTable       verdict.Signature = "answered-another-catalog"
)

// Kept reports what no majority of a set has at the moment at which its member answers, about a
// collection or about none, and how far the members' logs reach; nothing when lacking is empty.
func (o *Oracle) Kept(node, about, ns, lacking string, logs ...string) {
	if lacking == "" {
		return
	}
	o.report(lastingRule, verdict.Violation{
		Signature: answeredEarly, NS: ns,
		Broke:   fmt.Sprintf("%s answers %s, and no majority of its set has it", node, about),
		Because: append([]string{lacking}, logs...),
	}, o.step)
}

// ToldOther reports a member of the config server that has answered a read of the catalog with
// something else than a majority has in its log by then, or as of an earlier time than was asked
// for.
func (o *Oracle) ToldOther(node, request, ns, differs string) {
	o.report(lastingRule, verdict.Violation{
		Signature: otherTable, NS: ns,
		Broke:   fmt.Sprintf("%s answers %s with what its log has not", node, request),
		Because: []string{differs},
	}, o.step)
}

// AnsweredDeposed reports an answer of a member that was no primary any more when the request
// arrived, and did not know. Newest says who is, and may be empty.
func (o *Oracle) AnsweredDeposed(node, about, ns string, term uint64, newest string) {
	o.report(lastingRule, verdict.Violation{
		Signature: answeredDeposed, NS: ns,
		Broke: fmt.Sprintf("%s answers %s as the primary of term %d", node, about, term),
		Because: []string{
			"a majority of its set was in a later term before the request arrived" + newest,
		},
	}, o.step)
}

// AnsweredUnproven reports an answer of a primary whose set had not answered it since the request
// arrived: another one may have led for as long.
func (o *Oracle) AnsweredUnproven(node, about, ns string, term uint64) {
	o.report(lastingRule, verdict.Violation{
		Signature: answeredUnproven, NS: ns,
		Broke: fmt.Sprintf("%s answers %s as the primary of term %d", node, about, term),
		Because: []string{"since the request arrived, no majority of its set has answered it in a " +
			"term of its own"},
	}, o.step)
}

// ServedEarly reports a shard's primary that accepts requests of users in a term of which no
// majority, for all that it knows, has the first entry: a read of concern majority would go by what
// was committed earlier than what others have been told (protocol 9.2).
func (o *Oracle) ServedEarly(node, request, ns string, term uint64) {
	o.report(lastingRule, verdict.Violation{
		Signature: servedEarly, NS: ns,
		Broke: fmt.Sprintf("%s serves %s in term %d", node, request, term),
		Because: []string{
			"it does not know yet that a majority of its set has an entry of that term",
		},
	}, o.step)
}

// tookOver is when a primary of 4.2 that found commits in progress was elected, and when it began
// to serve: it asks the config server in between already.
type tookOver struct {
	elected uint64
	serves  int64
}

// ServedOwner is called when a primary has served a user of a sharded collection whose request has
// arrived at that time. Until the config server acknowledges a write of the primary, that may read
// the catalog from a member which lacks a commit of its shard (protocol 9.2).
func (o *Oracle) ServedOwner(node, request, ns string, arrived int64) {
	since, unsure := o.unsureOf[node]
	if !unsure || arrived < since.serves { // it may have answered as a secondary does
		return
	}
	delete(o.unsureOf, node)
	if o.assured[node] >= since.elected {
		return
	}
	o.report(lastingRule, verdict.Violation{
		Signature: servedUnsure, NS: ns,
		Broke: fmt.Sprintf("%s serves %s", node, request),
		Because: []string{"it found a commit in progress on record when it took over, and the " +
			"config server has acknowledged no write of it since: the table by which it serves " +
			"may be from before the commit"},
	}, since.elected)
}

// AskedUnkept reports a request that goes by what its sender wrote and no majority of its set has:
// after a failover nobody there knows why others have done it.
func (o *Oracle) AskedUnkept(node, request, ns, lacking string) {
	o.report(lastingRule, verdict.Violation{
		Signature: askedUnkept, NS: ns,
		Broke: fmt.Sprintf("%s sends %s, which goes by what no majority of its set has",
			node, request),
		Because: []string{lacking},
	}, o.step)
}

// KnowsLess reports a primary by whose words the newest config time that it knows is older than one
// that a majority of its set has on record, of which an earlier primary had heard (protocol 2.2).
func (o *Oracle) KnowsLess(node string, known, kept uint64) {
	o.report(lastingRule, verdict.Violation{
		Signature: knowsLess,
		Broke:     fmt.Sprintf("%s uses config time %d", node, known),
		Because: []string{fmt.Sprintf("a majority of its replica set has stored config time %d, so "+
			"it may read a catalog that is older than what its shard has already acted on", kept)},
	}, o.step)
}

// AskedEarly reports a request of a primary no majority of whose set has the first entry of its
// term, nor, for all that it knows, the last ones of earlier terms (protocol 9.2).
func (o *Oracle) AskedEarly(node, request, ns string, term uint64) {
	o.report(lastingRule, verdict.Violation{
		Signature: askedEarly, NS: ns,
		Broke: fmt.Sprintf("%s sends %s in term %d", node, request, term),
		Because: []string{
			"a majority of its set has no entry of that term yet, so that what it goes by may be undone",
		},
	}, o.step)
}
