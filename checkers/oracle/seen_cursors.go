package oracle

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
)

// seenCursor is a query as its client sees it: open from the answer that names it until it is
// exhausted, closed or left alone for too long.
type seenCursor struct {
	id, node, ns string
	opened, used int64
	step         uint64
	// over: no answer speaks of it any more.
	over bool
	// version is the placement that the query was let in with; nil for one that keeps nothing.
	version *trace.Chunk
}

// followCursor follows what answers tell.
func (c *causes) followCursor(e *trace.Event) {
	cu := c.cursors[e.Cursor()]
	switch {
	case e.CursorState() == trace.CursorLost:
		c.judgeLoss(e, cu)
	case e.CursorState() != trace.CursorLives && cu != nil:
		cu.over = true
	case cu != nil:
		cu.used = e.At
	case e.CursorState() == trace.CursorLives && e.NS != "":
		cu = &seenCursor{
			id: e.Cursor(), node: e.Node, ns: e.NS, opened: e.Arrived(), used: e.At, step: e.Step,
		}
		if len(e.Chunks) > 0 {
			kept := e.Chunks[0]
			cu.version = &kept
		}
		c.cursors[cu.id], c.living = cu, append(c.living, cu)
	}
}

// open says whether the cursor cannot have been closed by now but for no reason: it is in use, its
// node and its collection are as they were.
func (c *causes) open(cu *seenCursor, now int64) bool {
	n := c.of(cu.node)
	return !cu.over && c.limits != nil && now-cu.used < slack(c.limits().Cursor) &&
		n.role < cu.opened && c.drops[cu.ns] < cu.step && c.lives[cu.ns] < cu.step &&
		c.written[databaseOf(cu.ns)] < cu.opened
}

// judgeLoss judges a cursor that its client is told is gone.
func (c *causes) judgeLoss(e *trace.Event, cu *seenCursor) {
	if cu == nil || !c.open(cu, e.At) || !c.of(cu.node).settled || c.faultedSince(cu) {
		return
	}
	cu.over = true
	e.NS = cu.ns
	c.noCause(e, lostIdly,
		fmt.Sprintf("%s has closed cursor %s, which %s wants to go on with",
			cu.node, cu.id, e.Node),
		"the cursor was exhausted, closed by its client, not used for long, or its collection is "+
			"gone", cu.opened)
}

func (c *causes) faultedSince(cu *seenCursor) bool { return c.of(cu.node).faulted >= cu.opened }

// keeper is an open cursor on a node that keeps a document of the key from deletion, as far as
// others can see; nil for none. What it was let in with says what the shard owned then.
func (c *causes) keeper(node, shard, ns, key string, now int64) *seenCursor {
	c.living = slices.DeleteFunc(c.living, func(cu *seenCursor) bool { return cu.over })
	for _, cu := range c.living {
		if cu.node == node && cu.ns == ns && cu.version != nil && c.open(cu, now) &&
			c.ownedAt(shard, ns, key, cu.version) {
			return cu
		}
	}
	return nil
}

// ownedAt says whether a shard owned a key at the version that it had of itself.
func (c *causes) ownedAt(shard, ns, key string, v *trace.Chunk) bool {
	p := c.placementAt(shard, ns, v)
	return p != nil && p.table.Owner(key) == shard
}

// placementAt is who owned what at the version that a shard had of itself, nil when no majority of
// the config server has had it.
func (c *causes) placementAt(shard, ns string, v *trace.Chunk) *placement {
	all := c.placements[ns]
	for i := range slices.Backward(all) {
		if all[i].epoch == v.Epoch && all[i].majors[shard] == v.Major {
			return &all[i]
		}
	}
	return nil
}

// reads are the routing tables of a collection that a router has read.
type reads struct {
	// ended are when the last two readings ended.
	ended [2]int64
	// judged is when the router last answered a request that it may have judged by a table which it
	// had read for it.
	judged int64
}

func (n *evidence) read(ns string) *reads {
	r := n.tables[ns]
	if r == nil {
		r = &reads{}
		n.tables[ns] = r
	}
	return r
}

// judgeRead judges that a router, whose members are of no set, reads a routing table. It does so at
// first, and then whenever a shard has found what it has out of date, or the reading failed
// (protocol 3.4), or it is about to refuse a request by itself or to open a change stream, or to
// split or merge for an operator. The answer to a request that was
// sent by one table may come while the next is being read, so that it counts for two.
func (c *causes) judgeRead(e *trace.Event) {
	n := c.of(e.Node)
	r := n.read(e.NS)
	since := r.ended[1]
	if since != 0 && max(n.any, r.judged, c.commanded) < since && n.quiet(since) &&
		c.commands == 0 {
		c.idle = append(c.idle, idleRead{*e, since})
	}
	r.ended[0], r.ended[1] = e.At, r.ended[0]
}

// idleRead is a reading without a cause since a time, unless the router refuses a request with it:
// it does so in the same moment, if no fault keeps it from that.
type idleRead struct {
	ended trace.Event
	since int64
}

// settleIdle judges the readings that ended before a time.
func (c *causes) settleIdle(now int64) {
	c.idle = slices.DeleteFunc(c.idle, func(i idleRead) bool {
		e := &i.ended
		over := e.At < now
		if n := c.of(e.Node); over && n.read(e.NS).judged != e.At && n.quiet(i.since) {
			c.noCause(e, refreshedIdly,
				fmt.Sprintf("%s reads the routing table of %s again", e.Node, e.NS),
				"a request of its own was refused or lost, or it refused one, or an operator had it "+
					"split or merge, since the time before last", i.since)
		}
		return over
	})
}

// noteJudged notes when a router refuses a request, before which it has looked again, as it has
// before every stream; the client may have given up long ago.
func (c *causes) noteJudged(e *trace.Event) {
	if e.Code() != "" || e.Asked() == "Watch" {
		c.of(e.Node).read(e.NS).judged = e.At
	}
}

func elapsed(d int64) time.Duration { return time.Duration(d) }
