package checkers

import (
	"testing"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
)

// wholeHistory is a write of k=1, a drop, and a later read. Times are those of calls; each
// operation lasts one tick.
func wholeHistory(drop histories.Outcome, dropAt, readAt uint64, seen string) []histories.Op {
	return []histories.Op{
		{
			ID:      1,
			NS:      "t.c",
			Kind:    scenario.Push,
			Key:     1,
			Value:   "w1",
			Call:    10,
			Return:  11,
			Outcome: histories.OK,
			Result:  histories.Result{Applied: true, N: 1},
		},
		{ID: 2, NS: "t.c", Kind: scenario.Drop, Call: dropAt, Return: dropAt + 1, Outcome: drop},
		{
			ID:      3,
			NS:      "t.c",
			Kind:    scenario.Create,
			Call:    dropAt + 2,
			Return:  dropAt + 3,
			Outcome: histories.OK,
		},
		{
			ID:      4,
			NS:      "t.c",
			Kind:    scenario.Read,
			Key:     1,
			Call:    readAt,
			Return:  readAt + 1,
			Outcome: histories.OK,
			Result:  read(seen),
		},
	}
}

func read(list string) histories.Result {
	if list == "" {
		return histories.Result{}
	}
	return histories.Result{Found: true, List: []string{list}}
}

// TestDroppedCollections: a drop removes every document, once, between its call and its return.
func TestDroppedCollections(t *testing.T) {
	preloaded := histories.Op{
		ID:      -1,
		NS:      "t.c",
		Kind:    scenario.Insert,
		Key:     1,
		Value:   "i1",
		Call:    1,
		Return:  2,
		Outcome: histories.OK,
		Result:  histories.Result{Applied: true, N: 1},
	}
	for name, c := range map[string]struct {
		ops  []histories.Op
		want Outcome
	}{
		"gone after the drop":        {wholeHistory(histories.OK, 20, 30, ""), Pass},
		"risen after the drop":       {wholeHistory(histories.OK, 20, 30, "w1"), Fail},
		"lost without a drop":        {wholeHistory(histories.Failed, 20, 30, ""), Fail},
		"kept by a drop that failed": {wholeHistory(histories.Failed, 20, 30, "w1"), Pass},
		"kept by a drop of unknown outcome": {
			wholeHistory(histories.Unknown, 20, 30, "w1"), Pass,
		},
		"gone by a drop of unknown outcome":   {wholeHistory(histories.Unknown, 20, 30, ""), Pass},
		"written after the drop and not seen": {wholeHistory(histories.OK, 5, 30, ""), Fail},
		"seen while the drop runs":            {wholeHistory(histories.OK, 20, 20, "w1"), Pass},
	} {
		t.Run(name, func(t *testing.T) {
			ops := c.ops
			if name == "risen after the drop" {
				ops = append([]histories.Op{preloaded}, ops...)
				ops[4].Result.Value = "i1"
			}
			if worst := Worst(Check(ops, Limits{})); worst.Outcome != c.want {
				t.Errorf("%s, want %s: %+v", worst.Outcome, c.want, worst)
			}
		})
	}
}
