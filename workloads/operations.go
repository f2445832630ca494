package workloads

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// OperationsParams say what operators do to a cluster whose balancer runs.
type OperationsParams struct {
	Collections []scenario.Collection
	Shards      int
	// Count stories are drawn, between Start and End.
	Count      int
	Start, End time.Duration
	// Remove allows shards to be removed. 4.2 does not know what came later.
	Remove, Older bool
}

// Operations is something that operators do, of several commands.
type Operations struct {
	Name, About string
	// older stories are of what only 4.2 knows, newer ones of what it does not know.
	older, newer bool
	draw         func(p *operationsPlan) []scenario.Command
}

// OperationsCatalog is everything that operators do, in the order in which it is listed.
func OperationsCatalog() []Operations {
	return []Operations{
		drain, zones, window, stops, modes, details, exempt, reshape, limits, defragmentation,
	}
}

// DrawOperations plans what operators do, ordered by time.
func DrawOperations(source Source, p OperationsParams) (all []scenario.Command) {
	catalog := OperationsCatalog()
	for n := range p.Count {
		plan := &operationsPlan{p, source, n}
		all = append(all, keyed.Choose(plan.pick, "story", catalog,
			plan.likelihood).draw(plan)...)
	}
	slices.SortStableFunc(all, func(a, b scenario.Command) int {
		return int(min(max(a.At-b.At, -1), 1))
	})
	return all
}

func (p *operationsPlan) likelihood(o Operations) (name string, weight int) {
	if o.older && !p.Older || o.newer && p.Older {
		return o.Name, 0
	}
	return o.Name, 1
}

// operationsPlan is one story being drawn.
type operationsPlan struct {
	OperationsParams
	source Source
	number int
}

func (p *operationsPlan) pick(what string, n int) int {
	return p.source("operations/"+strconv.Itoa(p.number)+"/"+what, n)
}

func (p *operationsPlan) chance(what string, percent int) bool {
	return p.pick(what, 100) < percent
}

func (p *operationsPlan) one(what string, of ...string) string { return of[p.pick(what, len(of))] }

func (p *operationsPlan) shard(what string) string {
	return scenario.ShardName(p.pick(what, p.Shards))
}

func (p *operationsPlan) collection(what string) *scenario.Collection {
	return &p.Collections[p.pick(what, len(p.Collections))]
}

// two are two times, the second after the first. The first is mostly early, when there is most to
// be moved.
func (p *operationsPlan) two(what string) (first, second time.Duration) {
	span := int((p.End - p.Start) / time.Millisecond)
	a := p.pick(what+" at", span)
	if p.chance(what+" early", 60) {
		a /= 5
	}
	b := a + p.pick(what+" for", span-a) + 1
	return p.Start + time.Duration(a)*time.Millisecond, p.Start + time.Duration(b)*time.Millisecond
}

// key is a bound of the collection: of a hashed one somewhere among the hashes.
func (p *operationsPlan) key(what string, c *scenario.Collection) int64 {
	k := int64(p.pick(what, c.Keys-1)) + 1
	if c.Hashed {
		return math.MinInt64 + k*(math.MaxInt64/int64(c.Keys)*2)
	}
	return k
}

// span is a range of the collection between bounds, or to its end.
func (p *operationsPlan) span(c *scenario.Collection) (lo, hi int64) {
	lo, hi = p.key("from", c), p.key("to", c)
	if len(c.Bounds) > 0 && p.chance("from a bound", 60) {
		lo = c.Bounds[p.pick("from", len(c.Bounds))]
	}
	if lo >= hi {
		return scenario.MinKey, lo
	}
	return lo, hi
}

// setting sets fields of the balancer's document.
func (p *operationsPlan) setting(at time.Duration, fields ...scenario.Setting) scenario.Command {
	return scenario.Command{At: at, Do: commandkind.PutSetting, Name: "balancer", Fields: fields}
}
