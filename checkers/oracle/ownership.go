package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

// ownershipRule is ownership: the truth is the routing table that a majority of the config server
// has.
var ownershipRule = verdict.Checker{
	Name: "ownership",
	Promise: "A client's write takes effect only on the shard that owns its key at that moment, " +
		"and a versioned query returns no document that its shard did not own when it " +
		"accepted the query. The ranges that a server believes its shard to own at a " +
		"version are those that the shard owned at that version. A primary installs no version " +
		"that was written after the election of its successor.",
	Signatures: verdict.Meanings{
		writeByStranger: "a shard applied a client's write of a key that it does not own",
		changedAsPlain: "a shard dropped a sharded collection, or renamed another to its name, for " +
			"a client that took it for an unsharded one",
		readFromStranger: "a shard returned a document of a key that it does not own",
		otherPlacement:   "a server takes other ranges for its shard's than the catalog had",
		learnedReplaced:  "a primary installed a version written after its successor's election",
	},
}

var _ = declare(10, ownershipRule, func(o *Oracle) hooks {
	leads := successions{}
	return hooks{event: func(e *trace.Event) {
		o.judgeOwnership(e)
		o.judgeInstalled(e)
		leads.follow(e)
		o.judgeLearned(e, leads)
	}}
})

// The signatures of a placement that the catalog never had at its version, and of one that a
// primary cannot have learned while it was one.
const (
	otherPlacement  verdict.Signature = "believes-another-placement"
	learnedReplaced verdict.Signature = "learned-after-succession"
)

// successions are the members that take themselves for primaries, with the set of each and the step
// at which another one was elected in a later term, 0 before. What an earlier term has elected may
// learn of it later.
type successions map[string]*succession

type succession struct {
	shard          string
	term, replaced uint64
}

func (all successions) follow(e *trace.Event) {
	switch e.Kind {
	case trace.Elected:
		//shardproof:allow map each member by itself
		for _, s := range all {
			if s.shard == e.Shard && s.term < e.Term && s.replaced == 0 {
				s.replaced = e.Step
			}
		}
		all[e.Node] = &succession{shard: e.Shard, term: e.Term}
	case trace.SteppedDown, trace.NodeDown, trace.NodeUp:
		delete(all, e.Node)
	}
}

// judgeLearned: a primary that reads a routing table proves afterwards that it still was the
// primary. Otherwise it would take a range for its own that its successor has received (protocol
// 3.4 step 3).
func (o *Oracle) judgeLearned(e *trace.Event, leads successions) {
	if e.Kind != trace.MetadataInstalled || len(e.Chunks) == 0 {
		return
	}
	s := leads[e.Node]
	if s == nil || s.replaced == 0 {
		return
	}
	for _, p := range o.causes.placements[e.NS] {
		if p.epoch != e.Chunks[0].Epoch || p.majors[e.Shard] != e.Chunks[0].Major {
			continue
		}
		if p.step > s.replaced {
			o.report(ownershipRule, verdict.Violation{
				Signature: learnedReplaced, NS: e.NS,
				Broke: fmt.Sprintf("%s installed version %s and believed that it was the primary of %s",
					e.Node, e.Version(), e.Shard),
				Because: []string{"another member had been elected before that version was written"},
			}, s.replaced, p.step)
		}
		return
	}
}

// judgeInstalled judges what a server of a shard has learned: a shard's major version changes
// whenever its ranges do (protocol 3.2), so that there is one placement of each.
func (o *Oracle) judgeInstalled(e *trace.Event) {
	if e.Kind != trace.MetadataInstalled || len(e.Chunks) == 0 {
		return
	}
	p := o.causes.placementAt(e.Shard, e.NS, &e.Chunks[0])
	if p == nil {
		return
	}
	believed, had := ranges(e.Chunks), ranges(p.table.Owned(e.Shard))
	if slices.Equal(believed, had) {
		return
	}
	o.report(ownershipRule, verdict.Violation{
		Signature: otherPlacement,
		NS:        e.NS,
		Broke: fmt.Sprintf("%s takes %s for the ranges of %s at version %s",
			e.Node, o.showRanges(believed), e.Shard, e.Version()),
		Because: []string{fmt.Sprintf("a majority of the config server had %s at that version",
			o.showRanges(had))},
	}, o.step)
}

// ranges are those of chunks in the order of their keys, adjacent ones joined.
func ranges(chunks []trace.Chunk) (all [][2]string) {
	for i := range chunks {
		c := &chunks[i]
		if last := len(all) - 1; last >= 0 && all[last][1] == c.Min {
			all[last][1] = c.Max
			continue
		}
		all = append(all, [2]string{c.Min, c.Max})
	}
	return all
}

func (o *Oracle) showRanges(all [][2]string) string {
	shown := make([]string, len(all))
	for i, r := range all {
		shown[i] = o.Span(r[0], r[1])
	}
	return strings.Join(shown, " ")
}

// WholeChanges says how the oracle gets to know whether an entry of a member's log changes a whole
// collection, as a drop or a rename does.
func (o *Oracle) WholeChanges(isWhole func(node string, index uint64) bool) { o.isWhole = isWhole }

// changedAsPlain is the signature of a change of a sharded collection as a whole on one shard, by a
// request that took it for an unsharded one.
const changedAsPlain verdict.Signature = "changed-as-unsharded"

// writeByStranger is the signature of a write on a shard that does not own the key.
const writeByStranger verdict.Signature = "write-by-non-owner"

func (o *Oracle) judgeOwnership(e *trace.Event) {
	if e.Kind != trace.Applied || e.Actor != trace.User || !o.world.Set(e.Shard).Leads(e) {
		return
	}
	table := o.world.Table(e.NS)
	if table == nil || e.Key == "" {
		return
	}
	if o.plain[e.NS] && o.world.Sharded(e.NS) && o.isWhole != nil &&
		o.isWhole(e.Node, e.Index) {
		o.report(ownershipRule, verdict.Violation{
			Signature: changedAsPlain, NS: e.NS,
			Broke: fmt.Sprintf("%s dropped or renamed a collection for a client, as one that is not "+
				"sharded", e.Node),
			Because: []string{"a majority of the config server says that it is sharded"},
		})
		return
	}
	if owner := table.Owner(e.Key); owner != e.Shard {
		o.report(ownershipRule, verdict.Violation{
			Signature: writeByStranger,
			NS:        e.NS,
			Key:       o.show(e.Key),
			Broke: fmt.Sprintf("%s, which leads %s, applied a client's write of key %s",
				e.Node, e.Shard, o.show(e.Key)),
			Because: []string{
				fmt.Sprintf("a majority of the config server says that %s owns the key", owner),
				fmt.Sprintf("%s is the leader of term %d, the newest, so the write counts",
					e.Node, e.Term),
			},
		})
	}
}

// readFromStranger is the signature of an answer with a document that its shard does not own.
const readFromStranger verdict.Signature = "read-from-non-owner"

// Admitted is a query as a shard let it in.
type Admitted struct {
	// Node answers for Shard. Version is the placement that the query came with; only its epoch and
	// its major version count.
	Node, Shard, NS string
	Version         trace.Chunk
	// At is the cluster time of a snapshot read, zero of others.
	At uint64
}

// Why it cannot be said whether a shard may return a document.
const (
	// AvailableRead returns whatever a shard has.
	AvailableRead = "available read"
	// UnshardedRead is of a collection that no routing table has.
	UnshardedRead = "read of an unsharded collection"
	// OtherRead is one whose query nobody saw let in.
	OtherRead = "read of a cursor that is not known"

	noSuchVersion   = "version that no majority has had"
	beyondPlacement = "snapshot older than the history of chunks"
)

// Returned judges the documents of an answer, by their encoded keys: what a shard owned when the
// query was let in follows from the version that the query came with, and for a snapshot from its
// time, whatever was written since. So an orphan is told from the owner's document also when its
// value is one that the owner has just had. A version that no majority has had says nothing.
func (o *Oracle) Returned(q *Admitted, keys ...string) {
	for _, k := range keys {
		owner, as, unknown := o.ownerFor(q, k)
		if unknown != "" {
			o.NotJudged(unknown, 1)
			continue
		}
		o.returned.judged++
		if owner == q.Shard {
			continue
		}
		o.report(ownershipRule, verdict.Violation{
			Signature: readFromStranger,
			NS:        q.NS,
			Key:       o.show(k),
			Broke: fmt.Sprintf("%s of %s returned the document of key %s",
				q.Node, q.Shard, o.show(k)),
			Because: []string{
				fmt.Sprintf("its query was let in with version %d of %s", q.Version.Major, q.Shard),
				fmt.Sprintf("%s %s owns the key", as, owner),
			},
		})
	}
}

// Owns says that a shard owns a key as a query that it has let in must see it. A snapshot read may
// be of a time after a change that the version it came with does not know of: another shard then
// has it refused, and this one answers by that version.
func (o *Oracle) Owns(q *Admitted, key string) bool {
	owner, _, unknown := o.ownerFor(q, key)
	if unknown != "" || owner != q.Shard || q.At == 0 {
		return unknown == "" && owner == q.Shard
	}
	p := o.causes.placementAt(q.Shard, q.NS, &q.Version)
	if p == nil {
		return false
	}
	for _, since := range p.table.ChunkOf(key).History {
		if since.ValidAfter <= q.At {
			return since.Shard == q.Shard
		}
	}
	return false
}

// ownerFor is the owner of a key as a query must see it, and by what; or why that is not known.
func (o *Oracle) ownerFor(q *Admitted, key string) (owner, as, unknown string) {
	if q.At != 0 {
		if owner = o.causes.ownerAtTime(q, key); owner == "" {
			return "", "", beyondPlacement
		}
		return owner, "at the snapshot's time " + histories.ClusterTime(q.At), ""
	}
	p := o.causes.placementAt(q.Shard, q.NS, &q.Version)
	if p == nil {
		return "", "", noSuchVersion
	}
	return p.table.Owner(key), "with that version", ""
}

// ownerAtTime is the owner of a key at the cluster time of a query, by the newest history of its
// chunk that reaches back so far; empty when none does. Histories agree as far as they reach
// (metadata). At the very time as of which a chunk has moved both shards have the same documents,
// and the one that was asked is right by the version that the query came with.
func (c *causes) ownerAtTime(q *Admitted, key string) string {
	for _, p := range slices.Backward(c.placements[q.NS]) {
		if p.epoch != q.Version.Epoch {
			continue
		}
		history := p.table.ChunkOf(key).History
		for i, since := range history {
			switch {
			case since.ValidAfter > q.At:
			case since.ValidAfter < q.At || !c.sentBefore(q, key):
				return since.Shard
			case i+1 < len(history):
				return history[i+1].Shard
			}
		}
	}
	return ""
}

// sentBefore reports whether a query was sent by a table in which the chunk of a key had not moved
// as of the query's time.
func (c *causes) sentBefore(q *Admitted, key string) bool {
	p := c.placementAt(q.Shard, q.NS, &q.Version)
	if p == nil {
		return false
	}
	history := p.table.ChunkOf(key).History
	return len(history) == 0 || history[0].ValidAfter < q.At
}

// NotJudged counts documents of answers that say nothing about owners, by the reason.
func (o *Oracle) NotJudged(why string, documents int) {
	if documents > 0 {
		o.returned.open[why] += documents
	}
}

// returned counts the documents that shards have returned: those of which it was judged whose they
// are, and by the reason those of which nobody can say.
type returned struct {
	judged int
	open   map[string]int
}

// leftBehind says what shards have of chunks that others own, which the balancer must not take for
// theirs, and what keeps it there. The steps are those at which the newest of these chunks was
// given away, and at which what keeps it began.
func (o *Oracle) leftBehind(ns string, chunks []trace.Chunk) (because []string, steps []uint64) {
	for _, shard := range o.world.LatestCluster().Shards() {
		set, left := o.world.Set(shard), 0
		for _, at := range chunks {
			if at.Shard != shard {
				left += len(set.Documents(ns, at.Min, at.Max))
			}
		}
		if left == 0 {
			continue
		}
		because = append(because,
			fmt.Sprintf("%s still has %d documents that it does not own", shard, left))
		steps = append(steps, o.gaveAway(ns, shard))
		for _, c := range o.node(set.Leader).cursors {
			if c.ns == ns {
				because = append(because,
					fmt.Sprintf("cursor %s is still open and keeps them from being deleted", c.id))
				steps = append(steps, c.step)
			}
		}
	}
	return because, steps
}

// gaveAway is the step at which a shard decided its newest migration of a collection; 0 for none.
func (o *Oracle) gaveAway(ns, shard string) (step uint64) {
	for _, id := range slices.Sorted(maps.Keys(o.moves)) {
		if m := o.moves[id]; m.ns == ns && m.from == shard {
			step = max(step, m.decision)
		}
	}
	return step
}
