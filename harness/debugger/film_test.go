package debugger

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/harness/debugger/timeline"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/system/sim"
)

// TestLookingChangesNothing takes a frame at every tenth event of a run and compares the trace
// hash.
func TestLookingChangesNothing(t *testing.T) {
	pool := &sim.Pool{}
	defer pool.Close()
	for seed := range uint64(4) {
		want, err := runner.Run(generate.Mixed(3000+seed),
			runner.Options{Targets: store, Pool: pool, Events: true})
		if err != nil {
			t.Fatal(err)
		}
		c := &camera{frames: map[uint64]*timeline.Frame{}}
		for i := 0; i < len(want.Events); i += 10 {
			c.steps = append(c.steps, want.Events[i].Step)
		}
		got, err := runner.Run(want.Plan(), runner.Options{
			Targets: store, Pool: pool, Observers: []runner.Observer{{Look: c.look}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got.Hash != want.Hash || len(c.frames) != (len(want.Events)+9)/10 {
			t.Errorf("seed %d: hash %s with %d frames, %s without",
				3000+seed, got.HashText(), len(c.frames), want.HashText())
		}
	}
}

// unreadable is a system that a bug has broken so that nobody can look at it.
type unreadable struct{ target.System }

func (unreadable) Frame() *timeline.Frame { panic("a collection without a state") }

// TestUnreadableFrame: what cannot be looked at has an empty frame, and the film goes on.
func TestUnreadableFrame(t *testing.T) {
	c := &camera{steps: []uint64{3, 7}, frames: map[uint64]*timeline.Frame{}}
	c.look(runner.Moment{Step: 3, Now: 5, System: unreadable{}})
	want := &timeline.Frame{Step: 3, At: 5}
	if got := c.frames[3]; !cmp.Equal(got, want) || len(c.steps) != 1 {
		t.Errorf("the frame is %+v and %d are left, want %+v and 1", got, len(c.steps), want)
	}
}

// TestSameFrameFromAnywhere goes through a run in jumps, forward and back, and takes every frame
// twice with another reel in between.
func TestSameFrameFromAnywhere(t *testing.T) {
	p, err := generate.FindProfile("sweep")
	if err != nil {
		t.Fatal(err)
	}
	film, err := NewFilm(store, generate.Draw(12, p))
	if err != nil {
		t.Fatal(err)
	}
	defer film.Close()
	n := len(film.Result.Events)
	for _, i := range []int{0, n / 2, n - 1, n / 3, n / 4 * 3} {
		first, err := film.At(i)
		if err != nil {
			t.Fatal(err)
		}
		clear(film.frames)
		if _, err := film.At((i + n/2) % n); err != nil {
			t.Fatal(err)
		}
		again, err := film.At(min(i+reelFrames/2, n-1)) // whose reel holds event i as well
		if err != nil {
			t.Fatal(err)
		}
		if again.Step < first.Step {
			t.Errorf("event %d is at step %d, and a later one at %d", i, first.Step, again.Step)
		}
		second, err := film.At(i)
		if err != nil {
			t.Fatal(err)
		}
		diff := cmp.Diff(first, second,
			cmp.Comparer(func(a, b bson.Raw) bool { return a.String() == b.String() }))
		if diff != "" {
			t.Errorf("event %d (-first +second):\n%s", i, diff)
		}
	}
	if _, err := film.At(n); err == nil {
		t.Error("there is a frame behind the last event")
	}
}
