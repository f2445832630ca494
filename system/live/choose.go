package live

import (
	"fmt"
	"math/bits"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
)

// Choose implements env.Node. The answer is a hash of the node's recorded seed, the incarnation and
// the question's identity.
func (n *node) Choose(kind env.Choice, site string, options int) int {
	if options < 1 {
		n.fail(fmt.Sprintf("a choice %s at %s among %d", kind, site, options))
	}
	q := question{kind, site}
	n.asked[q]++
	h := keyed.Text(keyed.Text(n.seed+uint64(n.incarnation), string(kind)), site)
	hi, _ := bits.Mul64(keyed.Mix(h+n.asked[q]*keyed.Golden), uint64(options))
	return int(hi)
}

// Emit implements env.Node.
func (n *node) Emit(e *trace.Event) {
	if n.dead {
		return
	}
	n.events++
	e.Step, e.At, e.Node = n.events, int64(n.Now()), string(n.opts.ID)
	e.SetClock(func() int64 { return int64(n.Now()) })
	n.opts.Observe(n.incarnation, e)
}

// Sometimes implements env.Node: it emits an event the first time only.
func (n *node) Sometimes(probe string) {
	if n.dead {
		return
	}
	if n.reached[probe]++; n.reached[probe] == 1 {
		n.Emit(trace.ReachedEvent{Probe: probe}.Event())
	}
}

// Assert implements env.Node.
func (n *node) Assert(ok bool, format string, args ...any) {
	if !ok && !n.dead {
		n.fail(fmt.Sprintf(format, args...))
	}
}

// Abort implements env.Node.
func (n *node) Abort(why string) {
	if n.dead {
		return
	}
	n.Emit(trace.ProcessAbortedEvent{Why: why}.Event())
	n.fail(why)
}
