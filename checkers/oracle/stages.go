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
	Promise: "A DDL operation goes through its steps in order: block, change the catalog " +
		"and the shards, allow migrations, release. A shard drops or renames the " +
		"collection only after every shard blocks it and the catalog has changed. A new " +
		"collection enters the catalog only after its owners have created it. Migrations " +
		"are allowed again, and the collection is released, only after every shard has " +
		"made the change. Except for a creation, every shard first reports that its " +
		"migrations of the collection have ended (in 4.2, a second time after all shards " +
		"have done so), and no step but the release is requested while such a migration " +
		"runs. No shard joins or leaves the cluster before the release is complete.",
	Signatures: verdict.Meanings{
		stageTooEarly: "a step of an operation was requested, or the catalog changed, before the " +
			"step that it rests on was complete, while a migration of the collection ran, or " +
			"when a shard could still take part in one; or a shard joined or left the cluster " +
			"before all had released the collection",
	},
}

const stageTooEarly verdict.Signature = "operation-step-too-early"

var _ = declare(120, stagesRule, func(o *Oracle) hooks {
	o.stages = &stages{
		Oracle: o, newest: map[string]*operation{}, joins: map[string]*joinsOf{},
	}
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
	joins  map[string]*joinsOf   // by collection, while migrations of it are forbidden
}

// operation is the newest operation on a collection.
type operation struct {
	OperationStep
	// taken are the shards that have answered a step.
	taken map[Step][]string
	// blocked: all shards block the collection. changed: the catalog was changed after that.
	// releases: the first shard was asked to release it. over: all shards have. joined: nothing
	// took part in a migration when the first step was requested.
	blocked, changed, releases, over, joined bool
}

// StepAsked judges a request for a step when it is sent.
func (o *Oracle) StepAsked(by string, s OperationStep) {
	op := o.stages.operation(s)
	if op == nil {
		return
	}
	what := fmt.Sprintf("%s asks shards to %s %s", by, s.Step, s.NS)
	op.releases = op.releases || s.Step == ReleaseStep
	if s.Step != ReleaseStep {
		o.stages.judgeJoins(op, by, what)
	}
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

// joinsOf are the shards that have answered that their migrations of a collection have ended: at
// first, and to a request that was sent when all had.
type joinsOf struct {
	first, again []string
	// all is when the last one of the first answers came, 0 before.
	all int64
}

// JoinAnswered notes such an answer to a primary of the config server, and when that had asked.
func (o *Oracle) JoinAnswered(by, shard, ns string, sent int64) {
	r := o.stages
	if !r.world.LatestCluster().Knows() || r.world.Set(model.Config).Leader != by {
		return
	}
	j := r.joins[ns]
	if j == nil {
		j = &joinsOf{}
		r.joins[ns] = j
	}
	if j.all != 0 && sent >= j.all {
		j.again = append(j.again, shard)
		return
	}
	if j.first = append(j.first, shard); j.all == 0 && len(r.beyond(j.first)) == 0 {
		j.all = o.causes.now
	}
}

// judgeJoins judges the first request for a step. Who is asked while a migration still runs may be
// made its recipient later; a donor of 8.0 ends after its recipient, but one of 4.2 may give up
// while that is about to begin. A new collection has no migrations.
func (r *stages) judgeJoins(op *operation, by, what string) {
	if op.joined || op.Change == CreateStep || r.world.Set(model.Config).Leader != by {
		return
	}
	op.joined = true
	for _, ns := range []string{op.NS, op.To} {
		if r.world.Latest(ns) == nil {
			continue
		}
		j := r.joins[ns]
		if j == nil {
			j = &joinsOf{}
		}
		if left := r.beyond(append(slices.Clone(j.first), j.again...)); len(left) > 0 {
			r.tooEarly(op, what, fmt.Sprintf("%s has not answered that its migrations of %s have ended",
				strings.Join(left, ", "), ns))
		} else if left := r.beyond(j.again); len(left) > 0 && r.older() {
			r.tooEarly(op, what, fmt.Sprintf("%s has not been asked whether it takes part in a "+
				"migration of %s since no donor was left", strings.Join(left, ", "), ns))
		}
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
		if op.over = op.over || s.Step == ReleaseStep; op.over {
			delete(o.stages.joins, op.NS)
		}
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
func (r *stages) without(op *operation, step Step) []string { return r.beyond(op.taken[step]) }

// beyond lists the shards of the cluster that are not among these.
func (r *stages) beyond(these []string) []string {
	return slices.DeleteFunc(r.world.LatestCluster().Shards(), func(shard string) bool {
		return slices.Contains(these, shard)
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
	delete(r.joins, e.NS)
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
