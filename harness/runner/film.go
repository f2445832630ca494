package runner

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/harness/debugger/timeline"
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
	Result *Result
	plan   *scenario.Scenario
	pool   sim.Pool
	frames map[uint64]*timeline.Frame
}

// NewFilm runs a scenario once. The film must be closed.
func NewFilm(s *scenario.Scenario) (*Film, error) {
	f := &Film{frames: map[uint64]*timeline.Frame{}}
	r, err := Run(s, Options{Events: true, Pool: &f.pool})
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
	c := &camera{frames: f.frames}
	for _, e := range f.Result.Events[max(0, i-reel):min(len(f.Result.Events), i+reel)] {
		c.steps = append(c.steps, e.Step)
	}
	slices.Sort(c.steps)
	last := c.steps[len(c.steps)-1]
	r, err := newRun(f.plan, Options{Pool: &f.pool, Steps: last, camera: c})
	if err != nil {
		return err
	}
	defer r.world.Close()
	r.play()
	c.take(r, last)
	if f.frames[f.Result.Events[i].Step] == nil {
		return errors.New("the replay ended before the step")
	}
	return nil
}

// camera takes frames of a run under way, at the steps that are left.
type camera struct {
	steps  []uint64
	frames map[uint64]*timeline.Frame
}

// betweenSteps is what takes the frames that are due, nil without a camera.
func (r *run) betweenSteps() func() {
	c := r.options.camera
	if c == nil {
		return nil
	}
	return func() {
		if len(c.steps) > 0 && c.steps[0] <= r.world.Steps() {
			c.take(r, r.world.Steps())
		}
	}
}

// take takes one frame for all steps up to this one: what happens at once looks the same.
func (c *camera) take(r *run, upto uint64) {
	n := sort.Search(len(c.steps), func(i int) bool { return c.steps[i] > upto })
	if n == 0 {
		return
	}
	picture := r.picture()
	for _, step := range c.steps[:n] {
		c.frames[step] = picture
	}
	c.steps = c.steps[n:]
}

// picture is the state of the cluster now.
func (r *run) picture() *timeline.Frame {
	f := &timeline.Frame{Step: r.world.Steps(), At: int64(r.world.Now())}
	for _, c := range r.scenario.Collections {
		f.Catalogue = append(f.Catalogue, r.placement(c))
	}
	for _, set := range r.cluster.Sets() {
		for _, id := range r.cluster.Topology().MembersOf(set) {
			f.Nodes = append(f.Nodes, r.memberAt(set, id))
		}
	}
	for _, id := range r.cluster.Topology().RouterNodes() {
		f.Nodes = append(f.Nodes, r.routerAt(id))
	}
	return f
}

func (r *run) placement(c scenario.Collection) timeline.Placement {
	p := timeline.Placement{NS: c.NS, Hashed: c.Hashed}
	table, err := r.cluster.Catalog(c.NS)
	if err != nil {
		p.Wrong = err.Error()
		return p
	}
	p.Chunks = chunkRows(table)
	return p
}

func (r *run) memberAt(set string, id env.NodeID) timeline.Node {
	n := timeline.Node{Name: string(id), Set: set}
	m := r.cluster.Member(id)
	if m == nil {
		return n
	}
	n.Up, n.Leading, n.Writable, n.Term = true, m.Leading(), m.IsPrimary(), m.Term()
	n.Applied, n.Committed = m.Applied().String(), m.Committed().String()
	if set == configsvr.Name {
		return n
	}
	for i, c := range r.scenario.Collections {
		a := r.cluster.Look(id, c.NS)
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

func (r *run) routerAt(id env.NodeID) timeline.Node {
	n := timeline.Node{Name: string(id), Set: timeline.Router}
	at := r.cluster.Router(id)
	if at == nil {
		return n
	}
	n.Up = true
	for _, c := range r.scenario.Collections {
		b := timeline.Belief{NS: c.NS}
		if table := at.Table(c.NS); table != nil {
			b.Known, b.Version, b.Owned = true, table.Version().String(), chunkRows(table)
		}
		n.Knows = append(n.Knows, b)
	}
	return n
}
