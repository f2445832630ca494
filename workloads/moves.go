package workloads

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/listed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// MoveParams say how many migrations to draw, and for which collection.
type MoveParams struct {
	Collection scenario.Collection
	Shards     int
	// Count migrations start from Start on. Each starts Gap after the one before, more or less by
	// half: a short gap makes them meet, which is wanted now and then.
	Count      int
	Start, Gap time.Duration
	// WaitDelete is how many percent of the migrations wait for the deletion of what they left
	// behind.
	WaitDelete int
	// Operator is how many percent of the migrations ask for a write concern on the recipient, or
	// for chunks that are too big to move nevertheless.
	Operator int
	// Open is how many percent leave one end of the range to the donor, which 4.2 knows nothing of.
	Open    int
	FirstID int
}

// Moves is one pattern of migrations.
type Moves struct {
	Name, About string
	draw        func(p *movePlan) (piece int, r interval)
}

var declaredMoves listed.Entries[Moves]

// declareMoves adds a pattern. It is called from package-level variables only. The place must be
// free.
func declareMoves(place int, m Moves) Moves { return declaredMoves.Declare(place, m) }

// MoveCatalog is every pattern, in the order in which they are listed.
func MoveCatalog() []Moves { return declaredMoves.All() }

var _ = declareMoves(10, Moves{
	Name: "ping-pong",
	About: "one chunk moves back and forth between two shards, and returns while its orphans are " +
		"being deleted",
	draw: func(p *movePlan) (int, interval) {
		i := p.favourite()
		return i, p.pieces[i].interval
	},
})

var _ = declareMoves(20, Moves{
	Name:  "sub-ranges",
	About: "parts of chunks move, which splits the chunks, and some parts come back",
	draw: func(p *movePlan) (int, interval) {
		i := p.pick("piece", len(p.pieces))
		return i, p.inside(p.pieces[i].interval)
	},
})

var _ = declareMoves(30, Moves{
	Name:  "random-moves",
	About: "random chunks move to random shards",
	draw: func(p *movePlan) (int, interval) {
		i := p.pick("piece", len(p.pieces))
		return i, p.pieces[i].interval
	},
})

// DrawMoves plans p.Count migrations after one pattern, ordered by start time. It assumes that
// earlier ones succeed; one that failed makes a later one a move to where the range already is,
// which must do no harm. p.Shards is at least 2.
func DrawMoves(source Source, p MoveParams, m Moves) []scenario.Migration {
	plan := &movePlan{MoveParams: p, source: source, pieces: initialPieces(p)}
	moves := make([]scenario.Migration, p.Count)
	at := p.Start
	for n := range moves {
		plan.id = p.FirstID + n
		i, r := m.draw(plan)
		to := plan.destination(plan.pieces[i].shard)
		moves[n] = scenario.Migration{
			ID: plan.id, At: at, NS: p.Collection.NS, Min: r.min, Max: r.max, To: to,
			WaitDelete: plan.pick("wait", 100) < p.WaitDelete,
		}
		plan.wishes(&moves[n])
		plan.carve(i, r, to)
		at += p.Gap/2 + time.Duration(int64(p.Gap)*int64(plan.pick("gap", 1000))/1000)
	}
	return moves
}

// movesByKey is how many percent of the migrations are of the chunk that has a key.
const movesByKey = 8

// wishes are what an operator may ask for beside the move itself.
func (p *movePlan) wishes(m *scenario.Migration) {
	if p.pick("throttled", 100) < p.Operator {
		m.Throttle = []string{"1", "2", "3", "majority"}[p.pick("throttle", 4)]
	}
	if p.pick("left open", 100) < p.Open {
		m.Open = []string{"min", "max"}[p.pick("open end", 2)]
	}
	if p.pick("by a key", 100) < movesByKey {
		m.Open = scenario.OpenChunk
	}
	if p.pick("forced", 100) < p.Operator {
		m.ForceJumbo = []string{"manual", "balancer"}[p.pick("force", 2)]
	}
}

type interval struct{ min, max int64 }

// piece is a chunk as the plan expects it.
type piece struct {
	interval
	shard int
}

// movePlan is a plan being drawn. pieces are ordered and cover the key space.
type movePlan struct {
	MoveParams
	source Source
	id     int
	pieces []piece
}

func (p *movePlan) pick(what string, n int) int {
	return p.source(fmt.Sprintf("move/%d/%s", p.id, what), n)
}

func initialPieces(p MoveParams) []piece {
	var pieces []piece
	from := int64(scenario.MinKey)
	for i, bound := range append(slices.Clone(p.Collection.Bounds), scenario.MaxKey) {
		pieces = append(pieces, piece{interval{from, bound}, i % p.Shards})
		from = bound
	}
	return pieces
}

// favourite is mostly one piece, which the plan draws once, and now and then another.
func (p *movePlan) favourite() int {
	n := len(p.pieces)
	if p.pick("elsewhere", 100) < 20 {
		return p.pick("piece", n)
	}
	return p.source("move/favourite", n)
}

// destination is another shard: mostly the next or the first one, so that ranges come back.
func (p *movePlan) destination(from int) int {
	other := p.source("move/partner", p.Shards-1)
	if p.pick("third", 100) < 25 {
		other = p.pick("to", p.Shards-1)
	}
	if other >= from {
		other++
	}
	return other
}

// inside is a part of the interval with its ends among the keys in use, or all of it when that
// leaves no room.
func (p *movePlan) inside(in interval) interval {
	lo, hi := in.min, in.max
	if !p.Collection.Hashed {
		lo, hi = max(lo, 0), min(hi, int64(p.Collection.Keys))
	}
	room := width(lo, hi)
	if room < 2 {
		return in
	}
	from := lo + int64(p.pick("from", room-1))
	to := from + 1 + int64(p.pick("width", width(from, hi)))
	if p.pick("open", 100) < 30 {
		to = in.max
	}
	return interval{from, to}
}

// width is hi-lo, at least 0 and cut to what a source can draw from.
func width(lo, hi int64) int {
	if hi <= lo {
		return 0
	}
	return int(min(uint64(hi)-uint64(lo), math.MaxInt32))
}

// carve gives r, a part of piece i, to the shard.
func (p *movePlan) carve(i int, r interval, shard int) {
	whole := p.pieces[i]
	var parts []piece
	if whole.min < r.min {
		parts = append(parts, piece{interval{whole.min, r.min}, whole.shard})
	}
	parts = append(parts, piece{r, shard})
	if r.max < whole.max {
		parts = append(parts, piece{interval{r.max, whole.max}, whole.shard})
	}
	p.pieces = slices.Replace(p.pieces, i, i+1, parts...)
}
