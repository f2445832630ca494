package checkers

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
)

// told is a history of one client's acknowledged writes of k=1 to k=3, one after the other, and the
// change of each: the n-th write has cluster time n.
type told struct {
	ops     []histories.Op
	changes []histories.Change
	clock   uint64
}

func (h *told) tick() uint64 { h.clock++; return h.clock }

func (h *told) write(
	kind scenario.OpKind, key int64, change string, before, after string, list ...string,
) {
	op := histories.Op{
		ID:      len(h.ops) + 1,
		NS:      "a.b",
		Kind:    kind,
		Key:     key,
		Call:    h.tick(),
		Outcome: histories.OK,
	}
	op.Return = h.tick()
	op.Result = histories.Result{Applied: true, N: 1, Found: before != "", Value: before}
	if op.Value = after; kind == scenario.Push {
		op.Value = list[len(list)-1]
	}
	if kind == scenario.Delete {
		op.Value = ""
	}
	h.ops = append(h.ops, op)
	h.changes = append(h.changes, histories.Change{
		Token: histories.Token{Time: uint64(len(h.ops)), Shard: "s"},
		Kind:  change,
		Key:   key,
		Value: after,
		List:  list,
	})
}

func tellStory() *told {
	h := &told{clock: 10} // the streams are opened before the first write
	h.write(scenario.Insert, 1, "insert", "", "w1")
	h.write(scenario.Write, 1, "replace", "w1", "w2")
	h.write(scenario.Write, 2, "insert", "", "w3")
	h.write(scenario.Push, 2, "update", "", "w3", "p4")
	h.write(scenario.Delete, 1, "delete", "w2", "")
	h.write(scenario.Push, 2, "update", "", "w3", "p4", "p6")
	h.write(scenario.Write, 1, "insert", "", "w7")
	h.write(scenario.Update, 3, "update", "", "w8")
	return h
}

// watch is a reader that was delivered some changes in batches of two.
func (h *told) watch(id int, after, upto uint64, changes []histories.Change) histories.Op {
	s := &histories.Stream{
		ID:      id,
		Fresh:   after == 0,
		After:   mark(after),
		Opened:  5,
		Drained: upto == 9,
	}
	for len(changes) > 2 {
		s.Batches = append(s.Batches,
			histories.ChangeBatch{Changes: changes[:2], Upto: changes[1].Token})
		changes = changes[2:]
	}
	s.Batches = append(s.Batches, histories.ChangeBatch{Changes: changes, Upto: mark(upto)})
	return histories.Op{
		ID:      100 + id,
		Client:  -2,
		NS:      "a.b",
		Kind:    scenario.Watch,
		Call:    4,
		Return:  99,
		Outcome: histories.OK,
		Stream:  s,
	}
}

func mark(time uint64) histories.Token { return histories.Token{Time: time, Shard: "\x7f"} }

func verdictOf(ops []histories.Op) Verdict {
	for _, v := range Check(ops, Limits{}) {
		if v.Checker == ChangeStreams.Name {
			return v
		}
	}
	panic("no verdict on change streams")
}

// Whatever parts of the order readers were delivered, in whatever pieces, there is nothing to
// complain about.
func TestChangeStreamsNoFalseAlarm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := tellStory()
		for id := range rapid.IntRange(1, 6).Draw(t, "watches") {
			from := rapid.IntRange(0, 8).Draw(t, "after")
			to := rapid.IntRange(from, 8).Draw(t, "upto")
			end := uint64(to)
			if to == 8 {
				end = 9
			}
			h.ops = append(h.ops, h.watch(id, uint64(from), end, h.changes[from:to]))
		}
		if v := verdictOf(h.ops); v.Outcome != Pass {
			t.Fatalf("%+v", v.Violations)
		}
	})
}

// Preloaded documents come into being together: a reader that is so early as to be delivered them
// sees one cluster time.
func TestChangeStreamsOfPreloads(t *testing.T) {
	h := tellStory()
	h.ops[0].Client, h.ops[2].Client = histories.PreloadClient, histories.PreloadClient
	h.changes[1], h.changes[2] = h.changes[2], h.changes[1]
	h.changes[1].Token, h.changes[2].Token = histories.Token{Time: 1, Shard: "s", N: 1},
		histories.Token{Time: 2, Shard: "s"}
	if v := verdictOf(append(h.ops, h.watch(1, 0, 9, h.changes))); v.Outcome != Pass {
		t.Fatalf("%+v", v.Violations)
	}
}

// Each planted violation is seen for what it is.
func TestChangeStreamsPlanted(t *testing.T) {
	full := func(h *told) histories.Op { return h.watch(1, 0, 9, h.changes) }
	for name, c := range map[string]struct {
		want  Signature
		plant func(h *told) []histories.Op
	}{
		"a write is missing": {ChangeMissed, func(h *told) []histories.Op {
			return []histories.Op{h.watch(1, 0, 9, append(h.changes[:7:7], h.changes[8:]...))}
		}},
		"a delete is missing": {ChangeMissed, func(h *told) []histories.Op {
			h.ops[6].Result, h.changes[6].Kind = histories.Result{
				Applied: true,
				Found:   true,
				Value:   "w2",
			}, "replace"
			return []histories.Op{h.watch(1, 0, 9, append(h.changes[:4:4], h.changes[5:]...))}
		}},
		"a resumed reader skips": {ChangeMissed, func(h *told) []histories.Op {
			return []histories.Op{full(h), h.watch(2, 3, 9, h.changes[4:])}
		}},
		"a resumed reader is delivered too much": {changeDisorder, func(h *told) []histories.Op {
			return []histories.Op{h.watch(2, 3, 9, h.changes[2:])}
		}},
		"two changes change places": {changeDisorder, func(h *told) []histories.Op {
			h.changes[3], h.changes[4] = h.changes[4], h.changes[3]
			return []histories.Op{full(h)}
		}},
		"the clone leaks": {changeDoubled, func(h *told) []histories.Op {
			leak := h.changes[5]
			leak.Kind, leak.Token.Shard = "insert", "t"
			leak.Value, leak.List = "w3", nil
			h.changes = append(h.changes[:6:6],
				append([]histories.Change{leak}, h.changes[6:]...)...)
			return []histories.Op{full(h)}
		}},
		"a range deletion leaks": {ChangeWrong, func(h *told) []histories.Op {
			leak := histories.Change{
				Token: histories.Token{Time: 5, Shard: "t"},
				Kind:  "delete",
				Key:   2,
			}
			h.changes = append(h.changes[:5:5],
				append([]histories.Change{leak}, h.changes[5:]...)...)
			return []histories.Op{full(h)}
		}},
		"a push takes two steps at once": {ChangeWrong, func(h *told) []histories.Op {
			return []histories.Op{h.watch(1, 0, 7, append(h.changes[:3:3], h.changes[4:7]...))}
		}},
		"readers disagree": {changesDiffer, func(h *told) []histories.Op {
			other := append([]histories.Change(nil), h.changes...)
			other[2].Value = "w9"
			return []histories.Op{full(h), h.watch(2, 0, 9, other)}
		}},
		"nobody wrote it": {changeInvented, func(h *told) []histories.Op {
			h.changes[6].Value = "w70"
			return []histories.Op{full(h)}
		}},
		"its write failed": {changeInvented, func(h *told) []histories.Op {
			h.ops[6].Outcome = histories.Failed
			return []histories.Op{full(h)}
		}},
		"cluster time runs backwards": {ChangeTimes, func(h *told) []histories.Op {
			h.changes[5], h.changes[6] = h.changes[6], h.changes[5]
			h.changes[5].Token, h.changes[6].Token = h.changes[6].Token, h.changes[5].Token
			return []histories.Op{full(h)}
		}},
		"the mark goes back": {changeDisorder, func(h *told) []histories.Op {
			op := full(h)
			op.Stream.Batches = append(op.Stream.Batches, histories.ChangeBatch{Upto: mark(7)})
			return []histories.Op{op}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := tellStory()
			v := verdictOf(append(c.plant(h), h.ops...))
			var all []Signature
			for _, found := range v.Violations {
				all = append(all, found.Signature)
			}
			if v.Outcome != Fail || !slices.Contains(all, c.want) {
				t.Errorf("found %v, want %s: %+v", all, c.want, v.Violations)
			}
		})
	}
}

// What one command writes may be delivered in any order; what the client writes later comes after
// the newest of it.
func TestChangeStreamOfOneCommand(t *testing.T) {
	for name, c := range map[string]struct {
		delivered []int // instead of the operations 6, 7 and 9
		together  bool  // the first two of them are one command's
		wrong     bool
	}{
		"in order":                 {[]int{6, 7, 9}, false, false},
		"two commands":             {[]int{7, 6, 9}, false, true},
		"one command":              {[]int{7, 6, 9}, true, false},
		"one command and the next": {[]int{7, 9, 6}, true, true},
		"the next one before both": {[]int{9, 6, 7}, true, true},
	} {
		h := tellStory()
		h.write(scenario.Write, 4, "insert", "", "w9")
		written := slices.Clone(h.changes)
		for i, at := range []int{5, 6, 8} {
			h.changes[at] = written[c.delivered[i]-1]
			h.changes[at].Token = written[at].Token
		}
		if c.together {
			h.ops[5].Return = h.ops[6].Return
		}
		v := verdictOf(append([]histories.Op{h.watch(1, 0, 9, h.changes)}, h.ops...))
		backwards := slices.ContainsFunc(v.Violations, func(x Violation) bool {
			return x.Signature == ChangeTimes
		})
		if backwards != c.wrong {
			t.Errorf("%s: %+v", name, v.Violations)
		}
	}
}

// What happened while nobody read is no violation, and neither is a write whose outcome nobody
// knows.
func TestChangeStreamsGaps(t *testing.T) {
	h := tellStory()
	h.ops[7].Outcome = histories.Unknown
	h.ops = append(h.ops, h.watch(1, 0, 2, h.changes[:2]), h.watch(2, 5, 9, h.changes[5:7]))
	if v := verdictOf(h.ops); v.Outcome != Pass {
		t.Errorf("%+v", v.Violations)
	}
}

// TestEndsOfStreams plants ends of a collection, told and untold.
func TestEndsOfStreams(t *testing.T) {
	const first, second = 6, 8 // the drop comes after six writes; two shards tell of it
	drop := func(h *told) histories.Op {
		return histories.Op{
			ID:      90,
			NS:      "a.b",
			Kind:    scenario.Drop,
			Call:    h.ops[5].Return,
			Return:  h.ops[5].Return + 1,
			Outcome: histories.OK,
			Result:  histories.Result{Applied: true},
		}
	}
	end := func(shard, kind string, n int) histories.Change {
		return histories.Change{Kind: kind, Token: histories.Token{Time: first, Shard: shard, N: n}}
	}
	gone := func(h *told, shard string) []histories.Change {
		return append(h.changes[:6:6], end(shard, "drop", 0), end(shard, "invalidate", 1))
	}
	ended := func(h *told, id int, changes []histories.Change) histories.Op {
		w := h.watch(id, 0, second, changes)
		b := &w.Stream.Batches[len(w.Stream.Batches)-1]
		b.Upto = changes[len(changes)-1].Token
		return w
	}
	for name, c := range map[string]struct {
		plant     func(h *told) []histories.Op
		signature Signature
	}{
		"ended": {
			func(h *told) []histories.Op {
				return []histories.Op{
					drop(h), ended(h, 1, gone(h, "t")),
				}
			}, "",
		},
		"by two shards": {func(h *told) []histories.Op {
			return []histories.Op{drop(h), ended(h, 1, gone(h, "t")), ended(h, 2, gone(h, "u"))}
		}, ""},
		"never dropped": {
			func(h *told) []histories.Op { return []histories.Op{ended(h, 1, gone(h, "t"))} },
			changeInvented,
		},
		"not invalidated": {func(h *told) []histories.Op {
			return []histories.Op{
				drop(h), h.watch(1, 0, 9, append(gone(h, "t")[:7:7], h.changes[6:]...)),
			}
		}, changeAfterEnd},
		"goes on": {func(h *told) []histories.Op {
			return []histories.Op{drop(h), h.watch(1, 0, 9, append(gone(h, "t"), h.changes[6:]...))}
		}, changeAfterEnd},
		"untold": {
			func(h *told) []histories.Op {
				return []histories.Op{
					drop(h), h.watch(1, 0, 9, h.changes),
				}
			}, ChangeMissed,
		},
		"untold, as another took its name": {func(h *told) []histories.Op {
			taken := drop(h)
			taken.Kind, taken.NS, taken.Into = scenario.Rename, "a.c", "a.b"
			taken.Result.Found = true
			return []histories.Op{taken, h.watch(1, 0, 9, h.changes)}
		}, ChangeMissed},
		"untold, as nobody had its name": {func(h *told) []histories.Op {
			taken := drop(h)
			taken.Kind, taken.NS, taken.Into = scenario.Rename, "a.c", "a.b"
			return []histories.Op{taken, h.watch(1, 0, 9, h.changes)}
		}, ""},
		"untold, as there was none": {func(h *told) []histories.Op {
			idle := drop(h)
			idle.Result.Applied = false
			return []histories.Op{idle, h.watch(1, 0, 9, h.changes)}
		}, ""},
		"told to another": {func(h *told) []histories.Op {
			return []histories.Op{
				drop(h), ended(h, 1, gone(h, "t")), h.watch(2, 0, 7, h.changes[:7]),
			}
		}, ChangeMissed},
	} {
		t.Run(name, func(t *testing.T) {
			h := tellStory()
			v := verdictOf(append(h.ops, c.plant(h)...))
			if got := append(v.Violations, Violation{})[0].Signature; got != c.signature {
				t.Errorf("%q, want %q: %+v", got, c.signature, v.Violations)
			}
		})
	}
}
