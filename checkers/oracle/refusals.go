package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
)

// refusal is a kind of end, with the causes that it may have beside those of every refusal: that
// the node has become something else meanwhile, or was hit by a fault.
type refusal struct {
	// of are the requests whose refusal is judged, codes those of the errors.
	of, codes []string
	// passed are the requests of the node's own whose failure is passed on; anything for all.
	passed []string
	// caused says whether the refusal, of a request that has been worked on since a moment, has one
	// of the causes that are its own.
	caused func(c *causes, e *trace.Event, since int64) bool
	// wants names these causes for people.
	wants string
}

var (
	anything = []string{""}
	versions = []string{"Find", "Insert", "Update", "Delete", "FindAndModify"}
	moves    = []string{"ShardsvrMoveRange"}
	// own are those whose work begins with them: what else is asked for may join what was begun
	// before, and be refused for what went wrong before it came.
	own = append([]string{
		"GetMore", "ShardsvrMoveRange", "RecvChunkStart", "RecvChunkStatus", "RecvChunkCommit",
		"CommitChunkMigration", "EnsureChunkVersionIsGreaterThan",
	}, versions...)
	tables = []string{"GetRoutingTable", "FlushRoutingTableCacheUpdates", "Hello"}
)

// refusals is the table, by what is refused and why.
var refusals = []refusal{
	// Protocol 3.4: who is told that it is out of date, is, or the critical section is held, or
	// the shard does not know, and has not learned.
	{versions, []string{"StaleConfig", "StaleDbVersion"}, tables, (*causes).versionDiffers,
		"the version that it came with is not the shard's, or the critical section was held"},
	// Only a primary writes.
	{own, []string{"NotWritablePrimary"}, anything, (*causes).notPrimary,
		"the node, or that of a shard that it asked, is not the settled primary"},
	{own, []string{"PrimarySteppedDown", "InterruptedDueToReplStateChange"}, anything,
		(*causes).openedBefore,
		"the node became something else"},
	// A node that has seen nothing fail of its own does not say that something did.
	{own, []string{"NetworkTimeout", "HostUnreachable", "FailPointEnabled"}, anything, never,
		"a request of the node failed"},
	// Protocol 4: a shard takes part in one migration at a time, and a collection may forbid them.
	{[]string{"ShardsvrMoveRange", "RecvChunkStart"}, []string{"ConflictingOperationInProgress"},
		anything, (*causes).competes,
		"another migration, a critical section or a change of the collection was in the way"},
	// Protocol 5.1 S4, 5.2: a donor gives up because of its recipient, or a limit.
	{moves, []string{"OperationFailed"}, anything, (*causes).recipientLost,
		"the recipient failed or has another primary"},
	{[]string{"RecvChunkStatus"}, []string{
		"OperationFailed", "ExceededTimeLimit", "WriteConcernFailed", "Interrupted",
		"TransactionTooOld", "StaleSession", "IncompatibleShardingMetadata", "InternalError",
		"FailPointEnabled",
	}, anything, (*causes).recipientFails,
		"the donor has ended the migration or has another primary, or it took longer than a limit"},
	// Protocol 5.2: what a recipient still waits for once its donor blocks writes comes at once.
	{[]string{"RecvChunkCommit"}, []string{"ExceededTimeLimit"}, anything, (*causes).wasDelayed,
		"the recipient was at work until shortly before, or something held up one of both sides"},
	{moves, []string{"ExceededTimeLimit"}, anything, (*causes).tookLong,
		"it took longer than a limit"},
	{moves, []string{"ExceededMemoryLimit"}, anything, (*causes).captured,
		"clients have changed the range since it began to be cloned"},
	{moves, []string{"ChunkTooBig"}, anything, (*causes).hasDocuments,
		"the shard has several documents"},
	{moves, []string{"IncompatibleShardingMetadata"}, tables, (*causes).elsewhere,
		"the range is not inside one chunk of the shard"},
	{moves, []string{"Interrupted"}, anything, (*causes).learned,
		"the placement changed meanwhile"},
}

func never(*causes, *trace.Event, int64) bool { return false }

// openedBefore: what reads on goes by the term in which its cursor was opened, which is not known;
// a cursor that is older than its timeout is none any more.
func (c *causes) openedBefore(e *trace.Event, _ int64) bool {
	return e.Asked() == "GetMore" &&
		(c.limits == nil || c.of(e.Node).role >= e.At-int64(c.limits().Cursor))
}

// judgeRefusal looks the refusal up and asks for its cause.
func (c *causes) judgeRefusal(e *trace.Event) {
	for i := range refusals {
		r := &refusals[i]
		if !isListed(r.of, e.Asked()) || !slices.Contains(r.codes, e.Code()) {
			continue
		}
		since := c.since(e)
		n := c.of(e.Node)
		if n.quiet(since) && !c.passedOn(n, r.passed, since) && !r.caused(c, e, since) {
			c.noCause(e, refusedIdly,
				fmt.Sprintf("%s refuses %s of %s with %s%s", e.Node, e.Asked(), e.Peer, e.Code(),
					c.versions(e)),
				r.wants, since)
		}
	}
}

// versions tells the version that a refused request came with, and that of the shard.
func (c *causes) versions(e *trace.Event) string {
	k := c.of(e.Node).about(e.NS)
	if len(e.Chunks) == 0 || len(k.chunks) == 0 {
		return ""
	}
	came, has := &e.Chunks[0], &k.chunks[0]
	return fmt.Sprintf(": it came with version %d|%d, and the shard has %d|%d",
		came.Major, came.Minor, has.Major, has.Minor)
}

func isListed(names []string, name string) bool {
	return names[0] == "" || slices.Contains(names, name)
}

// since is when the work on a refused request began: it may have joined what was in progress.
func (c *causes) since(e *trace.Event) int64 {
	since := e.Arrived()
	donates := slices.Contains(moves, e.Asked())
	if !donates && !strings.HasPrefix(e.Asked(), "RecvChunk") {
		return since
	}
	for _, p := range c.takes[e.Node] {
		if p.donor == donates && (!donates || p.over == 0 || p.over >= since) {
			since = min(since, p.began)
		}
	}
	return since
}

// passedOn says whether a request of the node's own has failed since.
func (c *causes) passedOn(n *evidence, requests []string, since int64) bool {
	if isListed(requests, "") {
		return n.any >= since
	}
	return slices.ContainsFunc(requests, func(r string) bool { return n.handed[r] >= since })
}

// versionDiffers judges primaries only: on other members nobody announces who blocks requests. The
// critical section of a database blocks those for its unsharded collections.
func (c *causes) versionDiffers(e *trace.Event, since int64) bool {
	n := c.of(e.Node)
	k := n.about(e.NS)
	if len(e.Chunks) == 0 || !n.settledSince(since) || k.at >= since || len(k.chunks) == 0 ||
		k.heldSince(since) {
		return true
	}
	if e.Code() == "StaleDbVersion" && n.about(databaseOf(e.NS)).heldSince(since) {
		return true
	}
	return e.Chunks[0].Epoch != k.chunks[0].Epoch || e.Chunks[0].Major != k.chunks[0].Major
}

// heldSince says whether a critical section is held, or was since a moment.
func (k *knowledge) heldSince(t int64) bool { return len(k.blocks) > 0 || k.changed >= t }

// notPrimary: who asks others on the way says so also when one of these has no primary; and who is
// handing over does while it still leads.
func (c *causes) notPrimary(e *trace.Event, since int64) bool {
	if n := c.of(e.Node); n.shard != "" && !n.settledSince(since) {
		return true
	}
	for _, node := range slices.Sorted(maps.Keys(c.nodes)) {
		if n := c.nodes[node]; n.leaving > 0 || n.left >= since {
			return true
		}
	}
	cluster := c.world.LatestCluster()
	if !cluster.Knows() {
		return true
	}
	sets := append(cluster.Shards(), slices.Sorted(maps.Keys(c.shards))...)
	return slices.ContainsFunc(sets, func(set string) bool { return !c.stable(set, since) })
}

// competes: a donor takes part until it has answered the request, a recipient until its donor has
// ended the migration.
func (c *causes) competes(e *trace.Event, since int64) bool {
	n := c.of(e.Node)
	k := n.about(e.NS)
	if !c.unchanged(e.NS, since) || c.forbids[e.NS] || k.heldSince(since) || k.at >= since ||
		k.at == 0 {
		return true
	}
	return slices.ContainsFunc(c.takes[e.Node], func(p *part) bool {
		if p.donor {
			return p.answered == 0 || p.answered >= since
		}
		return p.over == 0 || p.over >= since || c.move(p.id).ended == 0
	})
}

// noteAnswer notes the end of a migration for its donor, which may have waited for the deletion. An
// error after a commit may be that of a request which only waited for it, while the donor goes on.
func (c *causes) noteAnswer(e *trace.Event) {
	if e.Code() == "ConflictingOperationInProgress" {
		return // of another request, which found this migration in its way
	}
	for _, p := range c.takes[e.Node] {
		// The request for a migration came before the migration was over.
		if p.donor && e.Arrived() < p.over && p.answered == 0 && isListed(moves, e.Asked()) &&
			(e.Code() == "" || c.move(p.id).committed == 0) && !c.mayHaveWaited(e, p) {
			p.answered = e.At
		}
	}
}

// mayHaveWaited says whether a request that came before a migration of its node may have waited for
// an earlier one, as a repeated request does.
func (c *causes) mayHaveWaited(e *trace.Event, later *part) bool {
	return e.Arrived() < later.began && slices.ContainsFunc(c.takes[e.Node], func(p *part) bool {
		return p != later && p.donor && p.began <= e.Arrived() &&
			(p.over == 0 || p.over >= e.Arrived())
	})
}

// donated is the migration that a node has donated since a moment; nil when it may be one of
// several, as who waits for one may wake up when the next has begun.
func (c *causes) donated(node string, since int64) (of *part) {
	for _, p := range c.takes[node] {
		switch {
		case !p.donor || p.over != 0 && p.over < since:
		case of != nil:
			return nil
		default:
			of = p
		}
	}
	return of
}

func (c *causes) recipientLost(e *trace.Event, since int64) bool {
	p := c.donated(e.Node, e.Arrived())
	return p == nil || !c.stable(p.peer, since)
}

func (c *causes) tookLong(e *trace.Event, since int64) bool {
	return c.limits == nil || e.At-since >= slack(c.limits().Migration)
}

// idleCommit is how long a recipient may have nothing to write while its donor blocks writes, if
// nothing is in its way.
const idleCommit = int64(500 * time.Millisecond)

func (c *causes) wasDelayed(e *trace.Event, _ int64) bool {
	p, arrived := c.received(e.Node), e.Arrived()
	if p == nil || c.throttled[p.id] || e.At-max(arrived, p.worked) < idleCommit {
		return true
	}
	for _, set := range []string{p.peer, c.of(e.Node).shard} {
		hit, disturbed := c.disturbed[set]
		if !c.stable(set, arrived) || disturbed && hit >= arrived-longestStall {
			return true
		}
	}
	return !c.allQuiet(arrived)
}

// longestStall is for how long a fault of chance may have an effect.
const longestStall = int64(time.Second)

// Disturbed notes that a fault of chance has hit a replica set.
func (o *Oracle) Disturbed(set string) { o.causes.disturbed[set] = o.causes.now }

// Throttled says that the recipient of a migration waits until so many members have what it writes,
// which may be more than there are.
func (o *Oracle) Throttled(migration string) { o.causes.throttled[migration] = true }

// allQuiet says whether no fault has been in effect anywhere since a moment.
func (c *causes) allQuiet(since int64) bool {
	//shardproof:allow map whether any of them was hit does not depend on the order
	for _, n := range c.nodes {
		if n.faulted >= since || len(n.faults) > 0 {
			return false
		}
	}
	return true
}

// noteWork notes that a recipient makes progress.
func (c *causes) noteWork(e *trace.Event) {
	if e.Actor != trace.Recipient && e.Actor != trace.Session {
		return
	}
	if p := c.received(e.Node); p != nil {
		p.worked = e.At
	}
}

// captured also looks at migrations that have ended since the request came: it may have joined one
// of them, and be answered when the next has begun.
func (c *causes) captured(e *trace.Event, _ int64) bool {
	if p := c.donated(e.Node, e.Arrived()); p == nil || p.captured > 0 {
		return true
	}
	for _, p := range c.takes[e.Node] {
		if p.donor && p.captured > 0 && p.over >= e.Arrived() {
			return true
		}
	}
	return false
}

func (c *causes) hasDocuments(e *trace.Event, _ int64) bool {
	p := c.donated(e.Node, e.Arrived())
	return p == nil || len(c.world.Set(c.of(e.Node).shard).Documents(p.ns, "", "\xff\xff")) > 1
}

func (c *causes) elsewhere(e *trace.Event, since int64) bool {
	p := c.donated(e.Node, e.Arrived())
	if p == nil || p.max == "" || !c.unchanged(p.ns, since) {
		return true
	}
	return !slices.ContainsFunc(c.world.Latest(p.ns), func(at trace.Chunk) bool {
		return at.Min == p.min && at.Max == p.max && at.Shard == c.of(e.Node).shard
	})
}

// learned: a shard that gives its database away forgets what it was just reading.
func (c *causes) learned(e *trace.Event, since int64) bool {
	n := c.of(e.Node)
	k := n.about(e.NS)
	return n.about(databaseOf(e.NS)).at >= since || k.at >= since || k.heldSince(since) ||
		!c.unchanged(e.NS, since)
}

// recipientFails: a recipient gives up because its donor has, or a primary that did not begin the
// migration leads the donor's shard by then, though its donor may not know that; or the collection
// has changed, or it took too long, or its shard has given the database away, after which it
// forgets what it was just reading. Only one of another migration says nothing of it.
func (c *causes) recipientFails(e *trace.Event, since int64) bool {
	p := c.received(e.Node)
	if p == nil || c.limits == nil || e.At-since >= slack(c.limits().Migration) ||
		!c.unchanged(p.ns, since) || c.of(e.Node).about(databaseOf(p.ns)).at >= since {
		return true
	}
	return !c.stable(p.peer, since) || !slices.ContainsFunc(c.takes[c.world.Set(p.peer).Leader],
		func(d *part) bool { return d.id == p.id && d.over == 0 })
}

// received is the newest migration of which the node is the recipient.
func (c *causes) received(node string) *part {
	for _, p := range slices.Backward(c.takes[node]) {
		if !p.donor {
			return p
		}
	}
	return nil
}

// judgeCall judges what only its caller knows to be the answer to the newest attempt.
func (c *causes) judgeCall(e *trace.Event) {
	switch {
	case e.Asked() == "GetRoutingTable" && e.Code() == "" && c.of(e.Node).shard == "":
		c.judgeRead(e)
	case e.Asked() == "CommitChunkMigration" &&
		(e.Code() == "ConflictingOperationInProgress" || e.Code() == "StaleEpoch"):
		c.judgeCommitRefused(e)
	}
}

// judgeCommitRefused: the config server refuses a commit only if the chunk is not as the donor
// names it (protocol 3.3), migrations are not allowed, or the balancer has been stopped, which
// closes it before the stop is answered (protocol 14.3).
func (c *causes) judgeCommitRefused(e *trace.Event) {
	p := c.donated(e.Node, e.At)
	if p == nil || p.named == nil {
		return
	}
	m := c.move(p.id)
	now := c.world.Latest(p.ns)
	same := slices.ContainsFunc(now, func(at trace.Chunk) bool {
		return at.Min <= p.min && p.max <= at.Max && at.Shard == m.from &&
			at.Major == p.named.Major && at.Minor == p.named.Minor && at.Epoch == p.named.Epoch
	})
	if !same || c.forbids[p.ns] || !c.unchanged(p.ns, p.began) || c.settings >= p.began ||
		!c.world.LatestCluster().Knows() || c.world.LatestCluster().Closed {
		return
	}
	c.noCause(e, refusedIdly,
		fmt.Sprintf("the config server refuses to commit migration %s with %s", p.id, e.Code()),
		"the chunk is not the donor's any more under the version that it names", p.began)
}

func databaseOf(ns string) string {
	database, _, _ := strings.Cut(ns, ".")
	return database
}
