package debugger

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/shardproof/shardproof/harness/debugger/timeline"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/sim"
)

// Film is a run that can be looked at step by step, forward and back. Going anywhere is a replay up
// to there, which takes frames of the steps around, so that the next ones are there already.
type Film struct {
	// Result is the whole run, with its events.
	Result *runner.Result
	plan   *scenario.Scenario
	pool   sim.Pool
	frames map[uint64]*timeline.Frame
}

// NewFilm runs a scenario once. The film must be closed.
func NewFilm(targets target.Set, s *scenario.Scenario) (*Film, error) {
	f := &Film{frames: map[uint64]*timeline.Frame{}}
	r, err := runner.Run(s, runner.Options{
		Targets: targets, Events: true, Places: true, Pool: &f.pool,
	})
	if err != nil {
		f.pool.Close()
		return nil, err
	}
	f.Result, f.plan = r, r.Plan()
	return f, nil
}

// FilmOf is the film of a run that was made with Options.Events. The film must be closed.
func FilmOf(r *runner.Result) *Film {
	return &Film{Result: r, plan: r.Plan(), frames: map[uint64]*timeline.Frame{}}
}

// Close frees what the film keeps for replays.
func (f *Film) Close() { f.pool.Close() }

// reel is how many frames are taken at a time around the one that is wanted, and manyFrames how
// many are kept.
const (
	reelFrames = 60
	manyFrames = 40 * reelFrames
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
	for _, e := range f.Result.Events[max(
		0, i-reelFrames,
	):min(len(f.Result.Events), i+reelFrames)] {
		c.steps = append(c.steps, e.Step)
	}
	slices.Sort(c.steps)
	last := c.steps[len(c.steps)-1]
	_, err := runner.Run(f.plan, runner.Options{
		Targets:   target.Set{f.Result.Target},
		Pool:      &f.pool,
		Steps:     last,
		Observers: []runner.Observer{{Look: c.look}},
		Unchecked: true,
	})
	if err != nil {
		return err
	}
	if f.frames[f.Result.Events[i].Step] == nil {
		return errors.New("the replay ended before the step")
	}
	return nil
}

// camera takes frames of a run in progress, at the steps that are left.
type camera struct {
	steps  []uint64
	frames map[uint64]*timeline.Frame
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
	picture := &timeline.Frame{}
	if from, ok := m.System.(timeline.Source); ok {
		picture = photograph(from)
	}
	picture.Step, picture.At = m.Step, int64(m.Now)
	for _, step := range c.steps[:n] {
		c.frames[step] = picture
	}
	c.steps = c.steps[n:]
}

// photograph takes an empty frame of a system that cannot be looked at: what a bug has broken may
// be what is looked at, and the failure is to be shown all the same.
func photograph(of timeline.Source) (picture *timeline.Frame) {
	defer func() {
		//shardproof:allow recover no task runs here: a system that stands still is looked at
		if recover() != nil {
			picture = &timeline.Frame{}
		}
	}()
	return of.Frame()
}
