package cursor

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// TestReadForLong: however often a cursor is read, nothing is kept but the cursor.
func TestReadForLong(t *testing.T) {
	world := sim.New(sim.Options{Seed: 1})
	defer world.Close()
	world.AddNode("router", func(task env.Task) {
		r := NewRegistry(task.Node(), func() time.Duration { return time.Minute })
		id := r.Keep(task, Open("test.docs", List([]bson.Raw{{}})))
		for range 1000 {
			c, err := r.Take(id)
			if err != nil {
				t.Error(err)
				return
			}
			r.Return(task, id, c)
		}
		if n := len(r.queue); n != 1 {
			t.Errorf("%d places are kept of one cursor", n)
		}
	})
	world.Run(nil, env.Time(time.Minute))
	if err := world.Err(); err != nil {
		t.Fatal(err)
	}
}
