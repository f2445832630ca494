// Package rapidscenario draws scenarios for property tests with pgregory.net/rapid, in the form
// that shrinks best: every operation, migration and fault is drawn with its own absolute time, and
// everything else a run needs is answered by the choice gate, keyed by what it is for. Leaving one
// operation out therefore leaves all others as they were.
//
// Promise: every drawn scenario is valid.
//
// Refusal: it runs nothing; a property decides what a scenario is to show.
package rapidscenario

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Bounds say how large the drawn scenarios are.
type Bounds struct {
	Ops, Migrations, Faults, Keys int
	Span                          time.Duration
}

// Small is a size at which a run takes a few milliseconds.
var Small = Bounds{Ops: 40, Migrations: 3, Faults: 3, Keys: 12, Span: 600 * time.Millisecond}

const collectionName = "test.docs"

// Scenarios draws scenarios of two shards. Settings are those given.
func Scenarios(b Bounds, settings []scenario.Setting) *rapid.Generator[*scenario.Scenario] {
	return rapid.Custom(func(t *rapid.T) *scenario.Scenario {
		s := &scenario.Scenario{
			Name:     "property",
			Seed:     rapid.Uint64().Draw(t, "seed"),
			Settings: settings,
			Topology: scenario.Topology{
				Shards:        2,
				Members:       3,
				ConfigMembers: 3,
				Routers:       1,
				Clients:       3,
			},
			Collections: []scenario.Collection{{
				NS:      collectionName,
				Keys:    b.Keys,
				Preload: b.Keys * 2 / 3,
				Bounds:  []int64{int64(b.Keys / 2)},
				Share:   rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "share"),
			}},
			FaultsEnd: b.Span + 300*time.Millisecond,
			Limit:     90 * time.Second,
		}
		for i := range rapid.IntRange(1, b.Ops).Draw(t, "operations") {
			s.Ops = append(s.Ops, drawOp(t, b, i+1))
		}
		for i := range rapid.IntRange(0, b.Migrations).Draw(t, "migrations") {
			s.Migrations = append(s.Migrations, drawMove(t, b, i+1))
		}
		for i := range rapid.IntRange(0, b.Faults).Draw(t, "faults") {
			s.Faults = append(s.Faults, drawFault(t, b, i+1, s.Topology))
		}
		return s
	})
}

func drawTime(t *rapid.T, b Bounds) time.Duration {
	return time.Duration(rapid.IntRange(0, int(b.Span/time.Millisecond)).Draw(t,
		"at")) * time.Millisecond
}

// kindsByKey are by key, since some mixes on one key cannot be judged completely: blind upserts
// beside deletes.
var kindsByKey = [][]scenario.OpKind{
	{scenario.Read, scenario.Write, scenario.CAS},
	{scenario.Read, scenario.Insert, scenario.Delete}, {scenario.Read, scenario.Push},
	{scenario.Read, scenario.Upsert},
}

func drawOp(t *rapid.T, b Bounds, id int) scenario.Op {
	o := scenario.Op{
		ID:     id,
		At:     drawTime(t, b),
		NS:     collectionName,
		Client: rapid.IntRange(0, 2).Draw(t, "client"),
		Key:    int64(rapid.IntRange(0, b.Keys-1).Draw(t, "key")),
	}
	if rapid.IntRange(0, 9).Draw(t, "scan") == 9 {
		o.Kind, o.Batch = scenario.Scan, 3
		o.To = int64(rapid.IntRange(int(o.Key)+1, b.Keys).Draw(t, "to"))
		return o
	}
	o.Kind = rapid.SampledFrom(kindsByKey[int(o.Key)%len(kindsByKey)]).Draw(t, "kind")
	if o.Kind.Writes() {
		o.Value = fmt.Sprintf("w%d", id)
	}
	if o.Kind == scenario.CAS && rapid.Bool().Draw(t, "expect a write") {
		o.Expect = fmt.Sprintf("w%d", rapid.IntRange(1, id).Draw(t, "expect"))
	}
	return o
}

func drawMove(t *rapid.T, b Bounds, id int) scenario.Migration {
	m := scenario.Migration{
		ID: id,
		At: drawTime(t, b),
		NS: collectionName,
		To: rapid.IntRange(0, 1).Draw(t, "to"),
	}
	half := int64(b.Keys / 2)
	m.Min, m.Max = scenario.MinKey, half
	if rapid.Bool().Draw(t, "upper half") {
		m.Min, m.Max = half, scenario.MaxKey
	}
	return m
}

func drawFault(t *rapid.T, b Bounds, id int, top scenario.Topology) scenario.Fault {
	kind := rapid.SampledFrom(faults.All()).Draw(t, "fault")
	space := faults.Space{Topology: top, To: b.Span, Migrations: b.Migrations}
	return faults.Plan(kind, id, space, func(_ string, n int) int {
		return int(rapid.Uint64().Draw(t, "answer") % uint64(n))
	})
}
