package wellformed_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/wellformed"
)

// history is two writes, a scan and a watch, by three clients.
func history() []histories.Op {
	return []histories.Op{
		{
			ID: 1, NS: "t.c", Kind: scenario.Write, Key: 1, Value: "w1", Call: 1, Return: 4,
			Outcome: histories.OK, Result: histories.Result{Applied: true, N: 1},
		},
		{
			ID: 2, NS: "t.c", Kind: scenario.CAS, Key: 1, Value: "w2", Expect: "w1", Call: 5,
			Return: 6, Outcome: histories.Unknown,
		},
		{
			ID: 3, NS: "t.c", Client: 1, Kind: scenario.Scan, To: 9, Call: 2, Return: 9,
			Outcome: histories.OK, Concern: "majority",
			Result: histories.Result{Complete: true, Items: []histories.Item{
				{Key: 1, Value: "w1", Return: 8},
			}},
		},
		{
			ID: 4, NS: "t.c", Client: -2, Kind: scenario.Watch, Call: 3, Return: 10,
			Outcome: histories.OK, Stream: &histories.Stream{Batches: []histories.ChangeBatch{
				{Changes: []histories.Change{{Kind: "replace", Key: 1, Value: "w1"}}},
			}},
		},
	}
}

// Every rule refuses what it is meant for; the history itself is accepted.
func TestFlaws(t *testing.T) {
	if err := wellformed.Check(history()); err != nil {
		t.Fatal(err)
	}
	if err := wellformed.Check(nil); !errors.Is(err, wellformed.ErrEmpty) {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(w, cas, scan, watch *histories.Op){
		`operation 1 has the unknown kind "wirte"`: func(w, _, _, _ *histories.Op) {
			w.Kind = "wirte"
		},
		`operation 1 has the unknown outcome "fail"`: func(w, _, _, _ *histories.Op) {
			w.Outcome = "fail"
		},
		`operation 1 has the unknown outcome "OK"`: func(w, _, _, _ *histories.Op) {
			w.Outcome = "OK"
		},
		`has the unknown concern "linearisable"`: func(_, _, s, _ *histories.Op) {
			s.Concern = "linearisable"
		},
		`has the unknown read preference "nearest"`: func(_, _, s, _ *histories.Op) {
			s.Prefer = "nearest"
		},
		"names no collection":                   func(w, _, _, _ *histories.Op) { w.NS = "" },
		`names the collections "t\x00c" and ""`: func(w, _, _, _ *histories.Op) { w.NS = "t\x00c" },
		`names the collections "t.c" and "t\x1bd"`: func(w, _, _, _ *histories.Op) {
			w.Into = "t\x1bd"
		},
		"was called at 4 and answered at 4": func(w, _, _, _ *histories.Op) { w.Call = 4 },
		"was called at 0 and answered at 4": func(w, _, _, _ *histories.Op) { w.Call = 0 },
		"answered at 18446744073709551615": func(_, c, _, _ *histories.Op) {
			c.Return = math.MaxUint64
		},
		"was called at 9 ns and answered at 0 ns": func(w, _, _, _ *histories.Op) { w.CallAt = 9 },
		"is a write without a value":              func(w, _, _, _ *histories.Op) { w.Value = "" },
		`is a scan, and has the value "x"`:        func(_, _, s, _ *histories.Op) { s.Value = "x" },
		`is a write, and expects the value "x"`: func(w, _, _, _ *histories.Op) {
			w.Expect = "x"
		},
		`is a write into "t.d"`: func(w, _, _, _ *histories.Op) {
			w.Into = "t.d"
		},
		"scans the range [9, 9)": func(_, _, s, _ *histories.Op) { s.Key = 9 },
		"is a write up to 9":     func(w, _, _, _ *histories.Op) { w.To = 9 },
		"is a watch of key 1":    func(_, _, _, w *histories.Op) { w.Key = 1 },
		"is a write of concern local": func(w, _, _, _ *histories.Op) {
			w.Concern = "local"
		},
		"is a write with what only reads have": func(w, _, _, _ *histories.Op) {
			w.Causal = true
		},
		"counts -1 documents and 0 retries": func(w, _, _, _ *histories.Op) {
			w.Result.N = -1
		},
		"is a write with what only scans return": func(w, _, _, _ *histories.Op) {
			w.Result.Complete = true
		},
		"is a scan with the answer to an operation on one key": func(_, _, s, _ *histories.Op) {
			s.Result.N = 1
		},
		`returned the value "w0" of no document`: func(w, _, _, _ *histories.Op) {
			w.Result.Value = "w0"
		},
		"returned k=1 at 10": func(_, _, s, _ *histories.Op) {
			s.Result.Items[0].Return = 10
		},
		"what a stream received is missing": func(_, _, _, w *histories.Op) { w.Stream = nil },
		"what a stream received is there": func(_, c, _, w *histories.Op) {
			c.Stream = w.Stream
		},
		`delivered a change of the unknown kind "replaced"`: func(_, _, _, w *histories.Op) {
			w.Stream.Batches[0].Changes[0].Kind = "replaced"
		},
		"operation 1 is there twice": func(_, c, _, _ *histories.Op) { c.ID = 1 },
		"operation 2 of client 0 was called at 3, before the answer to its operation 1 at 4": func(
			_, c, _, _ *histories.Op,
		) {
			c.Call = 3
		},
	} {
		ops := history()
		spoil(&ops[0], &ops[1], &ops[2], &ops[3])
		var flaw *wellformed.Flaw
		err := wellformed.Check(ops)
		if !errors.As(err, &flaw) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Inserts overlap that their client has sent in one command, and nothing else.
func TestInserts(t *testing.T) {
	insert := func(id int, call, answered uint64) histories.Op {
		return histories.Op{ID: id, NS: "t.c", Kind: scenario.Insert, Value: "w", Call: call,
			Return: answered, Outcome: histories.OK}
	}
	write := insert(2, 2, 5)
	write.Kind = scenario.Write
	for name, c := range map[string]struct {
		ops  []histories.Op
		want bool
	}{
		"one command":          {[]histories.Op{insert(1, 1, 4), insert(2, 2, 5), insert(3, 3, 6)}, true},
		"then another":         {[]histories.Op{insert(1, 1, 3), insert(2, 2, 4), insert(3, 5, 6)}, true},
		"two commands":         {[]histories.Op{insert(1, 1, 4), insert(2, 3, 5)}, false},
		"another within":       {[]histories.Op{insert(1, 1, 9), insert(2, 2, 4), insert(3, 5, 6)}, false},
		"a write after insert": {[]histories.Op{insert(1, 1, 4), write}, false},
	} {
		if err := wellformed.Check(c.ops); (err == nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Numbers may be of any size and sign, and in any order.
func TestNumbers(t *testing.T) {
	numbers := []int{7, -1, 0, math.MaxInt, -4096, -4097, math.MinInt, 4095, 4096, 63, 64}
	var ops []histories.Op
	for i, id := range numbers {
		op := history()[0]
		op.ID, op.Client = id, i
		ops = append(ops, op)
	}
	if err := wellformed.Check(ops); err != nil {
		t.Fatal(err)
	}
	for _, again := range ops {
		again.Client = -1
		if err := wellformed.Check(append(ops, again)); err == nil {
			t.Errorf("operation %d may be there twice", again.ID)
		}
	}
}

// The line of a flaw is the one that an editor shows.
func TestPlace(t *testing.T) {
	ops := history()
	ops[2].Concern = "Majority"
	err := wellformed.CheckFile("h.ndjson", ops)
	const want = `h.ndjson:4: operation 3 has the unknown concern "Majority"; write one of local,`
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
