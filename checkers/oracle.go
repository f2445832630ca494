package checkers

import (
	"slices"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
)

// rules are the promises that the oracle judges at every event, in the order in which they are listed.
var rules = []rule{
	{ownership, (*Oracle).judgeOwnership},
	{catalogue, (*Oracle).judgeCatalogue},
	{deletion, (*Oracle).judgeDeletion},
	{orphans, (*Oracle).judgeOrphans},
	{durability, nil},
	{section, (*Oracle).judgeSection},
	{decision, (*Oracle).judgeDecision},
	{fencing, (*Oracle).judgeFencing},
	{incarnations, (*Oracle).judgeIncarnation},
	{Balancing, (*Oracle).judgeBalancing},
}

// rule is a promise about single events. judge sees an event before the truth takes it into account; nil for a rule that
// is asked at commits of the catalogue only.
type rule struct {
	checker Checker
	judge   func(o *Oracle, e *trace.Event)
}

// Oracle judges a run while it happens, knowing everything that happens inside. Give it every event from the first on.
type Oracle struct {
	world *model.World
	// moves are the migrations by identifier, nodes what single nodes hold now.
	moves map[string]*move
	nodes map[string]*node
	// down are the nodes that have crashed and not come back.
	down map[string]bool
	// open are the migrations whose donor has asked for the commit and whose outcome is not final, oldest first.
	open []string
	// unfenced are the ranges of commits that took effect behind the donor's back.
	unfenced []KeyRange
	// drops is the step of the newest drop of each namespace.
	drops map[string]uint64
	// lives is the step at which the collection was made that has the name.
	lives map[string]uint64
	// forbids says of which namespaces a majority of the config server forbids migrations.
	forbids map[string]bool

	balancer balancer

	verdicts map[string]*Verdict
	broken   *Violation
	events   int
	show     func(key string) string
	// step is that of the event being judged.
	step uint64
}

// NewOracle returns an oracle that has seen nothing. show turns an encoded key into text for people; nil shows its bytes.
func NewOracle(key func(string) string) *Oracle {
	o := &Oracle{
		world: model.New(), moves: map[string]*move{}, nodes: map[string]*node{}, down: map[string]bool{},
		drops: map[string]uint64{}, lives: map[string]uint64{}, forbids: map[string]bool{}, verdicts: map[string]*Verdict{}, show: key,
	}
	if key == nil {
		o.show = showKey
	}
	for _, r := range rules {
		v := r.checker.pass()
		o.verdicts[r.checker.Name] = &v
	}
	o.world.Committed, o.world.Administered = o.judgeCommit, o.administered
	return o
}

// Observe takes the next event.
func (o *Oracle) Observe(e *trace.Event) {
	o.step = e.Step
	o.events++
	for i := range rules {
		if rules[i].judge != nil {
			rules[i].judge(o, e)
		}
	}
	o.follow(e)
	o.world.Observe(e)
}

// Broken is the first violation, nil as long as every promise holds.
func (o *Oracle) Broken() *Violation { return o.broken }

// Verdicts are the conclusions of all rules on what was observed, in the order of the catalogue.
func (o *Oracle) Verdicts() []Verdict {
	all := make([]Verdict, 0, len(rules))
	for _, r := range rules {
		v := *o.verdicts[r.checker.Name]
		v.Checked = o.events
		all = append(all, v)
	}
	return all
}

// report adds a violation at the current event; more are the steps that prove it.
func (o *Oracle) report(c Checker, v Violation, more ...uint64) {
	o.reportOf(c, v, append(more, o.step)...)
}

// reportOf adds a violation that these steps prove.
func (o *Oracle) reportOf(c Checker, v Violation, steps ...uint64) {
	for _, step := range steps {
		if step != 0 && !slices.Contains(v.Events, step) {
			v.Events = append(v.Events, step)
		}
	}
	o.verdicts[c.Name].add(v)
	if o.broken == nil {
		o.broken = &v
	}
}

func (o *Oracle) span(lo, hi string) string { return "[" + o.show(lo) + ", " + o.show(hi) + ")" }

// move is what is known of one migration.
type move struct {
	id, ns, min, max string
	from, to         string
	// request is the name under which it was asked for.
	request string
	// began is the step at which its donor knew the collection, life that at which this was made.
	began, life uint64
	// asked is the step at which the donor asked the config server to commit.
	asked uint64
	// blocked is the step at which the donor blocked writes, 0 before; donor the documents of the range at that moment.
	blocked uint64
	donor   map[string]model.Doc
	// history is what the donor had on record of retryable writes when it blocked writes.
	history model.History
	// committed is the step at which a majority of the config server had it; decided what the donor persisted, and when.
	committed uint64
	decided   string
	decision  uint64
	// ended is the step at which its donor completed it. The shards in promised have recorded a task for it that waits for
	// the decision, those in cleaned have removed theirs.
	ended             uint64
	promised, cleaned []string
}

func (o *Oracle) move(id string) *move {
	m := o.moves[id]
	if m == nil {
		m = &move{id: id}
		o.moves[id] = m
	}
	return m
}

// node is what one node holds in memory.
type node struct {
	sections []held
	receives []reception
	cursors  []cursor
}

type held struct {
	ns, id string
	step   uint64
}

type reception struct{ id, ns, min, max, state string }

// cursor is an open cursor with the ranges it may see.
type cursor struct {
	id, ns string
	step   uint64
	owned  []trace.Chunk
}

func (o *Oracle) node(name string) *node {
	n := o.nodes[name]
	if n == nil {
		n = &node{}
		o.nodes[name] = n
	}
	return n
}

// follow keeps up with what nodes and migrations are about.
func (o *Oracle) follow(e *trace.Event) {
	switch e.Kind {
	case trace.NodeDown, trace.NodeUp:
		delete(o.nodes, e.Node)
		o.down[e.Node] = e.Kind == trace.NodeDown
	case trace.SteppedDown:
		n := o.node(e.Node)
		n.sections, n.receives = nil, nil
	case trace.MigrationRequested, trace.DonorState:
		m := o.move(e.ID)
		m.ns, m.min, m.max, m.from, m.to = e.NS, e.Min, e.Max, e.Shard, e.Peer
		if m.began == 0 && e.Kind == trace.DonorState {
			m.began, m.life = e.Step, o.lives[e.NS]
		}
		if e.Kind == trace.MigrationRequested {
			m.request = e.Value
		}
		o.askCommit(e)
	case trace.CatalogWritten:
		o.noteUnfenced(e)
		o.followLives(e)
	case trace.MigrationEnded:
		// Without a decision on record, as in 4.2, nobody was fenced.
		if m := o.move(e.ID); m.decided != "" && o.world.Set(e.Shard).Leader == e.Node {
			m.ended = e.Step
		}
	case trace.RangeDeletion:
		if o.world.Set(e.Shard).Leader == e.Node {
			o.move(e.ID).followTask(e)
		}
	case trace.CriticalSection:
		o.followSection(e)
	case trace.RecipientState:
		o.node(e.Node).receive(reception{e.ID, e.NS, e.Min, e.Max, e.Value})
	case trace.CursorOpened:
		o.openCursor(e)
	case trace.CursorClosed:
		n := o.node(e.Node)
		n.cursors = slices.DeleteFunc(n.cursors, func(c cursor) bool { return c.id == e.ID })
	}
}

// followTask keeps up with tasks on record. Deletions that are only in a primary's memory, as in 4.2, are begun as often as
// somebody asks.
func (m *move) followTask(e *trace.Event) {
	switch {
	case e.N < 0:
	case e.Value == "pending":
		m.promised = append(m.promised, e.Shard)
	case e.Value == "done":
		m.cleaned = append(m.cleaned, e.Shard)
	}
}

func (n *node) receive(r reception) {
	n.receives = slices.DeleteFunc(n.receives, func(old reception) bool { return old.id == r.id })
	n.receives = append(n.receives, r)
}

// judgeCommit judges what a majority of the config server has from now on.
func (o *Oracle) judgeCommit(w *model.Write) {
	o.judgeDurability(w)
	o.judgeLateCommit(w)
	o.judgeBalanced(w)
	o.settle(w)
	o.followDrop(w)
	if id := w.Migration(); id != "" {
		if m := o.move(id); m.committed == 0 {
			m.committed = o.step
		}
	}
}
