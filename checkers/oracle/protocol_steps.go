package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/checkers/migrationmodel/traced"
	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// protocolRule is protocol-steps (protocol 4, 5, 9, 10).
var protocolRule = verdict.Checker{
	Name: "protocol-steps",
	Promise: "Every migration goes only through steps that the protocol's state machine has: " +
		"what its parties do follows from what each of them has on record, knows and was told.",
	Signatures: verdict.Meanings{
		stepOutsideModel: "a step of a migration that the protocol does not have in the state in " +
			"which the migration was",
	},
}

// stepOutsideModel is the signature of a step that the model refuses.
const stepOutsideModel verdict.Signature = "step-outside-model"

var _ = declare(87, protocolRule, func(o *Oracle) hooks {
	r := &protocolSteps{
		Oracle: o, machines: map[string]*machine{}, views: map[string]placementVersion{},
		elected: map[string]bool{},
	}
	return hooks{event: r.observe, commit: r.committed}
})

// Speaks says which protocol the servers speak; without it protocol-steps follows nothing.
func (o *Oracle) Speaks(p migrationmodel.Protocol) { o.machine = migrationmodel.New(p) }

// older says whether they speak 4.2.
func (o *Oracle) older() bool {
	return o.machine != nil && o.machine.Protocol() == migrationmodel.V42
}

// protocolSteps is the memory of protocolRule: each migration is followed on the model from its
// request on. What a member does that was deposed may tell what is true; a violation it is never.
type protocolSteps struct {
	*Oracle
	machines map[string]*machine
	order    []*machine
	// views is which version of a namespace's placement a node knows.
	views map[string]placementVersion
	// elected are the primaries whose step-up is not over: they serve nobody, and begin recoveries,
	// which forget what they know, when it is.
	elected map[string]bool
}

// placementVersion is that of a shard; of a node that knows none there is none.
type placementVersion struct{ major, minor uint32 }

// machine is one migration on the model.
type machine struct {
	*migrationmodel.Follower
	id, ns, min, max string
	from, to         string
	// lost: it is followed no more. placed: its donor owned the range when it began. movedOn:
	// another migration has given the range away since. over: its donor has ended, which one that
	// is killed after that says once more.
	lost, placed, movedOn, over bool
	// alone are members that went on with a deletion when another one led already.
	alone []string
}

func (m *machine) holds(key string) bool { return m.min <= key && key < m.max }

// about says whether it is up to the migration who serves keys of the namespace.
func (m *machine) about(ns string) bool {
	return m.placed && !m.lost && !m.movedOn && m.ns == ns
}

// overlaps: a migration that has not said yet where its range ends is taken for a long one.
func (m *machine) overlaps(c trace.Chunk) bool {
	return (c.Min < m.max || m.max == "") && m.min < c.Max
}

// takenAway: the write gives a part of the range to another shard.
func (m *machine) takenAway(w *model.Write) bool {
	return slices.ContainsFunc(w.Chunks, func(c trace.Chunk) bool {
		return m.overlaps(c) && w.Before.Owner(c.Min) != c.Shard
	})
}

// raises: the write gives the chunk in which the migration's range begins a newer version.
func (m *machine) raises(before model.Table, chunks []trace.Chunk) bool {
	for _, old := range before {
		if !(old.Min <= m.min && m.min < old.Max) {
			continue
		}
		for _, c := range chunks {
			if m.overlaps(c) &&
				(c.Major > old.Major || c.Major == old.Major && c.Minor > old.Minor) {
				return true
			}
		}
	}
	return false
}

func (r *protocolSteps) observe(e *trace.Event) {
	if r.machine == nil {
		return
	}
	switch e.Kind {
	case trace.MigrationRequested:
		r.begin(e)
	case trace.DonorAdvanced, trace.RecipientAdvanced, trace.DecisionMade, trace.MigrationEnded,
		trace.RangeDeletion, trace.CriticalSection:
		if m := r.machines[e.Migration()]; m != nil && !m.lost {
			r.take(e, m)
		}
	case trace.MetadataInstalled, trace.MetadataCleared:
		r.view(e)
		r.learn(e)
	case trace.NodeUp:
		r.forgetViews(e.Node)
	case trace.Applied:
		r.serve(e)
	case trace.Elected:
		r.elected[e.Node] = true
		r.failOver(e)
	case trace.Writable:
		delete(r.elected, e.Node)
	case trace.CatalogWritten:
		r.write(e)
	}
}

func (r *protocolSteps) leads(e *trace.Event) bool { return r.world.Set(e.Shard).Leader == e.Node }

func (r *protocolSteps) begin(e *trace.Event) {
	if !r.leads(e) || r.machines[e.Migration()] != nil {
		return
	}
	m := &machine{
		Follower: r.machine.Follow(),
		id:       e.Migration(), ns: e.NS, min: e.Min, max: e.Max, from: e.Shard, to: e.Peer,
	}
	r.machines[m.id] = m
	r.order = append(r.order, m)
}

// step takes a step, or reports that the model does not have it.
func (r *protocolSteps) step(m *machine, s migrationmodel.Step) {
	if s == migrationmodel.Unseen || m.lost {
		return
	}
	refused := m.Take(s)
	if refused == nil {
		return
	}
	m.lost = true
	r.report(protocolRule, verdict.Violation{
		Signature: stepOutsideModel, NS: m.ns,
		Broke:   fmt.Sprintf("migration %s: %s", m.id, s),
		Because: refused.Because(),
	})
}

// past takes a step of a member that was deposed.
func (m *machine) past(s migrationmodel.Step) {
	if m.Take(s) != nil {
		m.lost = true
	}
}

func (r *protocolSteps) take(e *trace.Event, m *machine) {
	if e.Kind == trace.DonorAdvanced {
		m.min, m.max = e.Min, e.Max
		m.placed = m.placed || e.DonorState() == trace.DonorCloning
	}
	if !r.leads(e) {
		m.deposed(e)
		return
	}
	if e.Kind == trace.RangeDeletion {
		r.deletion(e, m)
		return
	}
	switch step := traced.Step(e); {
	case step == migrationmodel.DonorClones:
		r.step(m, r.clones(e, m))
	case step == migrationmodel.DonorEnds && m.over:
	case step == migrationmodel.DonorLeavesSection && r.unread(e):
		m.past(step)
	default:
		m.over = m.over || step == migrationmodel.DonorEnds
		r.step(m, step)
	}
}

// clones: the donor begins with the placement that it knows, and will be refused if that is older
// than the config server's. What a node knows that has said nothing since it started is anyone's
// guess, and a range that it has lost already is not its to move.
func (r *protocolSteps) clones(e *trace.Event, m *machine) migrationmodel.Step {
	knows, known := r.views[e.Node+" "+e.NS]
	latest := r.world.Latest(e.NS)
	if !known || latest.Owner(m.min) != m.from {
		m.lost = true
		return migrationmodel.Unseen
	}
	for _, c := range latest {
		if c.Min <= m.min && m.min < c.Max && (c.Major > knows.major ||
			c.Major == knows.major && c.Minor > knows.minor) {
			return migrationmodel.DonorClonesStale
		}
	}
	return migrationmodel.DonorClones
}

// view notes what a node knows.
func (r *protocolSteps) view(e *trace.Event) {
	at := e.Node + " " + e.NS
	if e.Kind == trace.MetadataCleared || len(e.Chunks) == 0 {
		delete(r.views, at)
		return
	}
	r.views[at] = placementVersion{e.Chunks[0].Major, e.Chunks[0].Minor}
}

// forgetViews: a process begins with nothing in memory.
func (r *protocolSteps) forgetViews(node string) {
	maps.DeleteFunc(r.views, func(at string, _ placementVersion) bool {
		return strings.HasPrefix(at, node+" ")
	})
}

// deposed: what a past primary sends may still count, what it writes may not, unless it leads again
// with that in its log.
func (m *machine) deposed(e *trace.Event) {
	switch {
	case e.Kind == trace.RangeDeletion:
		m.alone = append(m.alone, e.Node)
	case e.Kind == trace.DonorAdvanced && !e.DonorState().Terminal() &&
		e.DonorState() != trace.DonorCreated:
		m.past(migrationmodel.PastDonorAdvances)
	case e.RecipientState() == trace.RecipientReady:
		m.TakeOrNot(migrationmodel.PastRecipientBegins)
	case e.RecipientState() == trace.RecipientEnteredCritSec,
		e.RecipientState() == trace.RecipientDone:
		m.TakeOrNot(migrationmodel.PastRecipientEnters)
	}
}

// deletion: in 4.2, where nobody counts, the recipient's deletions are not part of the model; in
// 8.0 a task that counts nothing any more is of a collection that was replaced.
func (r *protocolSteps) deletion(e *trace.Event, m *machine) {
	uncounted := e.Orphans() < 0
	switch {
	case uncounted && r.machine.Protocol() == migrationmodel.V80:
		m.lost = true
	case e.Shard == m.from:
		r.step(m, traced.DonorDeletion(e.DeletionState()))
	case e.Shard == m.to && !uncounted:
		r.step(m, traced.RecipientDeletion(e.DeletionState()))
	}
}

// learn follows what the primaries of both sides believe.
func (r *protocolSteps) learn(e *trace.Event) {
	if !r.leads(e) {
		return
	}
	for _, m := range r.order {
		owns := model.Table(e.Chunks).Owner(m.min) != ""
		if m.movedOn && !m.lost && m.ns == e.NS && e.Shard == m.from && !owns {
			m.TakeOrNot(migrationmodel.DonorLearnsItLost) // late: the range has moved on already
		}
		if !m.about(e.NS) {
			continue
		}
		switch {
		case e.Shard == m.from && owns && r.machine.Protocol() == migrationmodel.V42:
			m.past(migrationmodel.DonorLearnsItOwns) // what was read before a late commit (H-21)
		case e.Shard == m.from && owns && r.elected[e.Node]:
			m.TakeOrNot(migrationmodel.DonorLearnsItOwns)
		case e.Shard == m.from && owns:
			r.step(m, migrationmodel.DonorLearnsItOwns)
		case e.Shard == m.from:
			r.step(m, migrationmodel.DonorLearnsItLost)
		case e.Shard == m.to && owns && r.lostUnawares(m):
			m.past(migrationmodel.RecipientLearnsItOwns) // what was read before that commit (H-21)
		case e.Shard == m.to && owns:
			r.step(m, migrationmodel.RecipientLearnsItOwns)
		case e.Shard == m.to:
			r.step(m, migrationmodel.RecipientLearnsItDoesNot)
		}
	}
}

// serve follows who carries out clients' writes of the range. In 4.2 that is up to other rules: who
// may do so is not certain there (H-21).
func (r *protocolSteps) serve(e *trace.Event) {
	if e.Actor != trace.User || len(r.order) == 0 || !r.world.Set(e.Shard).Leads(e) ||
		r.machine.Protocol() != migrationmodel.V80 {
		return
	}
	for _, m := range r.order {
		if !m.about(e.NS) || !m.holds(e.Key) {
			continue
		}
		switch e.Shard {
		case m.from:
			r.step(m, migrationmodel.DonorServes)
		case m.to:
			r.step(m, migrationmodel.RecipientServes)
		}
	}
}

func (r *protocolSteps) failOver(e *trace.Event) {
	if e.Term <= r.world.Set(e.Shard).Term {
		return
	}
	for _, m := range r.order {
		m.lost = m.lost || slices.Contains(m.alone, e.Node)
		switch e.Shard {
		case m.from:
			r.step(m, migrationmodel.DonorFailsOver)
		case m.to:
			r.step(m, migrationmodel.RecipientFailsOver)
		case model.Config:
			r.step(m, migrationmodel.ConfigFailsOver)
		}
	}
}

// write follows what the config server's primary writes.
func (r *protocolSteps) write(e *trace.Event) {
	if !r.leads(e) || len(r.order) == 0 {
		return
	}
	change, subject := trace.ParseCatalogChange(e.Why())
	for _, m := range r.order {
		gone := change == trace.Dropped || change == trace.RenamedFrom
		switch {
		case gone && (m.ns == e.NS || m.ns == subject):
			m.lost = true
		case m.ns != e.NS:
		case change == trace.ChunkMoved && subject == m.id:
			r.step(m, migrationmodel.ConfigCommits)
		case change == trace.ChunkMoved && r.overtakes(m, e.Chunks):
			m.lost = true
		case change == trace.ForbidsMigrations, m.raises(r.world.Latest(e.NS), e.Chunks):
			r.step(m, migrationmodel.ConfigRefuses)
		}
	}
}

// overtakes: in 4.2 the late commit of another migration takes the range from the donor, which is
// then answered that it is gone and takes that for its own commit (H-21).
func (r *protocolSteps) overtakes(m *machine, chunks []trace.Chunk) bool {
	return r.machine.Protocol() == migrationmodel.V42 &&
		slices.ContainsFunc(chunks, func(c trace.Chunk) bool {
			return m.overlaps(c) && c.Shard != m.from
		})
}

// committed follows what a majority of the config server has.
func (r *protocolSteps) committed(w *model.Write) {
	for _, m := range r.order {
		switch {
		case m.lost || m.ns != w.NS:
		case w.Migration() == m.id:
			m.TakeOrNot(migrationmodel.ConfigCommits) // unseen if by a deposed primary, which led again
			r.step(m, migrationmodel.ConfigSure)
		case w.Migration() != "" && m.placed && m.takenAway(w):
			m.movedOn = true
			m.TakeOrNot(migrationmodel.ConfigSure)
		case w.Forbids(), m.raises(w.Before, w.Chunks):
			m.TakeOrNot(migrationmodel.ConfigSure)
		}
	}
}
