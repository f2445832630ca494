package checkers_test

import (
	"testing"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
)

// wholeHistory is a write of k=1, a drop, and a later read. Times are those of calls; each operation lasts one tick.
func wholeHistory(drop histories.Outcome, dropAt, readAt uint64, seen string) []histories.Op {
	return []histories.Op{
		{ID: 1, NS: "t.c", Kind: scenario.Push, Key: 1, Value: "w1", Call: 10, Return: 11, Outcome: histories.OK, Result: histories.Result{Applied: true, N: 1}},
		{ID: 2, NS: "t.c", Kind: scenario.Drop, Call: dropAt, Return: dropAt + 1, Outcome: drop},
		{ID: 3, NS: "t.c", Kind: scenario.Create, Call: dropAt + 2, Return: dropAt + 3, Outcome: histories.OK},
		{ID: 4, NS: "t.c", Kind: scenario.Read, Key: 1, Call: readAt, Return: readAt + 1, Outcome: histories.OK, Result: read(seen)},
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
	preloaded := histories.Op{ID: -1, NS: "t.c", Kind: scenario.Insert, Key: 1, Value: "i1", Call: 1, Return: 2, Outcome: histories.OK, Result: histories.Result{Applied: true, N: 1}}
	for name, c := range map[string]struct {
		ops  []histories.Op
		want checkers.Outcome
	}{
		"gone after the drop":                 {wholeHistory(histories.OK, 20, 30, ""), checkers.Pass},
		"risen after the drop":                {wholeHistory(histories.OK, 20, 30, "w1"), checkers.Fail},
		"lost without a drop":                 {wholeHistory(histories.Failed, 20, 30, ""), checkers.Fail},
		"kept by a drop that failed":          {wholeHistory(histories.Failed, 20, 30, "w1"), checkers.Pass},
		"kept by a drop of unknown outcome":   {wholeHistory(histories.Unknown, 20, 30, "w1"), checkers.Pass},
		"gone by a drop of unknown outcome":   {wholeHistory(histories.Unknown, 20, 30, ""), checkers.Pass},
		"written after the drop and not seen": {wholeHistory(histories.OK, 5, 30, ""), checkers.Fail},
		"seen while the drop runs":            {wholeHistory(histories.OK, 20, 20, "w1"), checkers.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			ops := c.ops
			if name == "risen after the drop" {
				ops = append([]histories.Op{preloaded}, ops...)
				ops[4].Result.Value = "i1"
			}
			if worst := checkers.Worst(checkers.History(ops, checkers.Limits{})); worst.Outcome != c.want {
				t.Errorf("%s, want %s: %+v", worst.Outcome, c.want, worst)
			}
		})
	}
}

// TestIncarnationsOfAnAudit plants what differs between shards.
func TestIncarnationsOfAnAudit(t *testing.T) {
	for name, c := range map[string]struct {
		plant     func(a *checkers.Audit)
		signature string
	}{
		"equal":             {func(*checkers.Audit) {}, ""},
		"another UUID":      {func(a *checkers.Audit) { a.Members[3].UUID = "u2" }, checkers.UUIDDiffers},
		"owner without it":  {func(a *checkers.Audit) { a.Members[1].UUID = "" }, checkers.CollectionGone},
		"index is missing":  {func(a *checkers.Audit) { a.Members[2].Indexes = nil }, checkers.IndexesDiffer},
		"index is another":  {func(a *checkers.Audit) { a.Members[2].Indexes = []string{"v_1 {}"} }, checkers.IndexesDiffer},
		"nobody has an own": {func(a *checkers.Audit) { a.UUID = "" }, ""},
		"made and there":    {func(a *checkers.Audit) { a.Whole = wholes(scenario.DropIndex, scenario.CreateIndex) }, ""},
		"made and missing": {func(a *checkers.Audit) {
			a.Whole = wholes(scenario.Drop, scenario.CreateIndex)
			for i := range a.Members {
				a.Members[i].Indexes = nil
			}
		}, checkers.IndexMissing},
		"removed and kept": {func(a *checkers.Audit) { a.Whole = wholes(scenario.CreateIndex, scenario.DropIndex) }, checkers.IndexKept},
		"gone with a drop": {func(a *checkers.Audit) { a.Whole = wholes(scenario.CreateIndex, scenario.Drop) }, checkers.IndexKept},
		"removed or not": {func(a *checkers.Audit) {
			a.Whole = wholes(scenario.CreateIndex, scenario.DropIndex)
			a.Whole[1].Call = a.Whole[0].Return
		}, ""},
		"removed by a request of unknown outcome": {func(a *checkers.Audit) {
			a.Whole = wholes(scenario.CreateIndex, scenario.DropIndex)
			a.Whole[1].Outcome = histories.Unknown
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := atRest()
			a.UUID = "u1"
			for i := range a.Members {
				if a.Members[i].Shard != "config" {
					a.Members[i].UUID, a.Members[i].Indexes = "u1", []string{"w_1 {}"}
				}
			}
			c.plant(a)
			v := a.Check()
			if got := append(v.Violations, checkers.Violation{})[0].Signature; got != c.signature {
				t.Errorf("got %q, want %q: %+v", got, c.signature, v.Violations)
			}
		})
	}
}

// wholes are acknowledged operations on a collection, one after the other.
func wholes(kinds ...scenario.OpKind) (ops []histories.Op) {
	for i, kind := range kinds {
		at := uint64(10 * i)
		ops = append(ops, histories.Op{ID: i + 1, NS: "t.c", Kind: kind, Call: at, Return: at + 5, Outcome: histories.OK})
	}
	return ops
}
