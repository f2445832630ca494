package endstate

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
)

// TestIncarnationsOfAnAudit plants what differs between shards.
func TestIncarnationsOfAnAudit(t *testing.T) {
	for name, c := range map[string]struct {
		plant     func(a *Audit)
		signature verdict.Signature
	}{
		"equal":        {func(*Audit) {}, ""},
		"another UUID": {func(a *Audit) { a.Members[3].UUID = "u2" }, uuidDiffers},
		"another UUID, of no shard": {func(a *Audit) {
			a.Members = append(a.Members, a.Members[3])
			last := &a.Members[len(a.Members)-1]
			last.Shard, last.Node, last.UUID, last.Outside = "c", "c.0", "u2", true
			last.Documents, last.Owned, last.Known = nil, nil, false
		}, ""},
		"owner without it": {func(a *Audit) { a.Members[1].UUID = "" }, collectionGone},
		"options as asked for": {func(a *Audit) {
			a.Options = map[string]string{a.UUID: "o"}
			for i := range a.Members {
				a.Members[i].Options = "o"
			}
		}, ""},
		"options lost by all": {
			func(a *Audit) { a.Options = map[string]string{a.UUID: "o"} }, optionsDiffer,
		},
		"options lost by one": {func(a *Audit) {
			for i := range a.Members[1:] {
				a.Members[i].Options = "o"
			}
		}, optionsDiffer},
		"options of another incarnation": {
			func(a *Audit) { a.Options = map[string]string{"u9": "o"} }, "",
		},
		"index as described": {func(a *Audit) {
			a.Described = map[string][]string{"v_1": {"{a}", "{b}"}}
			for i := range a.Members {
				a.Members[i].Indexes = []string{"v_1 {b}"}
			}
		}, ""},
		"index described otherwise": {func(a *Audit) {
			a.Described = map[string][]string{"v_1": {"{a}", "{b}"}}
			for i := range a.Members {
				a.Members[i].Indexes = []string{"v_1 {c}"}
			}
		}, indexesDiffer},
		"index is missing": {func(a *Audit) { a.Members[2].Indexes = nil }, indexesDiffer},
		"index is another": {
			func(a *Audit) { a.Members[2].Indexes = []string{"v_1 {}"} }, indexesDiffer,
		},
		"nobody has an own": {func(a *Audit) { a.UUID = "" }, ""},
		"made and there": {
			func(a *Audit) { a.Whole = wholes(scenario.DropIndex, scenario.CreateIndex) }, "",
		},
		"made and missing": {func(a *Audit) {
			a.Whole = wholes(scenario.Drop, scenario.CreateIndex)
			for i := range a.Members {
				a.Members[i].Indexes = nil
			}
		}, indexMissing},
		"removed and kept": {
			func(a *Audit) { a.Whole = wholes(scenario.CreateIndex, scenario.DropIndex) },
			indexKept,
		},
		"gone with a drop": {
			func(a *Audit) { a.Whole = wholes(scenario.CreateIndex, scenario.Drop) }, indexKept,
		},
		"removed, and that of the shard key stays": {func(a *Audit) {
			a.Whole = wholes(scenario.CreateIndex, scenario.DropIndex)
			for i := range a.Members {
				a.Members[i].Indexes = []string{"w_10 {}"}
			}
		}, ""},
		"unsharded, and gone": {func(a *Audit) {
			a.Unsharded, a.UUID = true, ""
			for i := range a.Members {
				a.Members[i].UUID, a.Members[i].Indexes = "", nil
			}
		}, ""},
		"unsharded, and its index is missing": {func(a *Audit) {
			a.Unsharded, a.UUID = true, ""
			a.Whole = wholes(scenario.CreateIndex)
			a.Members[0].Indexes = nil
		}, indexMissing},
		"unsharded, and made while it was copied": {func(a *Audit) {
			a.Unsharded, a.UUID = true, ""
			a.Whole = wholes(scenario.CreateIndex)
			a.Whole[0].CallAt, a.Whole[0].ReturnAt, a.Copied = 40, 60, [][2]int64{{5, 9}, {50, 90}}
			for i := range a.Members {
				a.Members[i].Indexes = nil
			}
		}, ""},
		"unsharded, and made before it was copied": {func(a *Audit) {
			a.Unsharded, a.UUID = true, ""
			a.Whole = wholes(scenario.CreateIndex)
			a.Whole[0].CallAt, a.Whole[0].ReturnAt, a.Copied = 40, 60, [][2]int64{{70, 90}}
			a.Members[0].Indexes = nil
		}, indexMissing},
		"removed or not": {func(a *Audit) {
			a.Whole = wholes(scenario.CreateIndex, scenario.DropIndex)
			a.Whole[1].Call = a.Whole[0].Return
		}, ""},
		"removed by a request of unknown outcome": {func(a *Audit) {
			a.Whole = wholes(scenario.CreateIndex, scenario.DropIndex)
			a.Whole[1].Outcome = histories.Unknown
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := atRest()
			a.UUID, a.Index = "u1", "w_1"
			for i := range a.Members {
				if a.Members[i].Shard != "config" {
					a.Members[i].UUID, a.Members[i].Indexes = "u1", []string{"w_1 {}"}
				}
			}
			c.plant(a)
			v := a.Check()
			if got := append(v.Violations, verdict.Violation{})[0].Signature; got != c.signature {
				t.Errorf("got %q, want %q: %+v", got, c.signature, v.Violations)
			}
		})
	}
}

// wholes are acknowledged operations on a collection, one after the other.
func wholes(kinds ...scenario.OpKind) (ops []histories.Op) {
	for i, kind := range kinds {
		at := uint64(10 * i)
		ops = append(ops, histories.Op{
			ID:      i + 1,
			NS:      "t.c",
			Kind:    kind,
			Call:    at,
			Return:  at + 5,
			Outcome: histories.OK,
		})
	}
	return ops
}
