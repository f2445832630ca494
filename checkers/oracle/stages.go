package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// stagesRule is operation-stages (protocol 15, H-15, H-73).
var stagesRule = verdict.Checker{
	Name: "operation-stages",
	Promise: "An operation on a whole collection takes its steps in order. Shards drop or rename " +
		"the collection only when all of them block it and the catalog has been changed. A new " +
		"collection enters the catalog only when its owners have created it. Migrations are " +
		"allowed again, and the collection is released, only when all shards have made the " +
		"change. Until the release, no step is requested while a migration of the collection " +
		"runs, and no shard joins or leaves the cluster.",
	Signatures: verdict.Meanings{
		stageTooEarly: "a step of an operation was requested, or the catalog changed, before the " +
			"step that it rests on was complete, or while a migration of the collection ran; or " +
			"a shard joined or left the cluster before all had released the collection",
	},
}

const stageTooEarly verdict.Signature = "operation-step-too-early"

var _ = declare(120, stagesRule, func(o *Oracle) hooks {
	o.stages = &stages{Oracle: o, newest: map[string]*operation{}}
	return hooks{event: o.stages.judge, administered: o.stages.membership}
})

// OperationStep is a step that the config server asks a shard to take, in an operation on a whole
// collection.
type OperationStep struct {
	// NS is the collection; To is its name after a rename, empty for another operation.
	NS, To string
	// Operation numbers the operations on a collection, increasing.
	Operation int64
	// Step is the step, Change the one by which the operation has shards change the collection.
	Step, Change Step
}

// Step is what the operation has a shard do.
type Step string

// The steps. An operation on an index does not block the collection.
const (
	BlockStep   Step = "block"
	CreateStep  Step = "create"
	DropStep    Step = "drop"
	RenameStep  Step = "rename"
	IndexStep   Step = "change an index of"
	ReleaseStep Step = "release"
)

// stages is the memory of stagesRule.
type stages struct {
	*Oracle
	newest map[string]*operation // by collection
}

// operation is the newest operation on a collection.
type operation struct {
	OperationStep
	// taken are the shards that have answered a step.
	taken map[Step][]string
	// blocked: all shards block the collection. changed: the catalog was changed after that.
	// releases: the first shard was asked to release it. over: all shards have.
	blocked, changed, releases, over bool
}

// StepAsked judges a request for a step when it is sent.
func (o *Oracle) StepAsked(by string, s OperationStep) {
	op := o.stages.operation(s)
	if op == nil {
		return
	}
	what := fmt.Sprintf("%s asks shards to %s %s", by, s.Step, s.NS)
	op.releases = op.releases || s.Step == ReleaseStep
	if running := o.stages.running(op, by); running != "" && s.Step != ReleaseStep {
		o.stages.tooEarly(op, what, fmt.Sprintf("migration %s of the collection still runs", running))
	}
	switch {
	case s.Step == CreateStep && !op.blocked:
		o.stages.tooEarly(op, what, "not every shard blocks it")
	case (s.Step == DropStep || s.Step == RenameStep) && !op.changed:
		o.stages.tooEarly(op, what, "the catalog has not been changed since all shards block it")
	case s.Step == ReleaseStep && op.changes():
		o.stages.demand(op, s.Change, what)
	}
}

// running is a migration of the operation's collections that has begun to clone and has not ended,
// empty for none: migrations are forbidden first, and those that had begun are waited for. What a
// donor had begun that has another primary since, this one ends. A collection that is being made
// has none when the operation begins; begun again, it may have, and shards have been released. What
// a deposed primary of the config server still asks for, shards have done.
func (r *stages) running(op *operation, by string) string {
	if op.Change == CreateStep || r.world.Set(model.Config).Leader != by {
		return ""
	}
	for _, id := range slices.Sorted(maps.Keys(r.moves)) {
		m := r.moves[id]
		if m.cloning != 0 && !m.done && !m.reported && (m.ns == op.NS || m.ns == op.To) &&
			m.life == r.lives[m.ns] && r.elections[m.from] < m.began &&
			r.world.Set(m.from).Leader == m.by && !r.down[m.by] {
			return id
		}
	}
	return ""
}

// changes reports whether the operation has shards change the collection: a creation or a rename
// may be refused before. Who has to create one the catalog says.
func (op *operation) changes() bool {
	return op.Change != CreateStep && (op.changed || op.Change != RenameStep)
}

// StepTaken notes that a shard has answered a request for a step.
func (o *Oracle) StepTaken(shard string, s OperationStep) {
	op := o.stages.operation(s)
	if op == nil || slices.Contains(op.taken[s.Step], shard) {
		return
	}
	op.taken[s.Step] = append(op.taken[s.Step], shard)
	if len(o.stages.without(op, s.Step)) == 0 {
		op.blocked = op.blocked || s.Step == BlockStep
		op.over = op.over || s.Step == ReleaseStep
	}
}

// operation is the one that a step belongs to, nil when it is over or there is a newer one.
func (r *stages) operation(s OperationStep) *operation {
	if !r.world.LatestCluster().Knows() {
		return nil
	}
	op := r.newest[s.NS]
	if op == nil || op.Operation < s.Operation {
		op = &operation{OperationStep: s, taken: map[Step][]string{}}
		r.newest[s.NS] = op
	}
	if op.Operation > s.Operation || op.over {
		return nil
	}
	return op
}

// without lists the shards of the cluster that have not taken a step.
func (r *stages) without(op *operation, step Step) []string {
	return slices.DeleteFunc(r.world.LatestCluster().Shards(), func(shard string) bool {
		return slices.Contains(op.taken[step], shard)
	})
}

// judge follows what operations change in the catalog.
func (r *stages) judge(e *trace.Event) {
	if e.Kind != trace.CatalogWritten || !r.world.Set(e.Shard).Leads(e) {
		return
	}
	op := r.newest[e.NS]
	switch {
	case e.Change() == trace.AllowsMigrations:
		r.allowed(e)
	case op == nil || op.over:
	case e.Change() == trace.Dropped: // of a rename, too
		op.changed = op.changed || op.blocked
	case op.Change == CreateStep && r.world.Latest(e.NS) == nil:
		r.created(op, e)
	}
}

// membership: an operation goes from shard to shard, and relies on their being the same until all
// have released the collection. It is on record before its first step, so that adding or removing a
// shard after that finds the record.
func (r *stages) membership(e *trace.Event) {
	change := e.ClusterChange()
	if e.Kind != trace.ClusterChanged || change != trace.ShardAdded && change != trace.ShardRemoved {
		return
	}
	for _, ns := range slices.Sorted(maps.Keys(r.newest)) {
		if op := r.newest[ns]; !op.over {
			r.tooEarly(op, fmt.Sprintf("%s joins the cluster or leaves it", e.Peer),
				"the collection is not released by "+strings.Join(r.without(op, ReleaseStep), ", "))
		}
	}
}

// created: who owns chunks of a new collection has it, and all shards block it.
func (r *stages) created(op *operation, e *trace.Event) {
	what := fmt.Sprintf("%s enters %s into the catalog", e.Node, e.NS)
	if op.releases {
		r.tooEarly(op, what, "shards have been asked to release it")
		return
	}
	for _, c := range e.Chunks {
		if !slices.Contains(op.taken[CreateStep], c.Shard) {
			r.tooEarly(op, what,
				c.Shard+" owns chunks of it, and has not created it")
			return
		}
	}
}

// allowed: migrations find on every shard what the operation has made of the collection.
func (r *stages) allowed(e *trace.Event) {
	for _, ns := range slices.Sorted(maps.Keys(r.newest)) {
		op := r.newest[ns]
		if !op.over && (ns == e.NS || op.To == e.NS) && op.changes() {
			r.demand(op, op.Change, fmt.Sprintf("%s allows migrations of %s", e.Node, e.NS))
		}
	}
}

// demand reports what is done before every shard has taken a step.
func (r *stages) demand(op *operation, step Step, what string) {
	if left := r.without(op, step); len(left) > 0 {
		r.tooEarly(op, what, fmt.Sprintf("%s has not answered the request to %s it",
			strings.Join(left, ", "), step))
	}
}

func (r *stages) tooEarly(op *operation, what, because string) {
	r.report(stagesRule, verdict.Violation{
		Signature: stageTooEarly, NS: op.NS, Broke: what,
		Because: []string{because, fmt.Sprintf("operation %d on %s", op.Operation, op.NS)},
	}, r.step)
}

// shown is the name of a state, or that there is none.
func shown(name string) string {
	if name == "" {
		return "in no state"
	}
	return name
}

// wasIn says in which state a party was, of the name of that; empty for none.
func wasIn(name string) string {
	if name == "" {
		return "it had been in no state since its primary was elected"
	}
	return "it was in state " + name
}

// names lists the states of the set.
func names[T interface {
	~uint8
	String() string
}](set stateSet, all []T) (list string) {
	for _, s := range all {
		if set&setOf(s) != 0 && list != "" {
			list += " or "
		}
		if set&setOf(s) != 0 {
			list += s.String()
		}
	}
	return list
}
