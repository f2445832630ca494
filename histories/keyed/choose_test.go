package keyed_test

import (
	"fmt"
	"testing"

	"github.com/shardproof/shardproof/histories/keyed"
)

type weighted struct {
	name   string
	weight int
}

func ofWeighted(w weighted) (string, int) { return w.name, w.weight }

// TestChooseByWeight: candidates come as often as their weights say, and never without one.
func TestChooseByWeight(t *testing.T) {
	const seeds = 40_000
	all := []weighted{{"often", 70}, {"now and then", 25}, {"never", 0}, {"seldom", 5}}
	times := map[string]int{}
	for seed := range uint64(seeds) {
		times[keyed.Choose(keyed.New(seed).IntN, "which", all, ofWeighted).name]++
	}
	for _, w := range all {
		if got := float64(times[w.name]) * 100 / seeds; got < float64(w.weight)-1 ||
			got > float64(w.weight)+1 {
			t.Errorf("%s: %.2f %% of the choices, not %d", w.name, got, w.weight)
		}
	}
}

// TestChooseStays: a further candidate, wherever it stands, and another order change no choice but
// to the new one.
func TestChooseStays(t *testing.T) {
	few := []weighted{{"a", 3}, {"b", 1}, {"c", 2}}
	more := []weighted{{"new", 2}, {"c", 2}, {"a", 3}, {"b", 1}}
	changed := 0
	for seed := range uint64(8000) {
		roll := keyed.New(seed).IntN
		before, after := keyed.Choose(roll, "which", few, ofWeighted),
			keyed.Choose(roll, "which", more, ofWeighted)
		if before != after {
			changed++
			if after.name != "new" {
				t.Fatalf("seed %d chose %s, and with a further candidate %s",
					seed, before.name, after.name)
			}
		}
	}
	if changed < 1800 || changed > 2200 {
		t.Errorf("the further candidate was chosen %d times of 8000, not about 2000", changed)
	}
}

// TestOne: values that stand several times are the more likely.
func TestOne(t *testing.T) {
	times := map[string]int{}
	for seed := range uint64(4000) {
		times[keyed.One(keyed.New(seed).IntN, "value", "x", "y", "x", "x")]++
	}
	if times["x"] < 2900 || times["x"] > 3100 || times["x"]+times["y"] != 4000 {
		t.Errorf("%v", times)
	}
}

func BenchmarkChoose(b *testing.B) {
	var all []weighted
	for i := range 7 {
		all = append(all, weighted{fmt.Sprint("workload-", i), i + 1})
	}
	for i := range b.N {
		keyed.Choose(keyed.New(uint64(i)).IntN, "op/17/workload", all, ofWeighted)
	}
}
