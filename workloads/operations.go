package workloads

import (
	"fmt"
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
	return []Operations{drain, zones, window, stops, modes, details, exempt, reshape, limits, defragmentation}
}

var drain = Operations{
	Name: "shard-removal", About: "a shard with data is removed, and usually added again",
	draw: func(p *operationsPlan) (all []scenario.Command) {
		if !p.Remove {
			return nil
		}
		shard := p.shard("shard")
		out, in := p.two("drain")
		all = append(all, scenario.Command{At: out, Do: commandkind.RemoveShard, Name: shard})
		if p.chance("again", 70) {
			all = append(all, scenario.Command{At: in, Do: commandkind.AddShard, Name: shard})
		}
		return all
	},
}

var zones = Operations{
	Name:  "zones",
	About: "a range is assigned to a zone of two shards, which then changes, and usually ends",
	draw: func(p *operationsPlan) (all []scenario.Command) {
		zone, c := p.one("zone", "east", "west"), p.collection("zoned")
		first, second, third := p.shard("first"), p.shard("second"), p.shard("third")
		begin, end := p.two("zones")
		lo, hi := p.span(c)
		all = []scenario.Command{
			{At: begin, Do: commandkind.ZoneAdd, Name: first, Value: zone},
			{
				At:    begin,
				Do:    commandkind.ZoneAdd,
				Name:  second,
				Value: zone,
			}, {
				At:    begin + 20*time.Millisecond,
				Do:    commandkind.ZoneRange,
				Name:  c.NS,
				Min:   lo,
				Max:   hi,
				Value: zone,
			},
		}
		if p.chance("moves on", 60) {
			at := (begin + end) / 2
			all = append(all, scenario.Command{
				At:    at,
				Do:    commandkind.ZoneAdd,
				Name:  third,
				Value: zone,
			}, scenario.Command{At: at, Do: commandkind.ZoneRemove, Name: first, Value: zone})
		}
		if p.chance("ends", 60) {
			all = append(all, scenario.Command{
				At:    end,
				Do:    commandkind.ZoneRange,
				Name:  c.NS,
				Min:   lo,
				Max:   hi,
				Value: commandkind.NoZone,
			})
		}
		if hi != scenario.MaxKey && p.chance("another beside it", 50) {
			all = append(all, p.beside(begin, hi, zone, third, c)...)
		}
		return all
	},
}

// beside gives the range that begins where another ends to the other zone: each belongs to its own,
// the key between them to the second.
func (p *operationsPlan) beside(
	at time.Duration, from int64, zone, shard string, c *scenario.Collection,
) []scenario.Command {
	other := "east"
	if zone == other {
		other = "west"
	}
	to := p.key("end of the other", c)
	if to <= from {
		to = scenario.MaxKey
	}
	return []scenario.Command{
		{At: at, Do: commandkind.ZoneAdd, Name: shard, Value: other},
		{
			At:    at + 20*time.Millisecond,
			Do:    commandkind.ZoneRange,
			Name:  c.NS,
			Min:   from,
			Max:   to,
			Value: other,
		},
	}
}

// Windows are active windows with a time just before each of their bounds, and one within: how far
// east of UTC a server stands for which a run begins there.
var Windows = []struct {
	Window string
	Near   []time.Duration
}{
	{
		"23:00-7:00", []time.Duration{
			23*time.Hour - time.Second, 7*time.Hour - time.Second, 24*time.Hour - time.Second,
			2 * time.Hour, 12 * time.Hour,
		},
	},
	{
		"9:00-17:00", []time.Duration{
			9*time.Hour - time.Second, 17*time.Hour - time.Second, 12 * time.Hour, -11 * time.Hour,
		},
	},
	{"0:00-0:01", []time.Duration{24*time.Hour - time.Second, 59 * time.Second, -time.Second}},
	{
		"22:00-0:00", []time.Duration{
			24*time.Hour - time.Second, 22*time.Hour - time.Second, 23 * time.Hour,
		},
	},
}

var window = Operations{
	Name: "balancing-window",
	About: "the balancer gets an active window, and usually loses it again; servers may be in " +
		"different time zones",
	draw: func(p *operationsPlan) (all []scenario.Command) {
		set, unset := p.two("window")
		w := Windows[p.pick("which window", len(Windows))].Window
		all = append(all, p.setting(set, scenario.Setting{Name: "activeWindow", Value: w}))
		if p.chance("unset", 70) {
			all = append(all, p.setting(unset,
				scenario.Setting{Name: "activeWindow", Value: commandkind.NoValue}))
		}
		return all
	},
}

var stops = Operations{
	Name:  "balancer-stops",
	About: "the balancer is stopped and started",
	draw: func(p *operationsPlan) (all []scenario.Command) {
		for n := range 1 + p.pick("stops", 3) {
			stop, start := p.two(fmt.Sprintf("stop %d", n))
			all = append(all, scenario.Command{At: stop, Do: commandkind.BalancerStop},
				scenario.Command{At: start, Do: commandkind.BalancerStart})
		}
		return all
	},
}

var modes = Operations{
	Name:  "balancer-modes",
	About: "the balancer only splits, or is disabled without waiting for it",
	draw: func(p *operationsPlan) []scenario.Command {
		off, on := p.two("modes")
		return []scenario.Command{
			p.setting(off, scenario.Setting{
				Name:  "mode",
				Value: p.one("mode", "autoSplitOnly", "off"),
			}),
			p.setting(on, scenario.Setting{Name: "mode", Value: "full"}),
		}
	},
}

var details = Operations{
	Name:  "balancer-options",
	About: "migrations wait for secondaries or deletions; the chunk size changes",
	draw: func(p *operationsPlan) []scenario.Command {
		at, later := p.two("details")
		size := p.one("size", "150", "300", "600", "1200")
		return []scenario.Command{
			p.setting(at, scenario.Setting{
				Name:  "throttle",
				Value: p.one("throttle", "true", "false", "majority", "3"),
			},
				scenario.Setting{Name: "waitForDelete", Value: p.one("wait", "true", "false")},
				scenario.Setting{Name: "jumbo", Value: p.one("jumbo", "true", "false")}),
			{
				At:     later,
				Do:     commandkind.PutSetting,
				Name:   "chunksize",
				Fields: []scenario.Setting{{Name: "bytes", Value: size}},
			},
			{
				At:   at,
				Do:   commandkind.PutSetting,
				Name: "autosplit",
				Fields: []scenario.Setting{{
					Name:  "enabled",
					Value: p.one("autosplit", "true", "true", "false"),
				}},
			},
		}
	},
}

var exempt = Operations{
	Name: "balancing-disabled",
	About: "balancing of one collection is disabled for a while, as may be automatic merges (8.0); " +
		"its chunk size changes",
	draw: func(p *operationsPlan) []scenario.Command {
		off, on := p.two("exempt")
		c := p.collection("exempted")
		return append(p.unmerged(c, off, on), []scenario.Command{
			{
				At:    off,
				Do:    commandkind.ChunkSize,
				Name:  c.NS,
				Value: p.one("own size before", "150", "300", "600"),
			},
			{At: off, Do: commandkind.Balance, Name: c.NS, Value: "off"},
			{
				At:    on,
				Do:    commandkind.Balance,
				Name:  c.NS,
				Value: "on",
			}, {
				At:    on,
				Do:    commandkind.ChunkSize,
				Name:  c.NS,
				Value: p.one("own size", "0", "200", "800"),
			},
		}...)
	},
}

// unmerged has no chunks of a collection merged automatically for a while.
func (p *operationsPlan) unmerged(c *scenario.Collection, off, on time.Duration) []scenario.Command {
	if p.Older || !p.chance("unmerged", 50) {
		return nil
	}
	return []scenario.Command{
		{At: off, Do: commandkind.AutoMerge, Name: c.NS, Value: "off"},
		{At: on, Do: commandkind.AutoMerge, Name: c.NS, Value: p.one("merged", "on", "on", "off")},
	}
}

var limits = Operations{
	Name:  "shard-limits",
	About: "shards get a limit of their data, and mostly lose it again (4.2)",
	older: true,
	draw: func(p *operationsPlan) (all []scenario.Command) {
		for n := range 1 + p.pick("limits", 2) {
			who := fmt.Sprintf("limit %d", n)
			shard := p.shard(who)
			set, unset := p.two(who)
			all = append(all, scenario.Command{
				At: set, Do: commandkind.ShardLimit, Name: shard,
				Value: p.one(who+" size", "100", "400", "900", "2000"),
			})
			if p.chance(who+" ends", 60) {
				all = append(all, scenario.Command{
					At: unset, Do: commandkind.ShardLimit, Name: shard, Value: "0",
				})
			}
		}
		return all
	},
}

var reshape = Operations{
	Name:  "split-and-merge",
	About: "chunks are split, merged and cleared of jumbo flags while they move",
	draw: func(p *operationsPlan) (all []scenario.Command) {
		c := p.collection("reshaped")
		for n := range 1 + p.pick("splits", 4) {
			at, _ := p.two(fmt.Sprintf("split %d", n))
			all = append(all, scenario.Command{
				At:   at,
				Do:   commandkind.SplitChunk,
				Name: c.NS,
				Min:  p.key(fmt.Sprintf("cut %d", n), c),
			})
		}
		at, later := p.two("merge")
		lo, hi := p.span(c)
		all = append(all, scenario.Command{
			At:   at,
			Do:   commandkind.MergeChunks,
			Name: c.NS,
			Min:  lo,
			Max:  hi,
		},
			scenario.Command{
				At:   later,
				Do:   commandkind.ClearJumboFlag,
				Name: c.NS,
				Min:  p.key("marked", c),
			})
		return all
	},
}

// While a collection is defragmented it is, often, set otherwise before that can have ended: the
// end writes the collection's document, where all of these are.
var defragmentation = Operations{
	Name:  "defragmentation",
	About: "a collection is defragmented, and its balancing changes meanwhile (8.0)",
	newer: true,
	draw: func(p *operationsPlan) []scenario.Command {
		at, _ := p.two("defragmented")
		return p.defragment(at, p.collection("defragmented"))
	},
}

func (p *operationsPlan) defragment(
	at time.Duration, c *scenario.Collection,
) []scenario.Command {
	all := []scenario.Command{
		{At: at, Do: commandkind.Defragment, Name: c.NS, Value: "on"},
	}
	for n := range p.pick("settings of the defragmented", 4) {
		who := fmt.Sprintf("setting %d of the defragmented", n)
		at += time.Duration(p.pick(who+" at", 150)) * time.Millisecond
		set := scenario.Command{
			At: at, Do: commandkind.Balance, Name: c.NS, Value: p.one(who, "off", "on"),
		}
		if p.chance(who+" is a size", 40) {
			set.Do, set.Value = commandkind.ChunkSize, p.one(who+" size", "150", "600")
		}
		all = append(all, set)
	}
	return all
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
