package harness

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/histories/stored"
	"github.com/shardproof/shardproof/system/point"
	"github.com/shardproof/shardproof/system/sim"
)

// TestStories replays every stored scenario: what they tell of holds. Together they pass every site of a migration.
func TestStories(t *testing.T) {
	pool := &sim.Pool{}
	defer pool.Close()
	sum := NewCounters()
	for _, story := range stored.Stories() {
		t.Run(story.Name, func(t *testing.T) {
			s, err := Parse("histories/stored/"+story.Name+".txt", story.Text)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(s, Options{Pool: pool})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Passed() {
				t.Errorf("%s", Markdown(r))
			}
			if len(s.Faults) > 0 && len(r.Faults) == 0 {
				t.Error("no fault of the story has happened")
			}
			sum.Add(r.Counters)
		})
	}
	for _, in := range point.All() {
		if sum.Sites[in.Site] > 0 || unreachable[in.Name] {
			continue
		}
		if slices.Contains(told, in.Role) {
			t.Errorf("no story passes %s", in.Name)
		} else {
			t.Logf("no story passes %s", in.Name)
		}
	}
}

// told are the roles that the stories are about.
var told = []point.Role{point.Donor, point.Recipient, point.RangeDeleter, point.Recovery, point.Session}

// unreachable are sites that need what no scenario can ask for.
var unreachable = map[string]bool{
	"v.dropDetected": true, // before a collection is dropped or renamed, every unfinished migration of it is joined
}
