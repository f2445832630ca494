package oracle

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/checkers/facts"
	"github.com/shardproof/shardproof/checkers/grounds"
	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// acknowledgedRule is acknowledged: what commands of operators and clients bring about. The state
// that counts is that of a majority of the config server.
var acknowledgedRule = verdict.Checker{
	Name: "acknowledged",
	Promise: "An acknowledged change of the catalog was in effect on a majority of the config " +
		"server at some moment between the request and the answer. A request that can never be " +
		"granted, or that the catalog forbids all that time, is refused.",
	Signatures: verdict.Meanings{
		neverSo: "a command was acknowledged, and what it asks for was never in effect",
		granted: "a request that had to be refused was granted",
	},
}

var _ = declare(115, acknowledgedRule, func(o *Oracle) hooks {
	return hooks{
		event: o.lookAtWritten,
		commit: func(w *model.Write) {
			o.lookAtAsked()
			o.past.Written(o.world, w.NS, o.causes.now)
		},
		administered: func(*trace.Event) {
			o.lookAtAsked()
			o.past.Administered(o.world, o.causes.now)
		},
	}
})

// The signatures of commands that did nothing, and of requests that had to be refused.
const (
	neverSo verdict.Signature = "acknowledged-without-effect"
	granted verdict.Signature = "granted-against-the-catalog"
)

// pendingCommand is a command that has no answer yet.
type pendingCommand struct {
	fact facts.Fact
	step uint64
	held bool
	// shared: another command on the same document had no answer meanwhile, so that either may
	// have come last.
	shared bool
}

// Asked is called when a command is given, with what it is to bring about, and what it returns when
// the answer has come, with whether it was acknowledged. Of a fact that is nil nothing is judged.
func (o *Oracle) Asked(all ...*facts.Fact) (answered func(acknowledged bool)) {
	over := o.causes.command()
	var pending []*pendingCommand
	for _, f := range all {
		if f != nil {
			o.switches(f)
			o.zones.Asked(f.Zone)
			pending = append(pending, o.pend(f))
		}
	}
	return func(acknowledged bool) {
		over()
		if !o.rounds.off {
			o.rounds.lookBetween(o.world.Set(model.Config).Leader)
		}
		if len(pending) > 0 {
			o.lookAtAsked()
		}
		for _, a := range pending {
			o.ended(a, acknowledged)
		}
	}
}

func (o *Oracle) pend(f *facts.Fact) *pendingCommand {
	a := &pendingCommand{fact: *f, step: o.step, shared: o.doubtful[f.Record]}
	for _, other := range o.asked {
		if f.Record != "" && other.fact.Record == f.Record {
			a.shared, other.shared = true, true
		}
	}
	o.asked = append(o.asked, a)
	return a
}

// ended judges a command that has its answer. One without an acknowledgement may still be carried
// out at any time: nobody knows what its document says from then on.
func (o *Oracle) ended(a *pendingCommand, acknowledged bool) {
	o.asked = slices.DeleteFunc(o.asked, func(other *pendingCommand) bool { return other == a })
	f := &a.fact
	if acknowledged {
		o.switched(f)
	} else if f.Record != "" {
		o.doubtful[f.Record] = true
	}
	if !acknowledged || a.held || a.shared {
		return
	}
	var about []verdict.KeyRange
	if f.About != nil {
		about = f.About()
	}
	o.report(acknowledgedRule, verdict.Violation{
		Signature: neverSo, NS: f.NS, Ranges: about,
		Broke: "a command was acknowledged, and what it was to bring about never came: " + f.What,
		Because: []string{
			"no majority of the config server had that since the command was given",
			fmt.Sprintf("it was given after step %d and acknowledged after step %d",
				a.step, o.step),
		},
	}, a.step)
}

// lookAtAsked looks at the state as it is before the next change of it.
func (o *Oracle) lookAtAsked() {
	for _, a := range o.asked {
		a.held = a.held || a.fact.Holds(majorityWorld{o.world, o})
	}
}

// lookAtWritten looks at documents as they are written: one may be gone when a majority has it.
func (o *Oracle) lookAtWritten(e *trace.Event) {
	if e.Kind == trace.EntryChanged {
		o.lookAtAsked()
	}
}

// Refusal is a request that a node has refused, why, and when the request came first.
type Refusal struct {
	Node, Request, NS, Why string
	Since                  int64
}

// Refused judges that a member of the config server, which answers by what a majority has, refuses
// a request only on grounds that the catalog gave at some moment since the request came first.
// Nothing is judged when something has happened to the member that might have it fail.
func (o *Oracle) Refused(r Refusal, g *grounds.Ground) {
	if !o.past.Held(o.world, g, r.Since) {
		o.RefusedIdly(r, fmt.Sprintf("this refusal is justified only if %s; the "+
			"majority-committed catalog never said so in the last %v", g.Wants,
			elapsed(o.causes.now-r.Since)))
	}
}

// Granted judges a request that was granted: no ground to refuse it may have held all the time
// since it first came. An answer that grants it says that a majority has what the answer rests on.
func (o *Oracle) Granted(r Refusal, against ...*grounds.Ground) {
	for _, g := range against {
		if !o.past.Throughout(o.world, g, r.Since) {
			continue
		}
		o.report(acknowledgedRule, verdict.Violation{
			Signature: granted, NS: r.NS,
			Broke: fmt.Sprintf("%s grants %s, which it must refuse: %s", r.Node, r.Request, g.Wants),
			Because: []string{fmt.Sprintf("this was so in every state that a majority of the config "+
				"server has had in the last %v", elapsed(o.causes.now-r.Since))},
		})
		return
	}
}

// RefusedIdly reports a refusal without a cause, because of what is known; nothing when that is
// empty, or something has happened to the node meanwhile.
func (o *Oracle) RefusedIdly(r Refusal, because string) {
	if because == "" || !o.causes.of(r.Node).quiet(r.Since) {
		return
	}
	o.report(causeRule, verdict.Violation{
		Signature: refusedIdly, NS: r.NS,
		Broke:   fmt.Sprintf("%s refuses %s with %s", r.Node, r.Request, r.Why),
		Because: []string{because},
	})
}

// RefusedUnasked reports that a router refuses a request by a table that it had read before that
// came, the last of them at a time, unless something that it asked has failed: no shard is asked
// that would find the table out of date, so it would be refused for ever.
func (o *Oracle) RefusedUnasked(r Refusal, read int64) {
	if o.causes.of(r.Node).any < r.Since {
		o.RefusedIdly(r, fmt.Sprintf("the router last read the catalog at %v, before the request "+
			"came at %v, and nothing has told it since whether that is out of date",
			time.Duration(read), time.Duration(r.Since)))
	}
}

// RefusedOwners judges that a shard refuses a read of a time only when it knows a table whose
// history does not reach back so far: one of the incarnation, in which it has the version that the
// read came with.
func (o *Oracle) RefusedOwners(r Refusal, version trace.Chunk, shard string, at uint64) {
	o.judgeOwners(r, at, func(p *placement) bool {
		return p.epoch == version.Epoch && p.majors[shard] == version.Major
	})
}

// RefusedRouting judges that a router refuses to read from a time on only when there has been a
// table whose history does not reach back so far, or a shard has refused what it was asked.
func (o *Oracle) RefusedRouting(r Refusal, asks string, from uint64) {
	if o.causes.of(r.Node).handed[asks] < r.Since {
		o.judgeOwners(r, from, func(*placement) bool { return true })
	}
}

func (o *Oracle) judgeOwners(r Refusal, at uint64, known func(*placement) bool) {
	tables := 0
	for i := range o.causes.placements[r.NS] {
		p := &o.causes.placements[r.NS][i]
		if !known(p) {
			continue
		}
		if !p.table.KnownAt(at) {
			return
		}
		tables++
	}
	if tables > 0 {
		o.RefusedIdly(r, fmt.Sprintf("the owner of every chunk of %s at %d is in the history of all "+
			"%d tables that it may go by", r.NS, at, tables))
	}
}

// unbalancedIn reports whether balancing of the collection is switched off: since the collection is
// what the name stands for.
func (o *Oracle) unbalancedIn(c *model.Cluster, ns string) bool {
	return c.Off(ns) > max(o.dropped[ns], o.lives[ns])
}

// majorityWorld is the state in which facts are looked up.
type majorityWorld struct {
	*model.World
	oracle *Oracle
}

// Unbalanced says whether the balancer may not move chunks of a collection.
func (w majorityWorld) Unbalanced(ns string) bool {
	return w.oracle.unbalancedIn(w.Cluster(), ns)
}
