package checkers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/workloads"
)

// store is a perfect store: every operation takes effect at one instant between its call and its
// return, scans read one document at a time. Clients keep several operations in progress, and some
// never learn what became of theirs.
type store struct {
	*rand.Rand
	docs    map[int64]*document
	clock   uint64
	unknown int
}

type document struct {
	value string
	list  []string
}

// play runs planned operations against a perfect store.
func play(seed uint64, s *scenario.Scenario, clients, unknown int) []histories.Op {
	w := &store{Rand: rand.New(rand.NewPCG(seed, 7)), docs: map[int64]*document{}, unknown: unknown}
	ops := histories.Preload(s, nil)
	for _, op := range ops {
		w.docs[op.Key] = &document{value: op.Value}
	}
	w.clock = uint64(2 * len(ops))
	first := len(ops)
	var busy []*running
	for len(ops)-first < len(s.Ops) || len(busy) > 0 {
		if len(busy) < clients && len(ops)-first < len(s.Ops) {
			ops = append(ops, histories.Op{})
			busy = append(busy, w.call(&s.Ops[len(ops)-1-first], len(ops)-1))
		}
		i := w.IntN(len(busy))
		if busy[i].step(w, ops) {
			busy = slices.Delete(busy, i, i+1)
		}
	}
	return ops
}

func (w *store) tick() uint64 { w.clock++; return w.clock }

// running is an operation in progress. state 0: not called, 1: called, then for scans one step a
// key, last: done.
type running struct {
	plan   *scenario.Op
	at     int
	called bool
	done   bool
	next   int64
}

func (w *store) call(plan *scenario.Op, at int) *running {
	return &running{plan: plan, at: at, next: plan.Key}
}

func (r *running) step(w *store, ops []histories.Op) (over bool) {
	op := &ops[r.at]
	switch {
	case !r.called:
		p := r.plan
		*op = histories.Op{
			ID:      p.ID,
			Client:  p.Client,
			NS:      p.NS,
			Kind:    p.Kind,
			Key:     p.Key,
			To:      p.To,
			Value:   p.Value,
			Expect:  p.Expect,
			Concern: p.Concern,
			Call:    w.tick(),
			Outcome: histories.OK,
		}
		if p.Kind != scenario.Read && p.Kind != scenario.Scan && w.IntN(100) < w.unknown {
			op.Outcome = histories.Unknown
		}
		r.called = true
	case op.Kind == scenario.Scan && r.next < op.To:
		w.scan(op, r.next)
		r.next++
	case !r.done && op.Kind != scenario.Scan:
		w.apply(op)
		r.done = true
	default:
		op.Return = w.tick()
		op.Result.Complete = op.Kind == scenario.Scan
		if op.Outcome == histories.Unknown {
			op.Result = histories.Result{}
		}
		return true
	}
	return false
}

func (w *store) scan(op *histories.Op, key int64) {
	if d := w.docs[key]; d != nil {
		op.Result.Items = append(op.Result.Items,
			histories.Item{Key: key, Value: d.value, List: slices.Clone(d.list), Return: w.tick()})
	}
}

func (w *store) apply(op *histories.Op) {
	if op.Outcome == histories.Unknown && w.IntN(2) == 0 {
		return
	}
	d, r := w.docs[op.Key], &op.Result
	if d != nil && op.Kind != scenario.Update && op.Kind != scenario.Push &&
		op.Kind != scenario.CAS && op.Kind != scenario.Insert && op.Kind != scenario.DeleteOne {
		r.Found, r.Value, r.List = true, d.value, slices.Clone(d.list)
	}
	switch op.Kind {
	case scenario.Write, scenario.Upsert:
		r.Applied = true
		w.docs[op.Key] = &document{value: op.Value}
	case scenario.CAS:
		if r.Applied = d == nil && op.Expect == "" || d != nil && d.value == op.Expect; r.Applied {
			w.docs[op.Key] = &document{value: op.Value}
		}
	case scenario.Insert:
		if r.Applied = d == nil; r.Applied {
			w.docs[op.Key] = &document{value: op.Value}
		}
	case scenario.Update:
		if r.Applied = d != nil; r.Applied {
			d.value = op.Value
		}
	case scenario.Delete, scenario.DeleteOne:
		r.Applied = d != nil
		delete(w.docs, op.Key)
	case scenario.Push:
		if r.Applied = d != nil; r.Applied {
			d.list = append(d.list, op.Value)
		}
	}
}

func plan(seed uint64, keys, count, clients int) *scenario.Scenario {
	return mixed(seed, keys, count, clients, workloads.Standard())
}

func mixed(seed uint64, keys, count, clients int, mix []workloads.Share) *scenario.Scenario {
	c := scenario.Collection{NS: "test.docs", Keys: keys, Preload: keys / 2}
	s := &scenario.Scenario{Collections: []scenario.Collection{c}}
	r := rand.New(rand.NewPCG(seed, 3))
	s.Ops = workloads.Draw(func(_ string, n int) int { return r.IntN(n) }, workloads.Params{
		NS:      c.NS,
		Keys:    keys,
		Preload: c.Preload,
		Clients: clients,
		Count:   count,
		Span:    time.Second,
		Hot:     20,
	}, mix)
	return s
}

// Histories of a perfect store, with the standard workloads, never fail and never stay undecided.
func TestNoFalseAlarm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		clients := rapid.IntRange(1, 12).Draw(t, "clients")
		s := plan(seed, rapid.IntRange(5, 60).Draw(t, "keys"),
			rapid.IntRange(1, 300).Draw(t, "count"), clients)
		ops := play(seed, s, clients, rapid.IntRange(0, 20).Draw(t, "unknown"))
		if v := Worst(Check(ops, Limits{})); v.Outcome != Pass {
			t.Fatalf("%s: %s %v %v", v.Checker, v.Outcome, v.Violations, v.Undecided)
		}
	})
}

// build writes small histories by hand: each operation gets one call and one return after all
// before it, unless it starts with "+", which makes it overlap with the next one.
type build struct {
	ops   []histories.Op
	clock uint64
}

func (b *build) op(
	kind scenario.OpKind, key int64, value string, more ...func(*histories.Op),
) *build {
	o := histories.Op{
		ID:      len(b.ops),
		NS:      "test.docs",
		Kind:    kind,
		Key:     key,
		Value:   value,
		Call:    b.clock + 1,
		Return:  b.clock + 2,
		Outcome: histories.OK,
	}
	o.Result.Applied = kind.Writes()
	b.clock += 2
	for _, m := range more {
		m(&o)
	}
	b.ops = append(b.ops, o)
	return b
}

func (b *build) read(key int64, value string, list ...string) *build {
	return b.op(scenario.Read, key, "", func(o *histories.Op) {
		o.Result = histories.Result{Found: value != "", Value: value, List: list}
	})
}

func found(value string) func(*histories.Op) {
	return func(o *histories.Op) {
		o.Result.Found, o.Result.Value, o.Result.Applied = true, value, true
	}
}

func outcome(x histories.Outcome) func(*histories.Op) {
	return func(o *histories.Op) { o.Outcome = x }
}

func weak(concern string) func(*histories.Op) {
	return func(o *histories.Op) { o.Concern = concern }
}

// items makes a scan of [0, 10) that returned these keys with their numbers as values.
func items(complete bool, keys ...int64) func(*histories.Op) {
	return func(o *histories.Op) {
		o.Key, o.To, o.Result.Complete = 0, 10, complete
		for _, k := range keys {
			o.Result.Items = append(o.Result.Items,
				histories.Item{Key: k, Value: fmt.Sprintf("v%d", k), Return: o.Return})
		}
	}
}

// Each planted violation is found by the checker that is meant for it, under its signature. Beside
// each stands, where there is one, a history that looks alike and is legal.
func TestPlantedViolations(t *testing.T) {
	for name, c := range map[string]struct {
		history *build
		checker string
		signed  Signature
	}{
		"legal": {
			new(build).op("insert", 1, "a").read(1, "a").op("write", 1, "b", found("a")).read(
				1, "b",
			), "", "",
		},
		"acknowledged write not found": {
			new(build).op("insert", 1, "a").op("write", 1, "b", found("a")).read(1, "a"),
			"unique-writes", LostWrite},
		"acknowledged write not found for a time": {
			new(build).op("insert", 1, "a").op("write", 1, "b", found("a")).read(1, "a").read(
				1, "b",
			), "unique-writes", staleRead},
		"upsert not found": {
			new(build).op("upsert", 1, "a").op("upsert", 1, "b").read(1, "a"),
			"unique-writes", LostWrite,
		},
		"upsert comes and goes": {
			new(build).op("upsert", 1, "a").op("upsert", 1, "b").read(1, "a").read(1, "b"),
			"unique-writes", staleRead,
		},
		"document vanished": {
			new(build).op("insert", 1, "a").read(1, ""), "unique-writes", LostWrite,
		},
		"document out of sight": {
			new(build).op("insert", 1, "a").read(1, "").read(1, "a"), "unique-writes", staleRead,
		},
		"two inserts": {
			new(build).op("insert", 1, "a").op("insert", 1, "b"), "unique-writes", LostWrite,
		},
		"two lives": {
			new(build).op("insert", 1, "a").op("delete", 1, "", found("a")).op("insert", 1, "b").op(
				"insert", 1, "c",
			), "unique-writes", LostWrite,
		},
		"life vanished": {
			new(build).op("insert", 1, "a").op("delete", 1, "", found("a")).op(
				"insert", 1, "b",
			).read(1, ""), "unique-writes", LostWrite,
		},
		"both replaced one": {
			new(build).op("insert", 1, "a").op("write", 1, "b", found("a")).op(
				"write", 1, "c", found("a"),
			), "unique-writes", LostWrite,
		},
		"nobody wrote it": {
			new(build).op("insert", 1, "a").read(1, "x"), "unique-writes", extraWrite,
		},
		"seen before written": {
			new(build).op("insert", 1, "a").read(1, "b").op("write", 1, "b", found("a")),
			"unique-writes", extraWrite,
		},
		"failed write seen": {
			new(build).op("insert", 1, "a").op("upsert", 1, "b", outcome(histories.Failed)).read(
				1, "b",
			), "unique-writes", dirtyWrite,
		},
		"unknown write seen": {
			new(build).op("insert", 1, "a").op("upsert", 1, "b", outcome(histories.Unknown)).read(
				1, "b",
			), "", "",
		},
		"unknown write unseen": {
			new(build).op("insert", 1, "a").op("upsert", 1, "b", outcome(histories.Unknown)).read(
				1, "a",
			), "", "",
		},
		"unknown write seen, then not": {
			new(build).op("upsert", 1, "a").op("upsert", 1, "b", outcome(histories.Unknown)).read(
				1, "b",
			).read(1, "a"), "unique-writes", LostWrite},
		"deleted and back": {
			new(build).op("insert", 1, "a").op("delete", 1, "", found("a")).read(1, "a"),
			"unique-writes", resurrectedWrite,
		},
		"deleted by an unknown one": {
			new(build).op("insert", 1, "a").op("delete", 1, "", outcome(histories.Unknown)).read(
				1, "",
			), "", "",
		},
		"gone, back by an unknown": {
			new(build).op("insert", 1, "a").op("delete", 1, "", outcome(histories.Unknown)).read(
				1, "",
			).read(1, "a"), "linearizability", "not-linearizable",
		},
		"cas against what is there": {
			new(build).op("insert", 1, "a").op("cas", 1, "b", expect("z")), "linearizability", "",
		},
		"cas refused though it fits": {
			new(build).op("insert", 1, "a").op("cas", 1, "b", expect("a"), refused),
			"linearizability", "not-linearizable",
		},
		"cas of nothing refused though nothing is there": {
			new(build).op("cas", 1, "b", refused), "linearizability", "not-linearizable",
		},
		"cas of nothing refused, something is there": {
			new(build).op("insert", 1, "a").op("cas", 1, "b", refused), "", "",
		},
		"cas of nothing refused after a delete": {
			new(build).op("insert", 1, "a").op("delete", 1, "", found("a")).op(
				"cas", 1, "b", refused,
			), "linearizability", "not-linearizable",
		},
		"insert refused though nothing is there": {
			new(build).op("insert", 1, "a", refused), "linearizability", "not-linearizable",
		},
		"insert refused, something is there": {
			new(build).op("insert", 1, "a").op("insert", 1, "b", refused), "", "",
		},
		"insert refused after a delete": {
			new(build).op("insert", 1, "a").op("delete", 1, "", found("a")).op(
				"insert", 1, "b", refused,
			), "linearizability", "not-linearizable",
		},
		"insert refused after an unknown one": {
			new(build).op("insert", 1, "a", outcome(histories.Unknown)).op(
				"insert", 1, "b", refused,
			), "", "",
		},
		"update found nothing": {
			new(build).op("insert", 1, "a").op("update", 1, "b", refused),
			"unique-writes", LostWrite,
		},
		"push lost": {
			new(build).op("insert", 1, "a").op("push", 1, "p").op("push", 1, "q").read(1, "a", "q"),
			"exactly-once", LostWrite,
		},
		"push twice": {
			new(build).op("insert", 1, "a").op("push", 1, "p").read(1, "a", "p", "p"),
			"exactly-once", duplicatedWrite,
		},
		"failed push seen": {
			new(build).op("insert", 1, "a").op("push", 1, "p", outcome(histories.Failed)).read(
				1, "a", "p",
			), "exactly-once", dirtyWrite,
		},
		"pushes change places": {
			new(build).op("insert", 1, "a").op("push", 1, "p").op("push", 1, "q").read(
				1, "a", "p", "q",
			).read(1, "a", "q", "p"), "unique-writes", reorderedWrites},
		"push seen, then not": {
			new(build).op("insert", 1, "a").op("push", 1, "p").read(1, "a", "p").read(1, "a"),
			"exactly-once", LostWrite,
		},
		"unknown push": {
			new(build).op("insert", 1, "a").op("push", 1, "p", outcome(histories.Unknown)).read(
				1, "a",
			), "", "",
		},
		"scan returns a key twice": {
			new(build).op("insert", 3, "v3").op("scan", 0, "", items(true, 3, 3)), "scans",
			duplicateInScan,
		},
		"scan leaves its range": {
			new(build).op("insert", 12, "v12").op("scan", 0, "", items(true, 12)), "scans",
			outsideOfScan,
		},
		"scan out of order": {
			new(build).op("insert", 3, "v3").op("insert", 4, "v4").op(
				"scan", 0, "", items(true, 4, 3),
			), "scans", disorderInScan,
		},
		"scan misses a document": {
			new(build).op("insert", 3, "v3").op("insert", 4, "v4").op(
				"scan", 0, "", items(true, 4),
			), "unique-writes", LostWrite,
		},
		"scan misses it for a time": {
			new(build).op("insert", 3, "v3").op("insert", 4, "v4").op(
				"scan", 0, "", items(true, 4),
			).read(3, "v3"), "unique-writes", staleRead,
		},
		"scan that broke off": {
			new(build).op("insert", 3, "v3").op("insert", 4, "v4").op(
				"scan", 0, "", items(false, 3),
			), "", "",
		},
		"scan that broke off misses": {
			new(build).op("insert", 3, "v3").op("insert", 4, "v4").op(
				"scan", 0, "", items(false, 4),
			), "unique-writes", LostWrite,
		},
		"scan shows a deleted one": {
			new(build).op("insert", 3, "v3").op("delete", 3, "", found("v3")).op(
				"scan", 0, "", items(true, 3),
			), "unique-writes", resurrectedWrite,
		},
		"available scan may repeat": {
			new(build).op("insert", 3, "v3").op(
				"scan", 0, "", items(true, 3, 3), weak("available"),
			), "", "",
		},
		"majority read may be old": {
			new(build).op("upsert", 1, "a").op("upsert", 1, "b").op(
				"read", 1, "", found("a"), weak("majority"),
			), "", "",
		},
		"majority read of a failed": {
			new(build).op("upsert", 1, "a").op("upsert", 1, "b", outcome(histories.Failed)).op(
				"read", 1, "", found("b"), weak("majority"),
			), "unique-writes", dirtyWrite,
		},
		"majority read of a rolled back": {
			new(build).op("upsert", 1, "a").op("upsert", 1, "b", outcome(histories.Unknown)).op(
				"read", 1, "", found("b"), weak("majority"),
			).read(1, "a"), "unique-writes", LostWrite},
		"local read of a rolled back": {
			new(build).op("upsert", 1, "a").op("upsert", 1, "b", outcome(histories.Unknown)).op(
				"read", 1, "", found("b"), weak("local"),
			).read(1, "a"), "", "",
		},
	} {
		t.Run(name, func(t *testing.T) { expectVerdict(t, c.history.ops, c.checker, c.signed) })
	}
}

func expect(value string) func(*histories.Op) { return func(o *histories.Op) { o.Expect = value } }

func refused(o *histories.Op) { o.Result.Applied = false }

func expectVerdict(t *testing.T, ops []histories.Op, checker string, signature Signature) {
	t.Helper()
	verdicts := Check(ops, Limits{})
	if checker == "" {
		if v := Worst(verdicts); v.Outcome != Pass {
			t.Fatalf("false alarm of %s: %+v %v", v.Checker, v.Violations, v.Undecided)
		}
		return
	}
	if !slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Checker == checker }) {
		t.Fatalf("there is no checker %q", checker)
	}
	for _, v := range verdicts {
		if v.Outcome == Undecided {
			t.Errorf("%s is undecided: %v", v.Checker, v.Undecided)
		}
		if v.Checker != checker {
			continue
		}
		if v.Outcome != Fail || signature != "" && v.Violations[0].Signature != signature {
			t.Fatalf("%s: %s %+v, want %s; all: %+v",
				checker, v.Outcome, v.Violations, signature, verdicts)
		}
		if first := v.Violations[0]; first.Broke == "" || len(first.Because) == 0 ||
			len(first.Ops) == 0 {
			t.Errorf("the violation is not explained: %+v", first)
		}
	}
}
