package cursor_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/wire/cursor"
)

// changes is a source of all its documents at once, that has then been read up to the last.
type changes struct {
	docs   []bson.Raw
	closed bool
}

func (c *changes) Next(env.Task, int, time.Duration) ([]bson.Raw, bool, error) {
	docs := c.docs
	c.docs = nil
	return docs, true, nil
}

func (c *changes) Close(env.Task) { c.closed = true }

func (c *changes) Mark() bson.Raw { return place("end") }

func place(at string) bson.Raw {
	doc, err := bson.Marshal(bson.D{{Key: "_data", Value: at}})
	if err != nil {
		panic(err)
	}
	return doc
}

// inTask has a task do something.
func inTask(t *testing.T, do func(task env.Task)) {
	t.Helper()
	world := sim.New(sim.Options{Seed: 1})
	defer world.Close()
	done := false
	world.AddNode("router", func(task env.Task) {
		do(task)
		done = true
	})
	world.Run(nil, env.Time(time.Minute))
	if err := world.Err(); err != nil || !done {
		t.Fatal(err, done)
	}
}

// TestMarkOfAPart: while documents that were read are not returned, the place is that of the last
// which was: who resumes there misses none.
func TestMarkOfAPart(t *testing.T) {
	source := &changes{}
	for _, at := range []string{"1", "2", "3"} {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: place(at)},
			{Key: "s", Value: strings.Repeat("s", 7<<20)}})
		if err != nil {
			t.Fatal(err)
		}
		source.docs = append(source.docs, doc)
	}
	c := cursor.Open("test.docs", source)
	inTask(t, func(task env.Task) {
		for _, want := range []struct {
			n    int
			mark string
		}{{2, "2"}, {1, "end"}, {0, "end"}} {
			docs, err := c.Batch(task, 0, 0)
			if err != nil || len(docs) != want.n || !c.Mark().Lookup("_data").Equal(
				place(want.mark).Lookup("_data")) {
				t.Errorf("%d documents up to %v (%v), not %d up to %s",
					len(docs), c.Mark(), err, want.n, want.mark)
			}
		}
	})
}

// TestKillTaken: a cursor that is killed while a request advances it does not come back.
func TestKillTaken(t *testing.T) {
	inTask(t, func(task env.Task) {
		source := &changes{}
		r := cursor.NewRegistry(task.Node(), func() time.Duration { return time.Minute })
		id := r.Keep(task, cursor.Open("test.docs", source))
		c, err := r.Take(id)
		if err != nil || !r.Kill(task, id) {
			t.Fatal("the cursor is not there:", err)
		}
		if next, killed := r.Return(task, id, c); next != 0 || !killed || !source.closed {
			t.Errorf("cursor %d came back as %d: killed %t, closed %t",
				id, next, killed, source.closed)
		}
		if _, err := r.Take(id); !errcode.Is(err, errcode.CursorNotFound) {
			t.Errorf("the killed cursor was taken again: %v", err)
		}
		if r.Kill(task, id) {
			t.Error("the cursor was killed twice")
		}
	})
}
