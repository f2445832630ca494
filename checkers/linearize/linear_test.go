package linearize

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/shardproof/shardproof/checkers/compact"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
)

// world is a perfect store for one key, and clients whose operations overlap. Each operation takes
// effect at one instant between its call and its return; some never learn whether it did.
type world struct {
	*rand.Rand
	value   string
	found   bool
	list    []string
	ops     []histories.Op
	busy    []int
	done    []bool
	clock   uint64
	written []string
	unknown int
}

func (w *world) tick() uint64 { w.clock++; return w.clock }

// run makes about n operations of the kinds by so many clients.
func run(r *rand.Rand, kinds []scenario.OpKind, n, clients, unknown int) []histories.Op {
	w := &world{Rand: r, unknown: unknown, busy: make([]int, clients), done: make([]bool, clients)}
	for i := range w.busy {
		w.busy[i] = -1
	}
	for len(w.ops) < n || w.anyBusy() {
		c := w.IntN(clients)
		switch i := w.busy[c]; {
		case i < 0 && len(w.ops) < n:
			w.call(c, kinds[w.IntN(len(kinds))])
		case i < 0:
		case !w.done[c]:
			w.done[c] = true
			w.apply(&w.ops[i])
		default:
			w.ret(c)
		}
	}
	return w.ops
}

func (w *world) anyBusy() bool {
	for _, i := range w.busy {
		if i >= 0 {
			return true
		}
	}
	return false
}

func (w *world) call(c int, kind scenario.OpKind) {
	op := histories.Op{
		ID:      len(w.ops),
		Client:  c,
		NS:      "t.t",
		Kind:    kind,
		Call:    w.tick(),
		Outcome: histories.OK,
	}
	if kind.Writes() {
		op.Value = fmt.Sprintf("w%d", op.ID)
		w.written = append(w.written, op.Value)
	}
	if kind == scenario.CAS && w.IntN(4) > 0 {
		op.Expect = w.written[w.IntN(len(w.written))]
		if w.found && w.IntN(2) == 0 {
			op.Expect = w.value
		}
	}
	if kind != scenario.Read && w.IntN(100) < w.unknown {
		op.Outcome = histories.Unknown
	}
	w.busy[c], w.done[c] = op.ID, false
	w.ops = append(w.ops, op)
}

func (w *world) apply(op *histories.Op) {
	if op.Outcome == histories.Unknown && w.IntN(2) == 0 {
		return
	}
	r := &op.Result
	switch op.Kind {
	case scenario.Read:
		r.Found, r.Value, r.List = w.found, w.value, slices.Clone(w.list)
	case scenario.Write:
		r.Found, r.Value, r.List, r.Applied = w.found, w.value, slices.Clone(w.list), true
		w.set(op.Value)
	case scenario.Upsert:
		r.Applied = true
		if op.ID%3 > 0 {
			r.Found, r.Upserted = w.found, !w.found
		}
		w.set(op.Value)
	case scenario.CAS:
		r.Applied = w.found && op.Expect != "" && w.value == op.Expect ||
			!w.found && op.Expect == ""
		if r.Applied {
			w.set(op.Value)
		}
	case scenario.Insert:
		if r.Applied = !w.found; r.Applied {
			w.set(op.Value)
		}
	case scenario.Update:
		if r.Applied = w.found; r.Applied {
			w.value = op.Value
		}
	case scenario.Delete:
		r.Found, r.Value, r.List, r.Applied = w.found, w.value, slices.Clone(w.list), w.found
		w.found, w.value, w.list = false, "", nil
	case scenario.DeleteOne:
		r.Applied = w.found
		w.found, w.value, w.list = false, "", nil
	case scenario.Push:
		r.Applied = true
		w.found, w.list = true, append(w.list, op.Value)
	case scenario.Drop:
		w.found, w.value, w.list = false, "", nil
	}
}

func (w *world) set(v string) { w.found, w.value, w.list = true, v, nil }

func (w *world) ret(c int) {
	op := &w.ops[w.busy[c]]
	op.Return = w.tick()
	if op.Outcome == histories.Unknown {
		op.Result = histories.Result{}
	}
	w.busy[c] = -1
}

// mutate spoils a history in one of several ways, some of which do no harm.
func mutate(r *rand.Rand, ops []histories.Op) {
	a, b := &ops[r.IntN(len(ops))], &ops[r.IntN(len(ops))]
	switch r.IntN(7) {
	case 0:
		a.Result, b.Result = b.Result, a.Result
	case 1:
		a.Result.Found, a.Result.Value, a.Result.List = false, "", nil
	case 2:
		if b.Value != "" {
			a.Result.Found, a.Result.Value = true, b.Value
		}
	case 3:
		if n := len(a.Result.List); n > 0 {
			a.Result.List = a.Result.List[:r.IntN(n)]
		}
	case 4:
		a.Result.Applied = !a.Result.Applied
	case 5:
		a.Outcome = histories.Failed
	case 6:
		a.Return = a.Call + 1
	}
}

var mixes = map[string][]scenario.OpKind{
	"register": {"read", "read", "write", "cas", "cas"},
	"lives":    {"read", "insert", "delete"},
	"upserts":  {"read", "upsert"},
	"updates":  {"read", "update", "insert"},
	"lists":    {"read", "push", "push"},
	"blind":    {"read", "upsert", "delete", "update", "cas"},
	"images":   {"push", "push", "write", "delete"},
	"all":      {"read", "write", "cas", "insert", "delete", "update", "upsert", "push"},
	"dropped":  {"read", "push", "push", "push", "write", "drop"},
	"counted":  {"read", "push", "push", "push", "write", "delete-one"},
}

// longest keeps searches of lists short: where little is settled they explode.
var longest = map[string]int{
	"register": 25,
	"lives":    25,
	"upserts":  25,
	"updates":  25,
	"blind":    25,
	"lists":    12,
	"images":   12,
	"dropped":  12,
	"counted":  12,
	"all":      16,
}

// The near-linear way and a plain search agree on every history, valid or spoilt: what one explains
// the other does not refuse. Valid histories are never refused, and the mixes it is complete for
// never stay open when nothing is unknown.
func TestAgreesWithSearch(t *testing.T) {
	for name, kinds := range mixes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(*seedOfMixes, uint64(len(name))))
			tally := map[string]int{}
			for n := range rounds() {
				ops := run(r, kinds, 3+r.IntN(longest[name]), 2+r.IntN(5), []int{0, 5, 30}[n%3])
				spoilt := n%2 == 1
				if spoilt {
					mutate(r, ops)
				}
				compare(t, name, ops, spoilt, tally)
				if t.Failed() {
					return
				}
			}
			t.Log(tally)
		})
	}
}

var (
	ofEachMix   = flag.Int("histories", 1500, "how many histories are searched of each mix")
	seedOfMixes = flag.Uint64("histories-seed", 1, "which histories these are")
)

func rounds() int {
	if testing.Short() {
		return *ofEachMix / 5
	}
	return *ofEachMix
}

func compare(t *testing.T, name string, ops []histories.Op, spoilt bool, tally map[string]int) {
	t.Helper()
	raw, fast := Split(compact.Of(ops)), Split(compact.Of(ops))
	if len(fast) == 0 {
		return
	}
	verdict := porcupine.CheckOperationsTimeout(raw[0].reference(), raw[0].everything(),
		50*time.Millisecond)
	if verdict == porcupine.Unknown {
		tally["given up"]++
		return
	}
	want := verdict == porcupine.Ok
	got := fast[0].Analyse()
	tally[fmt.Sprint(want, got.Answer)]++
	if !want && !spoilt {
		t.Fatalf("a valid history is refused by the search:\n%s", show(ops))
	}
	if got.Answer == Explained && !want || got.Answer == Contradiction && want {
		t.Fatalf("search says %v, near-linear %+v:\n%s%s", want, got, show(ops), actsText(&fast[0]))
	}
	compareSearches(t, &fast[0], want, got.Proof.Reason == Phantom, ops, tally)
	if got.Answer == Open &&
		(name == "register" || name == "upserts" || name == "lists") && !spoilt {
		tally["open though valid"]++
	}
}

// compareSearches has both ways of searching decide, and takes a core for what it says it is: acts
// that nothing explains.
func compareSearches(
	t *testing.T, k *Key, want, phantom bool, ops []histories.Op, tally map[string]int,
) {
	t.Helper()
	acts, of := k.searched()
	limits := newTimer(Limits{Time: time.Second, Acts: 1000})
	followed, stuck := follow(k.specification(), acts, limits.stopped)
	found := porcupineFinds(k.specification(), acts, of, limits)
	tally[fmt.Sprint("followed ", followed)]++
	for way, answer := range map[string]Answer{"follow": followed, "porcupine": found.Answer} {
		if answer != Open && !phantom && (answer == Explained) != want {
			t.Fatalf("%s says %v, the reference %v:\n%s%s", way, answer, want,
				show(ops), actsText(k))
		}
	}
	if followed != Contradiction {
		return
	}
	core := coreOf(k.specification(), acts, of, stuck, limits)
	if len(core) == 0 {
		t.Fatalf("the core of a contradiction is empty:\n%s%s", show(ops), actsText(k))
	}
	tally["acts refused"] += len(acts)
	tally["acts in cores"] += len(core)
}

// everything is all acts, those of unknown outcome too.
func (k *Key) everything() []porcupine.Operation {
	var ops []porcupine.Operation
	for i := range k.Acts {
		a := &k.Acts[i]
		ops = append(ops, porcupine.Operation{
			Input:  a,
			Call:   int64(a.Call),
			Return: int64(a.Return),
		})
	}
	return ops
}

func show(ops []histories.Op) (s string) {
	for _, o := range ops {
		s += fmt.Sprintf("%d c%d %s v=%s if=%s [%d %d] %s %+v\n",
			o.ID, o.Client, o.Kind, o.Value, o.Expect, o.Call, o.Return, o.Outcome, o.Result)
	}
	return s
}

func actsText(k *Key) (s string) {
	for i, a := range k.Acts {
		s += fmt.Sprintf("%d: %+v\n", i, a)
	}
	return s
}

// An insert that was refused saw a document, of which it does not say which: two lives that may
// come in either order leave it a place in one order only, and nothing is proven by the other.
func TestRefusedBetweenLives(t *testing.T) {
	op := func(kind scenario.OpKind, value string, call, end uint64,
		r histories.Result) histories.Op {
		return histories.Op{
			NS: "t.t", Kind: kind, Value: value, Call: call, Return: end, Outcome: histories.OK,
			Result: r,
		}
	}
	made := histories.Result{Applied: true}
	removed := func(v string) histories.Result {
		return histories.Result{Found: true, Value: v, Applied: true}
	}
	ops := []histories.Op{
		op(scenario.Insert, "a", 1, 11, made), op(scenario.Delete, "", 2, 20, removed("b")),
		op(scenario.Insert, "b", 5, 15, made), op(scenario.Delete, "", 7, 14, removed("a")),
		op(scenario.Read, "", 10, 12, histories.Result{Found: true, Value: "a"}),
		op(scenario.Insert, "x", 16, 18, histories.Result{}),
		op(scenario.Insert, "c", 17, 25, made),
		op(scenario.Read, "", 21, 22, histories.Result{}),
		op(scenario.Delete, "", 26, 28, removed("c")),
	}
	for i := range ops {
		ops[i].ID, ops[i].Client = i, i
	}
	keys := Split(compact.Of(ops))
	if got := keys[0].Analyse(); got.Answer == Contradiction {
		t.Errorf("a valid history is refused: %+v", got.Proof)
	}
	if got := keys[0].Search(Limits{Time: time.Minute, Acts: 100}).Answer; got != Explained {
		t.Errorf("the search says %v", got)
	}
}

// Pushes that a later read saw, sent while drops of unknown outcome went on: what a drop that comes
// too early leaves possible is not followed through every subset of them.
func TestSeenPushesUnderDrops(t *testing.T) {
	var ops []histories.Op
	add := func(kind scenario.OpKind, value string, outcome histories.Outcome, r histories.Result) {
		n := uint64(len(ops))
		ops = append(ops, histories.Op{
			ID: len(ops), Client: len(ops), NS: "t.t", Kind: kind, Value: value,
			Call: 10*n + 1, Return: 10*n + 2, Outcome: outcome, Result: r,
		})
	}
	var list []string
	for n := range 3 * mostUnknownKinds {
		list = append(list, fmt.Sprint("w", n))
		add(scenario.Push, list[n], histories.Unknown, histories.Result{})
		if n%10 == 0 {
			add(scenario.Drop, "", histories.Unknown, histories.Result{})
		}
	}
	add(scenario.Read, "", histories.OK, histories.Result{Found: true, List: list})
	add(scenario.Read, "", histories.OK, histories.Result{})
	keys := Split(compact.Of(ops))
	if got := keys[0].Analyse(); got.Answer != Open {
		t.Fatalf("a drop is nothing to be analysed, but: %+v", got)
	}
	if got := keys[0].Search(Limits{Time: time.Minute, Acts: 100}); got.Answer != Explained {
		t.Errorf("the search says %+v", got)
	}
}

// asked counts how often a search asks whether it may go on, which it does every few hundred steps,
// and ends it after so many times: what it costs is tested without a clock.
func asked(most int) (limits Limits, times *int) {
	times = new(int)
	return Limits{Time: time.Hour, Stop: func() string {
		if *times++; *times > most {
			return "the test"
		}
		return ""
	}}, times
}

// A long list on one key is searched in about as many steps as it has operations, and without
// porcupine, which may have none here.
func TestLongList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	keys := Split(compact.Of(run(r, []scenario.OpKind{"read", "push"}, 1000, 5, 0)))
	limits, times := asked(len(keys[0].Acts) / 100)
	if got := keys[0].Search(limits); got.Answer != Explained {
		t.Errorf("%d operations: %+v", len(keys[0].Acts), got)
	}
	t.Logf("asked %d times", *times)
}

// Small histories of lists whose pushes are mostly of unknown outcome are decided: what is no
// beginning of a list that was read later leads nowhere.
func TestUnknownPushes(t *testing.T) {
	for _, name := range []string{"lists", "images", "dropped", "counted"} {
		r := rand.New(rand.NewPCG(*seedOfMixes, uint64(len(name))))
		most := 0
		for n := range rounds() {
			ops := run(r, mixes[name], longest[name], 2+r.IntN(10), 70)
			if n%2 == 1 {
				mutate(r, ops)
			}
			limits, times := asked(100)
			for _, k := range Split(compact.Of(ops)) {
				if k.Analyse().Answer != Open {
					continue
				}
				if got := k.Search(limits); got.Answer == Open {
					t.Fatalf("%s: %s:\n%s%s", name, got.Exceeded, show(ops), actsText(&k))
				}
			}
			most = max(most, *times)
		}
		t.Logf("%s: asked %d times at most", name, most)
	}
}

// Pushes of unknown outcome that nobody saw are alike, however many there are: a document that was
// deleted with no word of what it was leaves open which of them made it.
func TestPushesThatNobodySaw(t *testing.T) {
	ops := []histories.Op{
		{NS: "t.c", Kind: "write", Value: "a", Outcome: "ok", Result: histories.Result{Applied: true}},
		{NS: "t.c", Kind: "delete-one", Outcome: "ok", Result: histories.Result{Applied: true}},
	}
	for n := range 40 {
		ops = append(ops,
			histories.Op{NS: "t.c", Kind: "push", Value: fmt.Sprint("p", n), Outcome: "unknown"},
			histories.Op{NS: "t.c", Kind: "read", Outcome: "ok"})
	}
	ops = append(ops, histories.Op{NS: "t.c", Kind: "delete-one", Outcome: "ok"})
	for i := range ops {
		ops[i].ID, ops[i].Call, ops[i].Return = i+1, uint64(2*i+1), uint64(2*i+2)
	}
	limits, _ := asked(1)
	keys := Split(compact.Of(ops))
	if got := keys[0].Search(limits); got.Answer != Explained {
		t.Errorf("%+v", got)
	}
	ops[1].Outcome = "failed"
	keys = Split(compact.Of(ops))
	if got := keys[0].Search(limits); got.Answer != Contradiction {
		t.Errorf("nothing deleted the document: %+v", got)
	}
}

// A scan whose client never learnt what became of it says nothing, though it is complete.
func TestScanOfUnknownOutcome(t *testing.T) {
	keys := Split(compact.Of([]histories.Op{
		{ID: 1, NS: "t.c", Kind: "insert", Key: 1, Value: "a", Call: 1, Return: 2, Outcome: "ok",
			Result: histories.Result{Applied: true}},
		{ID: 2, NS: "t.c", Kind: "scan", To: 9, Call: 3, Return: 4, Outcome: "unknown",
			Result: histories.Result{Complete: true}},
	}))
	if len(keys) != 1 || len(keys[0].Acts) != 1 {
		t.Errorf("%+v", keys)
	}
}
