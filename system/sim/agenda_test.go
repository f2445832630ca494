package sim

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/env"
)

// TestAgenda compares the agenda with a sorted list under random additions, removals and pops.
func TestAgenda(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type item struct {
			at   env.Time
			seq  int
			slot int32
		}
		var a eventQueue
		var model []item
		added, fired := 0, -1
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				at, seq := env.Time(rapid.IntRange(0, 20).Draw(t, "at")), added
				model = append(model,
					item{at, seq, a.add(at, eventSlot{fn: func() { fired = seq }})})
				added++
			},
			"remove": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("empty")
				}
				i := rapid.IntRange(0, len(model)-1).Draw(t, "which")
				a.remove(model[i].slot)
				model = slices.Delete(model, i, i+1)
			},
			"pop": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("empty")
				}
				first := 0
				for i, m := range model {
					if m.at < model[first].at ||
						m.at == model[first].at && m.seq < model[first].seq {
						first = i
					}
				}
				s := a.pop()
				s.fn()
				if fired != model[first].seq {
					t.Fatalf("popped %d, want %d", fired, model[first].seq)
				}
				model = slices.Delete(model, first, first+1)
			},
			"": func(t *rapid.T) {
				if len(a.heap) != len(model) {
					t.Fatalf("%d on the agenda, want %d", len(a.heap), len(model))
				}
			},
		})
	})
}

// TestQueue pushes and pops across the ring's end and its growth.
func TestQueue(t *testing.T) {
	var q queue
	next, want := uint64(0), uint64(0)
	for round := range 50 {
		for range round {
			next++
			q.push(readyTask{seq: next, task: &task{id: next}})
		}
		for range round / 2 {
			want++
			if got := q.pop().id; got != want {
				t.Fatalf("popped %d, want %d", got, want)
			}
		}
	}
	if q.n != int(next-want) {
		t.Errorf("%d are left, want %d", q.n, next-want)
	}
}
