package oracle

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// causeRule is cause (protocol 3.4, 5.1, 5.2, 9.2, 10.1).
var causeRule = verdict.Checker{
	Name: "cause",
	Promise: "Whatever is refused, given up, closed, repeated or looked up again has a cause " +
		"that was seen before: a fault, a change of primaries, somebody's request, a competing " +
		"operation, a version that really is out of date, or a limit that really is exceeded.",
	Signatures: verdict.Meanings{
		refusedIdly:   "a request was refused, or a migration given up, although nothing was wrong",
		lostIdly:      "a cursor was closed although its client wanted more and nothing was wrong",
		refreshedIdly: "a router read the routing table again although nothing had been refused",
		recoveredIdly: "a migration was completed again although no record of it was left",
	},
}

var _ = declare(145, causeRule, func(o *Oracle) hooks {
	c := &causes{
		Oracle: o, nodes: map[string]*evidence{}, cursors: map[string]*seenCursor{},
		shards: map[string]int64{}, written: map[string]int64{}, takes: map[string][]*part{},
		placements: map[string][]placement{}, ends: map[string]*end{}, pending: map[string]uint64{},
		throttled: map[string]bool{}, disturbed: map[string]int64{},
	}
	o.causes = c
	return hooks{event: c.judge, commit: c.keepPlacement}
})

// The signatures of what has no cause.
const (
	refusedIdly   verdict.Signature = "refused-without-cause"
	lostIdly      verdict.Signature = "cursor-lost-without-cause"
	refreshedIdly verdict.Signature = "refreshed-without-cause"
	recoveredIdly verdict.Signature = "recovered-without-cause"
)

// causes is what has been seen that may be the cause of something later.
type causes struct {
	*Oracle
	nodes   map[string]*evidence
	cursors map[string]*seenCursor
	// living are those that were not over when it was last looked, the oldest first.
	living []*seenCursor
	// shards is when a replica set had no settled primary last, never for one that has.
	shards map[string]int64
	// written is when the catalog of a collection, or of a database, was changed last; settings
	// when shards, zones or the balancer were.
	written map[string]int64
	// pending are the steps of their newest changes that are not known to be a majority's.
	pending map[string]uint64
	// idle are the readings of routing tables of this moment that have no cause as yet.
	idle     []idleRead
	settings int64
	// takes are the migrations in which a node takes part, the oldest first.
	takes map[string][]*part
	// throttled are the migrations that wait for a number of members; disturbed is when a fault of
	// chance has last hit a replica set.
	throttled map[string]bool
	disturbed map[string]int64
	// ends are the migrations that a donor has completed.
	ends map[string]*end
	// ending are those of them that may come back.
	ending []*end
	// placements are all that a majority of the config server has had of a collection, by name.
	placements map[string][]placement
	// commands counts what operators wait for; commanded is when they got the newest answer.
	commands       int
	commanded, now int64
}

// end is when, and in which term, a donor had removed the record of a migration. It is gone for
// good once a majority has a later entry of that term.
type end struct {
	shard string
	at    int64
	term  uint64
	// index is an entry behind the removal, 0 as long as none is known.
	index uint64
	gone  bool
}

// placement is who owned what since a step, with the major version of each shard.
type placement struct {
	epoch  string
	majors map[string]uint32
	table  model.Table
	step   uint64
}

// evidence is what has happened to a node, each with when last. Time 0 is never.
type evidence struct {
	shard string
	// role is when it last became something else, a primary or none, or started; settled says that
	// it is a primary whose step-up is over.
	role    int64
	settled bool
	// faulted is when a fault hit one of its tasks.
	faulted int64
	// faults are those that have hit it and are not repaired.
	faults map[int]bool
	// leaving counts the operators who have it hand over; left is when the last of them had ended.
	leaving int
	left    int64
	// handed is when a request of its own failed, by what was asked; any is the newest.
	handed map[string]int64
	any    int64
	// knows is what it has as the placement of collections.
	knows map[string]*knowledge
	// tables are the routing tables that it has read.
	tables map[string]*reads
}

// knowledge is what a shard's member has of a collection or database, and since when; without
// chunks, it knows of nothing that it owns, or nothing at all.
type knowledge struct {
	at     int64
	chunks []trace.Chunk
	// blocks counts who blocks requests; changed is when that became different.
	blocks  map[string]bool
	changed int64
}

// part is a migration in which a node takes part.
type part struct {
	id, ns, min, max string
	// peer is the shard on the other side.
	peer        string
	began, over int64
	// answered is when the donor answered the request for it, after it was over.
	answered int64
	donor    bool
	// captured counts the changes of the range by clients since it began to be cloned; named is the
	// chunk as the donor wants it to be committed.
	cloning  bool
	captured int
	named    *trace.Chunk
	// worked is when the recipient last wrote something for it.
	worked int64
}

func (c *causes) of(node string) *evidence {
	n := c.nodes[node]
	if n == nil {
		n = &evidence{
			faults: map[int]bool{}, handed: map[string]int64{},
			knows: map[string]*knowledge{}, tables: map[string]*reads{},
		}
		c.nodes[node] = n
	}
	return n
}

func (n *evidence) about(ns string) *knowledge {
	k := n.knows[ns]
	if k == nil {
		k = &knowledge{blocks: map[string]bool{}}
		n.knows[ns] = k
	}
	return k
}

// judge judges an end by what was seen before it, and then takes the event for a cause itself.
func (c *causes) judge(e *trace.Event) {
	c.now = e.At
	if len(c.idle) > 0 {
		c.settleIdle(e.At)
	}
	switch e.Kind {
	case trace.Answered:
		c.judgeRefusal(e)
		c.noteAnswer(e)
		c.noteJudged(e)
	case trace.CallEnded:
		c.judgeCall(e)
		c.noteCall(e)
	case trace.CursorAnswered:
		c.followCursor(e)
	case trace.MigrationEnded:
		c.judgeEnd(e)
	case trace.Applied:
		c.noteCapture(e)
		c.noteEntry(e)
		c.noteWork(e)
	case trace.Executed:
		c.noteWork(e)
	case trace.Majority:
		c.noteMajority(e)
	case trace.MetadataInstalled, trace.MetadataCleared, trace.PrimaryMoving:
		k := c.of(e.Node).about(e.NS)
		k.at, k.chunks = e.At, append([]trace.Chunk(nil), e.Chunks...)
	case trace.CriticalSection:
		k := c.of(e.Node).about(e.NS)
		k.changed = e.At
		if by := fmt.Sprint(e.Actor, e.Migration()); e.SectionState().Terminal() {
			delete(k.blocks, by)
		} else {
			k.blocks[by] = true
		}
	case trace.CatalogWritten:
		c.written[e.NS], c.pending[e.NS] = e.At, e.Step
	case trace.ClusterChanged, trace.BalancerState:
		c.settings = e.At
	case trace.Fault, trace.Repair:
		n := c.of(e.Peer)
		if n.faulted = e.At; e.Kind == trace.Fault {
			n.faults[e.FaultNumber()] = true
		} else {
			delete(n.faults, e.FaultNumber())
		}
	case trace.PointHit:
		c.of(e.Node).faulted = e.At
	case trace.MigrationRequested, trace.DonorAdvanced, trace.RecipientAdvanced:
		c.takePart(e)
	default:
		c.noteRole(e)
	}
}

// noteRole follows who is primary. Until a new one has stepped up, its set has none.
func (c *causes) noteRole(e *trace.Event) {
	switch e.Kind {
	case trace.NodeUp, trace.NodeDown, trace.Elected, trace.SteppedDown, trace.Writable,
		trace.RolledBack:
	default:
		return
	}
	n := c.of(e.Node)
	if e.Shard != "" {
		n.shard = e.Shard
	}
	n.role, n.settled = e.At, e.Kind == trace.Writable
	if n.shard != "" {
		c.shards[n.shard] = e.At
	}
	switch e.Kind {
	case trace.NodeUp, trace.NodeDown:
		n.knows, n.tables = map[string]*knowledge{}, map[string]*reads{}
		n.leaving = 0
		delete(c.takes, e.Node)
	case trace.SteppedDown:
		delete(c.takes, e.Node)
	}
}

func (c *causes) noteCall(e *trace.Event) {
	if e.Code() != "" {
		n := c.of(e.Node)
		n.any, n.handed[e.Asked()] = e.At, e.At
	}
}

// takePart follows the migrations of a node.
func (c *causes) takePart(e *trace.Event) {
	var p *part
	for _, old := range c.takes[e.Node] {
		if old.id == e.Migration() {
			p = old
		}
	}
	if p == nil {
		p = &part{
			id: e.Migration(), began: e.At, donor: e.Kind != trace.RecipientAdvanced,
		}
		c.takes[e.Node] = append(c.takes[e.Node], p)
	}
	p.ns, p.min, p.max, p.peer = e.NS, e.Min, e.Max, e.Peer
	p.cloning = p.cloning || e.DonorState() == trace.DonorCreated
	if e.DonorState() == trace.DonorCommittingOnConfig && len(e.Chunks) > 0 {
		named := e.Chunks[0]
		p.named = &named
	}
	if e.DonorState().Terminal() && e.Kind == trace.DonorAdvanced ||
		e.RecipientState().Terminal() {
		p.over = e.At
	}
}

// noteCapture counts what a donor has to capture.
func (c *causes) noteCapture(e *trace.Event) {
	for _, p := range c.takes[e.Node] {
		if e.Actor == trace.User && p.cloning && p.ns == e.NS && p.min <= e.Key &&
			(p.max == "" || e.Key < p.max) {
			p.captured++
		}
	}
}

// keepPlacement keeps what a majority of the config server has from now on.
func (c *causes) keepPlacement(w *model.Write) {
	c.written[w.NS] = c.now
	if c.pending[w.NS] <= w.Step {
		delete(c.pending, w.NS)
	}
	if len(w.After) == 0 {
		return
	}
	p := placement{w.After[0].Epoch, map[string]uint32{}, w.After, w.Step}
	for _, at := range w.After {
		p.majors[at.Shard] = max(p.majors[at.Shard], at.Major)
	}
	c.placements[w.NS] = append(c.placements[w.NS], p)
}

// command notes a command of an operator, until it is answered.
func (c *causes) command() (answered func()) {
	c.commands++
	return func() { c.commands, c.commanded = c.commands-1, c.now }
}

// HandsOver is called when an operator has a primary hand over, and what it returns when that has
// come to its end: meanwhile it leads and does not write.
func (o *Oracle) HandsOver(node string) (over func()) {
	n := o.causes.of(node)
	n.leaving++
	return func() { n.leaving, n.left = n.leaving-1, o.causes.now }
}

// judgeEnd judges that a migration is completed again. That a primary is the first to complete it,
// or that its predecessor's record came back with a rollback, is reason enough.
func (c *causes) judgeEnd(e *trace.Event) {
	m := c.move(e.Migration())
	set := c.world.Set(e.Shard)
	if set.Leader != e.Node {
		return
	}
	first := c.ends[e.Migration()]
	if first == nil {
		first = &end{shard: e.Shard, at: e.At, term: set.Term}
		c.ends[e.Migration()], c.ending = first, append(c.ending, first)
		return
	}
	if first.gone || first.term == set.Term {
		c.noCause(e, recoveredIdly, fmt.Sprintf("%s completes migration %s again", e.Node, m.id),
			"the record of the migration was still there", first.at)
	}
}

// noteEntry notes an entry of a log behind the removals before it.
func (c *causes) noteEntry(e *trace.Event) {
	for _, r := range c.ending {
		if r.shard == e.Shard && r.term == e.Term && r.index == 0 {
			r.index = e.Index
		}
	}
}

// noteMajority notes what cannot be rolled back any more.
func (c *causes) noteMajority(e *trace.Event) {
	c.ending = slices.DeleteFunc(c.ending, func(r *end) bool {
		r.gone = r.shard == e.Shard && r.index != 0 && r.term == e.Term && r.index <= e.Index
		return r.gone
	})
}

// quiet says whether nothing has happened to a node since a moment that may have any effect.
func (n *evidence) quiet(since int64) bool {
	return n.role < since && n.faulted < since && len(n.faults) == 0
}

// settledSince says whether a node has been the primary of its set since before a moment.
func (n *evidence) settledSince(t int64) bool { return n.settled && n.role < t }

// stable says whether a replica set has had a settled primary since before a moment.
func (c *causes) stable(set string, t int64) bool {
	leader := c.world.Set(set).Leader
	return leader != "" && c.of(leader).settled && c.shards[set] < t
}

// unchanged says whether the catalog of a collection has been the same since before a moment, for
// those who read what a majority has and for those who write alike.
func (c *causes) unchanged(ns string, t int64) bool {
	for _, of := range []string{ns, databaseOf(ns)} {
		if c.written[of] >= t || c.pending[of] != 0 {
			return false
		}
	}
	return c.stable(model.Config, t)
}

func (c *causes) noCause(
	e *trace.Event, signature verdict.Signature, broke, wants string, since int64,
) {
	c.reportOf(causeRule, verdict.Violation{
		Signature: signature, NS: e.NS, Broke: broke,
		Because: []string{
			"the cause would have to be that " + wants,
			fmt.Sprintf("nothing of the kind has happened in the last %v, nor did a fault hit %s",
				elapsed(e.At-since), e.Node),
		},
	}, e.Step)
}
