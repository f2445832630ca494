package oracle

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
)

// reads are the routing tables of a collection that a router has read.
type reads struct {
	// ended are when the last two readings ended.
	ended [2]int64
}

// judgeRead judges that a router, whose members are of no set, reads a routing table. It does so at
// first, and then whenever a shard has found what it has out of date, or the reading failed
// (protocol 3.4). The answer to a request that was sent by one table may come while the next is
// being read, so that it counts for two.
func (c *causes) judgeRead(e *trace.Event) {
	r := c.of(e.Node).tables[e.NS]
	if r == nil {
		r = &reads{}
		c.of(e.Node).tables[e.NS] = r
	}
	n := c.of(e.Node)
	if r.ended[1] != 0 && n.any < r.ended[1] && n.quiet(r.ended[1]) &&
		c.commands == 0 && c.commanded < r.ended[1] {
		c.noCause(e, refreshedIdly,
			fmt.Sprintf("%s reads the routing table of %s again", e.Node, e.NS),
			"a request of its own was refused or lost, or an operator had it split or merge, "+
				"since the time before last", r.ended[1])
	}
	r.ended[0], r.ended[1] = e.At, r.ended[0]
}

func elapsed(d int64) time.Duration { return time.Duration(d) }
