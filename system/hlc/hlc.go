// Package hlc is the cluster's logical time: a hybrid timestamp that every message carries and
// every node keeps at least as high as the highest it has seen, so that causes have smaller
// timestamps than effects, even when wall clocks disagree.
//
// Promise: a clock never runs backwards, and what it issues is above everything that it has seen.
//
// Refusal: it tells nobody the real time: a node with a fast clock pulls all others ahead.
package hlc

import (
	"fmt"

	"github.com/shardproof/shardproof/system/env"
)

// Timestamp orders events of the whole cluster: milliseconds of wall clock in the upper 44 bits, a
// counter within the millisecond in the lower 20. The zero Timestamp is before every event.
type Timestamp uint64

// Millis is the wall-clock part, in milliseconds since the world began.
func (t Timestamp) Millis() int64 { return int64(t >> 20) }

// At is the first timestamp of a millisecond.
func At(millis int64) Timestamp {
	if millis < 0 {
		return 0
	}
	return Timestamp(millis) << 20
}

// String is "millis.counter".
func (t Timestamp) String() string { return fmt.Sprintf("%d.%d", t>>20, t&(1<<20-1)) }

// Vector is the set of times that every message carries.
type Vector struct {
	// Cluster is the highest cluster time seen.
	Cluster Timestamp
	// Config is the highest timestamp known to be majority-committed on the config server. A reader
	// of the catalog asks for a state at least as new (protocol 2.2, the vector clock).
	Config Timestamp
}

// Clock is one node's view of the cluster's time. A crash forgets it; the node's log and the next
// message bring it back.
type Clock struct {
	node env.Node
	seen Vector
}

// New returns a clock that has seen nothing.
func New(node env.Node) *Clock { return &Clock{node: node} }

// Now returns what the node has seen, without advancing.
func (c *Clock) Now() Vector { return c.seen }

// Tick returns a timestamp larger than every one seen, and not behind the wall clock.
func (c *Clock) Tick() Timestamp {
	next := c.seen.Cluster + 1
	if wall := At(int64(c.node.Now()) / 1e6); wall > next {
		next = wall
	}
	c.seen.Cluster = next
	return next
}

// Advance takes over what another node, or the node's own log, has seen.
func (c *Clock) Advance(v Vector) {
	c.seen.Cluster = max(c.seen.Cluster, v.Cluster, v.Config)
	c.seen.Config = max(c.seen.Config, v.Config)
}
