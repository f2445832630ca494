package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers/grounds"
	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/checkers/zoning"
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

// Fact is what a command is to bring about.
type Fact struct {
	// What is a clause for people, NS the collection that it is about, if any.
	What, NS string
	holds    func(*Oracle) bool
	// about are the encoded shard keys that it concerns, if it is about any.
	about []verdict.KeyRange
	// record names the document that the command writes, if it is one that several commands write.
	record string
	// service is what is switched on or off, if anything.
	service string
	on      bool
	// zone is set for a command about the range of a zone.
	zone *zoning.Command
}

// pendingCommand is a command that has no answer yet.
type pendingCommand struct {
	fact Fact
	step uint64
	held bool
	// shared: another command on the same document had no answer meanwhile, so that either may
	// have come last.
	shared bool
}

// Asked is called when a command is given, with what it is to bring about, and what it returns when
// the answer has come, with whether it was acknowledged. Of a fact that is nil nothing is judged.
func (o *Oracle) Asked(facts ...*Fact) (answered func(acknowledged bool)) {
	over := o.causes.command()
	var pending []*pendingCommand
	for _, f := range facts {
		if f != nil {
			o.switches(f)
			o.zones.Asked(f.zone)
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

func (o *Oracle) pend(f *Fact) *pendingCommand {
	a := &pendingCommand{fact: *f, step: o.step, shared: o.doubtful[f.record]}
	for _, other := range o.asked {
		if f.record != "" && other.fact.record == f.record {
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
	} else if f.record != "" {
		o.doubtful[f.record] = true
	}
	if !acknowledged || a.held || a.shared {
		return
	}
	o.report(acknowledgedRule, verdict.Violation{
		Signature: neverSo, NS: f.NS, Ranges: f.about,
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
		a.held = a.held || a.fact.holds(o)
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

// Recorded is that a document, which record names, is as a command leaves it; holds looks. It is
// not judged while another command on the document has no answer.
func Recorded(what, record string, holds func() bool) *Fact {
	return &Fact{What: what, record: record, holds: func(*Oracle) bool { return holds() }}
}

// ShardOfZone is that a shard is of a zone, or is not.
func ShardOfZone(shard, zone string, is bool) *Fact {
	what := shard + " is of zone " + zone
	if !is {
		what = shard + " is not of zone " + zone
	}
	return &Fact{What: what, holds: func(o *Oracle) bool {
		c := o.world.Cluster()
		return c != nil && c.Has(shard) && c.InZone(shard, zone) == is
	}}
}

// RangeOfZone is that all of a range is of a zone; without one, that exactly this range is of none.
func RangeOfZone(ns, lo, hi, zone string) *Fact {
	return &Fact{What: "a range of " + ns + " is of zone " + zone, NS: ns,
		zone: &zoning.Command{NS: ns, ZoneRange: model.ZoneRange{Min: lo, Max: hi, Name: zone}},
		holds: func(o *Oracle) bool {
			c := o.world.Cluster()
			if zone == "" {
				return !c.Assigned(ns, lo, hi)
			}
			return c.Zone(ns, lo, hi) == zone
		}}
}

// BalancerIs is that the balancer is in a mode.
func BalancerIs(mode trace.BalancerMode) *Fact {
	return &Fact{What: "the balancer's mode is " + mode.String(), holds: func(o *Oracle) bool {
		c := o.world.Cluster()
		return c != nil && c.Mode == mode
	}}
}

// BalancedIs is whether the balancer may move chunks of a collection, which it may of a new one.
func BalancedIs(ns string, on bool) *Fact {
	what := ns + " is balanced"
	if !on {
		what = ns + " is not balanced"
	}
	return &Fact{What: what, NS: ns, holds: func(o *Oracle) bool {
		return on != o.unbalancedIn(o.world.Cluster(), ns)
	}}
}

// unbalancedIn reports whether balancing of the collection is switched off: since the collection is
// what the name stands for.
func (o *Oracle) unbalancedIn(c *model.Cluster, ns string) bool {
	return c.Off(ns) > max(o.dropped[ns], o.lives[ns])
}

// ShardExists is that a shard is one of the cluster, or is not.
func ShardExists(shard string, is bool) *Fact {
	what := shard + " is a shard"
	if !is {
		what = shard + " is no shard"
	}
	return &Fact{What: what, holds: func(o *Oracle) bool {
		c := o.world.Cluster()
		return c != nil && c.Has(shard) == is
	}}
}

// BoundAt is that a chunk begins at a key.
func BoundAt(ns, at string) *Fact {
	return inTable("a chunk of "+ns+" begins at the key", ns, func(t model.Table) bool {
		return slices.ContainsFunc(t, func(c trace.Chunk) bool { return c.Min == at })
	})
}

// OneChunk is that one chunk has all of a range.
func OneChunk(ns, lo, hi string) *Fact {
	return inTable("one chunk of "+ns+" has the range", ns, func(t model.Table) bool {
		return chunkAt(t, &trace.Chunk{Min: lo, Max: hi}) != nil
	})
}

// NotJumbo is that the chunk with a key is not jumbo.
func NotJumbo(ns, at string) *Fact {
	return inTable("the chunk of "+ns+" is not jumbo", ns, func(t model.Table) bool {
		return slices.ContainsFunc(t, func(c trace.Chunk) bool {
			return c.Min <= at && at < c.Max && !c.Jumbo
		})
	})
}

// OwnedBy is that a shard owns a key of a collection, or has a database. A collection that is gone
// is where its database is: there is nothing to move.
func OwnedBy(ns, at, shard string) *Fact {
	holds := func(o *Oracle) bool {
		database, _, _ := strings.Cut(ns, ".")
		return o.world.Table(ns).Owner(at) == shard ||
			!o.world.Sharded(ns) && o.world.Table(database).Owner(at) == shard
	}
	return &Fact{
		What: ns + " is on " + shard, NS: ns, holds: holds,
		about: []verdict.KeyRange{{Min: at, Max: at + "\x00"}},
	}
}

func inTable(what, ns string, holds func(model.Table) bool) *Fact {
	return &Fact{What: what, NS: ns,
		holds: func(o *Oracle) bool { return holds(o.world.Table(ns)) }}
}

// Sharded is that a collection is in the catalog, or is not.
func Sharded(ns string, is bool) *Fact {
	what := ns + " is sharded"
	if !is {
		what = ns + " is not sharded"
	}
	return &Fact{What: what, NS: ns,
		holds: func(o *Oracle) bool { return o.world.Sharded(ns) == is }}
}

// Renamed is that a collection has another name.
func Renamed(from, to string) *Fact {
	return &Fact{What: from + " is called " + to, NS: to, holds: func(o *Oracle) bool {
		return o.world.Sharded(to) && !o.world.Sharded(from)
	}}
}
