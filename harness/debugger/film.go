package debugger

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/harness/debugger/timeline"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/sim"
)

// Film is a run that can be looked at step by step, forward and back. Going anywhere is a replay up to there, which takes
// frames of the steps around, so that the next ones are there already.
type Film struct {
	// Result is the whole run, with its events.
	Result *runner.Result
	plan   *scenario.Scenario
	pool   sim.Pool
	frames map[uint64]*timeline.Frame
}

// NewFilm runs a scenario once. The film must be closed.
func NewFilm(s *scenario.Scenario) (*Film, error) {
	f := &Film{frames: map[uint64]*timeline.Frame{}}
	r, err := runner.Run(s, runner.Options{Events: true, Pool: &f.pool})
	if err != nil {
		f.pool.Close()
		return nil, err
	}
	f.Result, f.plan = r, r.Plan()
	return f, nil
}

// Close frees what the film keeps for replays.
func (f *Film) Close() { f.pool.Close() }

// reel is how many frames are taken at a time around the one that is wanted, and manyFrames how many are kept.
const (
	reel       = 60
	manyFrames = 40 * reel
)

// At is the state of the cluster after event i of the result.
func (f *Film) At(i int) (*timeline.Frame, error) {
	if i < 0 || i >= len(f.Result.Events) {
		return nil, fmt.Errorf("the run has events 0 to %d, and no %d", len(f.Result.Events)-1, i)
	}
	step := f.Result.Events[i].Step
	if f.frames[step] == nil {
		if err := f.shoot(i); err != nil {
			return nil, err
		}
	}
	return f.frames[step], nil
}

// shoot replays the run and takes the frames around event i.
func (f *Film) shoot(i int) error {
	if len(f.frames) > manyFrames {
		clear(f.frames)
	}
	c := &camera{scenario: f.plan, frames: f.frames}
	for _, e := range f.Result.Events[max(0, i-reel):min(len(f.Result.Events), i+reel)] {
		c.steps = append(c.steps, e.Step)
	}
	slices.Sort(c.steps)
	last := c.steps[len(c.steps)-1]
	if _, err := runner.Run(f.plan, runner.Options{Pool: &f.pool, Steps: last, Inspect: c.look, Unchecked: true}); err != nil {
		return err
	}
	if f.frames[f.Result.Events[i].Step] == nil {
		return errors.New("the replay ended before the step")
	}
	return nil
}

// camera takes frames of a run under way, at the steps that are left.
type camera struct {
	scenario *scenario.Scenario
	steps    []uint64
	frames   map[uint64]*timeline.Frame
}

// look takes the frames that are due.
func (c *camera) look(m runner.Moment) {
	if len(c.steps) > 0 && c.steps[0] <= m.Step {
		c.take(m)
	}
}

// take takes one frame for all steps up to this one: what happens at once looks the same.
func (c *camera) take(m runner.Moment) {
	n := sort.Search(len(c.steps), func(i int) bool { return c.steps[i] > m.Step })
	picture := (&exposure{m, c.scenario}).picture()
	for _, step := range c.steps[:n] {
		c.frames[step] = picture
	}
	c.steps = c.steps[n:]
}

// exposure is what a frame is taken of.
type exposure struct {
	runner.Moment
	scenario *scenario.Scenario
}

// picture is the state of the cluster now.
func (x *exposure) picture() *timeline.Frame {
	f := &timeline.Frame{Step: x.Step, At: int64(x.Now)}
	for _, c := range x.scenario.Collections {
		f.Catalogue = append(f.Catalogue, x.placement(c))
	}
	for _, set := range x.Cluster.Sets() {
		for _, id := range x.Cluster.Topology().MembersOf(set) {
			f.Nodes = append(f.Nodes, x.memberAt(set, id))
		}
	}
	for _, id := range x.Cluster.Topology().RouterNodes() {
		f.Nodes = append(f.Nodes, x.routerAt(id))
	}
	return f
}

func (x *exposure) placement(c scenario.Collection) timeline.Placement {
	p := timeline.Placement{NS: c.NS, Hashed: c.Hashed}
	table, err := x.Cluster.Catalog(c.NS)
	if err != nil {
		p.Wrong = err.Error()
		return p
	}
	p.Chunks = runner.ChunkRows(table)
	return p
}

func (x *exposure) memberAt(set string, id env.NodeID) timeline.Node {
	n := timeline.Node{Name: string(id), Set: set}
	m := x.Cluster.Member(id)
	if m == nil {
		return n
	}
	n.Up, n.Leading, n.Writable, n.Term = true, m.Leading(), m.IsPrimary(), m.Term()
	n.Applied, n.Committed = m.Applied().String(), m.Committed().String()
	if set == configsvr.Name {
		return n
	}
	for i, c := range x.scenario.Collections {
		a := x.Cluster.Look(id, c.NS)
		if a == nil {
			continue
		}
		n.Knows = append(n.Knows, belief(set, c.NS, a))
		if i == 0 { // the rest is about all collections
			n.Doing = append(a.ActiveMigrations, a.OutstandingTasks...)
			n.Records, n.Cursors = onRecord(a), a.OpenCursors
		}
	}
	return n
}

func belief(set, ns string, a *command.AuditReply) timeline.Belief {
	b := timeline.Belief{NS: ns, Known: a.Known, Owned: timeline.Chunks(set, a.Owned), Sections: a.CriticalSections, Documents: a.Documents}
	if a.Known {
		b.Version = a.Version.String()
	}
	return b
}

// onRecord are a member's durable documents of migrations and range deletions.
func onRecord(a *command.AuditReply) (all []string) {
	for _, doc := range a.RangeDeletions {
		k, err := rangedel.Decode(doc)
		if err != nil {
			panic(fmt.Sprintf("harness: a range deletion cannot be read: %s: %v", doc, err))
		}
		state := "ready"
		switch {
		case k.Pending:
			state = "pending"
		case k.Processing:
			state = "processing"
		}
		all = append(all, fmt.Sprintf("range deletion %s %s %s: %s, %d orphans", k.Migration, k.NS, k.Range(), state, k.Orphans))
	}
	for _, of := range []struct {
		what string
		docs []bson.Raw
	}{{"coordinator of", a.Coordinators}, {"recipient of", a.Recipients}} {
		for _, doc := range of.docs {
			all = append(all, recorded(of.what, doc))
		}
	}
	return all
}

func recorded(what string, doc bson.Raw) string {
	id, _ := doc.Lookup("_id").StringValueOK()
	text := what + " " + id
	if decision, ok := doc.Lookup("decision").StringValueOK(); ok {
		text += ", decision " + decision
	}
	return text
}

func (x *exposure) routerAt(id env.NodeID) timeline.Node {
	n := timeline.Node{Name: string(id), Set: timeline.Router}
	at := x.Cluster.Router(id)
	if at == nil {
		return n
	}
	n.Up = true
	for _, c := range x.scenario.Collections {
		b := timeline.Belief{NS: c.NS}
		if table := at.Table(c.NS); table != nil {
			b.Known, b.Version, b.Owned = true, table.Version().String(), runner.ChunkRows(table)
		}
		n.Knows = append(n.Knows, b)
	}
	return n
}
