// Package oracle judges a run while it happens, event by event, knowing everything that happens
// inside: the promises that no client could check from outside.
//
// A rule is one file: it declares its checker, its signatures, and what it looks at (single events,
// commits of the catalog that a majority has, changes of the cluster).
//
//	var locking = verdict.Checker{Name: "locking", Promise: "No two migrations hold one lock.", ...}
//
//	var _ = declare(110, locking, func(o *Oracle) hooks { return hooks{event: o.judgeLocking} })
//
// The number is the rule's place in the list; a rule that needs memory of its own makes it in the
// function, which is called once for each Oracle.
//
// Promise: a violation is a proof in steps of the trace; what a deposed leader does alone is never
// one.
//
// Refusal: rules see events only, never the store, and change nothing about the run.
package oracle

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/shardproof/shardproof/checkers/batches"
	"github.com/shardproof/shardproof/checkers/changelog"
	"github.com/shardproof/shardproof/checkers/grounds"
	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/checkers/zoning"
	"github.com/shardproof/shardproof/histories/listed"
	"github.com/shardproof/shardproof/histories/trace"
)

// hooks are what a rule looks at; each may be nil.
type hooks struct {
	// event sees every event before the model takes it into account.
	event func(*trace.Event)
	// commit sees every write of the catalog at the moment at which a majority has it.
	commit func(*model.Write)
	// administered sees every change of the cluster's settings when a majority has it.
	administered func(*trace.Event)
}

// rule is a promise and who judges it.
type rule struct {
	checker verdict.Checker
	judge   func(*Oracle) hooks
}

// declaredRules are all rules; their places are also the order in which they judge.
var declaredRules listed.Entries[rule]

// declare adds a rule. It is called from package-level variables only. The place must be free.
func declare(place int, c verdict.Checker, judge func(*Oracle) hooks) rule {
	return declaredRules.Declare(place, rule{c, judge})
}

// Catalog is every rule's checker, in the order in which they are listed.
func Catalog() []verdict.Checker {
	var all []verdict.Checker
	for _, r := range declaredRules.All() {
		all = append(all, r.checker)
	}
	return all
}

// Oracle judges a run while it happens, knowing everything that happens inside. Give it every event
// from the first on.
type Oracle struct {
	world *model.World
	// moves are the migrations by identifier, nodes what single nodes hold now.
	moves map[string]*move
	nodes map[string]*node
	// processes are what the nodes' processes have done since they started.
	processes map[string]*process
	// down are the nodes that have crashed and not come back.
	down map[string]bool
	// open are the migrations whose donor has asked for the commit and whose outcome is not final,
	// oldest first.
	open []string
	// unfenced are commits that took effect behind the donor's back, or its recipient's; left is
	// when a shard last left the cluster.
	unfenced []damagingCommit
	left     map[string]uint64
	// lacking is what commits of movePrimary of 4.2 may have damaged by leaving a change or the
	// history of a session behind, or a copy. copying is, by shard and database, the latest
	// movePrimary that has begun to copy, remains what any has copied.
	lacking   []damagingCommit
	unmoved   []Unmoved
	copying   map[string]*primaryMove
	remains   []remain
	primaries map[string]*primaryMove
	homes     map[string]home
	// lookedUp is what a node goes by in a collection.
	lookedUp map[string]lookedUp
	// executions are by session, transaction and statement, lastExecuted by shard and session; twice
	// are those that happened again.
	executions   map[string]*execution
	lastExecuted map[string][]*execution
	twice        []Twice
	// early are writes that migrations have copied before a majority of the donor had them.
	early []copiedEarly
	// strays are by shard, namespace and document.
	strays map[string]stray
	// elections is the step of the newest election of each replica set, elected of each node.
	elections, elected map[string]uint64
	// killed is the step of the newest fault that may have ended a task, or had a step of one fail.
	killed uint64
	// drops is the step of the newest drop of each namespace, assured that of the newest write which
	// the config server has acknowledged to each node.
	drops, assured map[string]uint64
	// unsureOf are the primaries that found commits in progress when they took over, until they serve.
	unsureOf map[string]tookOver
	// dropped is the step at which the newest of these drops was written.
	dropped map[string]uint64
	// lives is the step at which the collection was made that has the name.
	lives map[string]uint64
	// identity is that under which a member has the collection of a name.
	identity func(node, ns string) string
	// same are the major versions from which on a shard has had the same ranges, by namespace.
	same map[string]map[string]model.Same
	// forbids says of which namespaces a majority of the config server forbids migrations.
	forbids map[string]bool

	// machine is the protocol that migrations follow, nil when nobody has said which.
	machine *migrationmodel.Model

	balancer balancer
	rounds   *rounds
	joined   *joined
	splits   *splits
	order    *order
	stages   *stages
	// batches is the memory of batchRule, nil when nobody has said what operators have set.
	batches *batches.Batches
	// changes are those that shards have asked the config server to record.
	changes *changelog.Log
	// awaited is the memory of who waits for deletions, parts says what a member does for migrations.
	awaited awaited
	parts   func(node string) []Part
	// leaves says whether a member takes nothing, as its shard leaves.
	leaves func(node string) bool
	// limits are the limits of the moment, nil when nobody says; causes is the memory of causeRule.
	limits func() Limits
	causes *causes
	// asked are the commands that have no answer yet.
	asked []*pendingCommand
	// past is what the catalog has said, by which refusals are judged.
	past grounds.Past
	// doubtful are the documents that a command without an acknowledgement may still change.
	doubtful map[string]bool
	zones    *zoning.Zones
	cutOff   func(node string) map[string]uint64
	// questions and statuses are what operators have asked and not been told yet.
	questions []*openQuestion
	statuses  []*openStatus
	extents   []*openExtents
	// changed is when a change of the catalog was last written, or known to be on a majority; 0 before
	// any.
	changed int64
	// faulty is set from the first fault on.
	faulty bool
	// services are those that operators have switched, by name.
	services map[string]*service
	// layouts say how collections are to be made.
	layouts map[string]Layout
	// plain are the names that may be those of unsharded collections, rekeyed are those of Rekeyed.
	plain   map[string]bool
	rekeyed map[string]bool
	// undefined is that of Undefined, isWhole that of WholeChanges.
	undefined func(has, other, ns string) []string
	isWhole   func(node string, index uint64) bool

	// listed are the rules by their places; the others are those of their hooks that are not nil.
	listed       []rule
	events       []func(*trace.Event)
	commits      []func(*model.Write)
	administered []func(*trace.Event)

	verdicts map[string]*verdict.Verdict
	broken   *verdict.Violation
	observed int
	returned returned
	show     func(key string) string
	// step is that of the event being judged.
	step uint64
}

// NewOracle returns an oracle that has seen nothing. show turns an encoded key into text for
// people; nil shows its bytes.
func New(key func(string) string) *Oracle {
	o := &Oracle{
		returned:   returned{open: map[string]int{}},
		world:      model.New(),
		moves:      map[string]*move{},
		primaries:  map[string]*primaryMove{},
		copying:    map[string]*primaryMove{},
		homes:      map[string]home{},
		lookedUp:   map[string]lookedUp{},
		nodes:      map[string]*node{},
		processes:  map[string]*process{},
		down:       map[string]bool{},
		drops:      map[string]uint64{},
		dropped:    map[string]uint64{},
		strays:     map[string]stray{},
		assured:    map[string]uint64{},
		elected:    map[string]uint64{},
		unsureOf:   map[string]tookOver{},
		doubtful:   map[string]bool{},
		elections:  map[string]uint64{},
		executions: map[string]*execution{},
		left:       map[string]uint64{},

		lastExecuted: map[string][]*execution{},
		lives:        map[string]uint64{},
		identity:     func(string, string) string { return "" },
		forbids:      map[string]bool{},
		same:         map[string]map[string]model.Same{},
		layouts:      map[string]Layout{},
		plain:        map[string]bool{},
		rekeyed:      map[string]bool{},
		services:     map[string]*service{},
		changes:      changelog.New(),
		awaited: awaited{
			map[string]sweep{}, map[string][]toldDone{}, map[string]bool{}, map[string]int{},
			map[string]bool{}, map[string]readyAt{}, map[string][]comingRange{},
		},
		verdicts: map[string]*verdict.Verdict{},
		show:     key,
		listed:   declaredRules.All(),
	}
	if key == nil {
		o.show = model.ShowKey
	}
	o.zones = o.followZones()
	for _, r := range o.listed {
		v := r.checker.Begin()
		o.verdicts[r.checker.Name] = &v
		o.hook(r.judge(o))
	}
	o.world.Committed, o.world.Administered = o.judgeCommit, o.judgeAdministered
	return o
}

func (o *Oracle) hook(h hooks) {
	if h.event != nil {
		o.events = append(o.events, h.event)
	}
	if h.commit != nil {
		o.commits = append(o.commits, h.commit)
	}
	if h.administered != nil {
		o.administered = append(o.administered, h.administered)
	}
}

// Limits are the shortest times after which something is given up, by what it is.
type Limits struct {
	// Cursor is how long a cursor stays open that nobody uses.
	Cursor time.Duration
	// Migration is the shortest of the waits of a donor or a recipient.
	Migration time.Duration
	// History is for how long the config server remembers at least where a chunk was.
	History time.Duration
	// Deletion is how long the range deleter waits before it begins.
	Deletion time.Duration
}

// Limit says what the limits are at the moment; without it, nothing is held against what is closed
// or given up for taking long.
func (o *Oracle) Limit(now func() Limits) { o.limits = now }

// slack is what a clock may go wrong: a limit counts as exceeded before its time, as on a node
// whose clock gains half as much again.
func slack(limit time.Duration) int64 { return int64(limit) * 2 / 3 }

// Making is how a collection is made by an operation: what is left to the config server. The zero
// value leaves nothing to it.
type Making uint8

// The ways.
const (
	AsBegun      Making = iota // as at the start
	Dealt                      // the chunks are given, and go to all shards that take chunks, in turn
	Placed                     // chunks and shards follow from zones, hashes and the database
	PlacedByHash               // the same, of a collection with a hashed key
)

// Layout is how a collection is to be made: at the start cut at the bounds and dealt to the shards
// in turn, later as Again says.
type Layout struct {
	Bounds, Shards []string
	Again          Making
	// Chunks is at least how many there are to be of one that is placed by hash; 0: two a shard.
	Chunks int
}

// Founds says how a collection is to be made, whichever client creates it and however often.
func (o *Oracle) Founds(ns string, as Layout) { o.layouts[ns] = as }

// Plain says that the name may be that of an unsharded collection, of which the catalog knows
// nothing: a write makes it.
func (o *Oracle) Plain(ns string) { o.plain[ns] = true }

// Rekeyed says that the shard key which an unsharded collection is given differs from the key by
// which events name its documents before: in which range an earlier write was cannot be told.
func (o *Oracle) Rekeyed(ns string) { o.rekeyed[ns] = true }

// Observe takes the next event.
func (o *Oracle) Observe(e *trace.Event) {
	o.step = e.Step
	o.observed++
	for _, judge := range o.events {
		judge(e)
	}
	o.follow(e)
	o.world.Observe(e)
	if e.Kind == trace.Elected {
		o.noteLostWrites(e)
	}
}

// Broken is the first violation, nil as long as every promise holds.
func (o *Oracle) Broken() *verdict.Violation { return o.broken }

// Verdicts are the conclusions of all rules on what was observed, in the order of the catalog.
func (o *Oracle) Verdicts() []verdict.Verdict {
	o.causes.settleIdle(math.MaxInt64)
	all := make([]verdict.Verdict, 0, len(o.listed))
	for _, r := range o.listed {
		v := *o.verdicts[r.checker.Name]
		v.Checked = o.observed
		if v.Checker == ownershipRule.Name {
			v.Checked += o.returned.judged
			v.Undecidable = maps.Clone(o.returned.open)
		}
		all = append(all, v)
	}
	return all
}

// report adds a violation at the current event; more are the steps that prove it.
func (o *Oracle) report(c verdict.Checker, v verdict.Violation, more ...uint64) {
	o.reportOf(c, v, append(more, o.step)...)
}

// reportOf adds a violation that these steps prove.
func (o *Oracle) reportOf(c verdict.Checker, v verdict.Violation, steps ...uint64) {
	for _, step := range steps {
		if step != 0 && !slices.Contains(v.Events, step) {
			v.Events = append(v.Events, step)
		}
	}
	o.verdicts[c.Name].Add(v)
	if o.broken == nil {
		o.broken = &v
	}
}

// Span is a range of encoded keys for people.
func (o *Oracle) Span(lo, hi string) string { return o.span(lo, hi) }

func (o *Oracle) span(lo, hi string) string { return "[" + o.show(lo) + ", " + o.show(hi) + ")" }

// judgeCommit judges what a majority of the config server has from now on.
func (o *Oracle) judgeCommit(w *model.Write) {
	for _, judge := range o.commits {
		judge(w)
	}
	o.settle(w)
	o.followDrop(w)
	o.followReshape(w)
	if id := w.Migration(); id != "" {
		if m := o.move(id); m.committed == 0 {
			m.committed, m.confirmed = o.step, o.causes.now
		}
	}
}

func (o *Oracle) judgeAdministered(e *trace.Event) {
	for _, judge := range o.administered {
		judge(e)
	}
}
