package shardstore

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/sim"
)

// TestWrongRows: what if a scan had lacked one of its documents, or had returned the one that was
// there before? That is found whatever is written meanwhile, but for what is undecidable for a
// reason that has a name; less than one in a hundred is missed. How much is undecidable is judged
// over all read concerns, as some have few rows.
func TestWrongRows(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays whole seeds")
	}
	pool := new(sim.Pool)
	rates := map[string]*rate{}
	for seed := range uint64(*orphanSeeds) {
		r, err := runner.Run(generate.Mixed(seed+1), runner.Options{
			Targets: target.Set{Store{}}, Pool: pool,
		})
		if err != nil || !r.Passed() {
			t.Fatalf("seed %d: %v %s", seed+1, err, r.Kind())
		}
		for i := range r.History {
			if op := &r.History[i]; showsRows(op) {
				falsify(t, rates, r.History, op)
			}
		}
	}
	shown, found := map[string]int{}, map[string]int{}
	for _, what := range slices.Sorted(maps.Keys(rates)) {
		of := rates[what]
		t.Logf("%-18s %v", what, of)
		if missed := of.shown - of.found - of.open(); missed*100 >= of.shown {
			t.Errorf("%s: %d of %d are missed", what, missed, of.shown)
		}
		kind, _, _ := strings.Cut(what, " ")
		shown[kind], found[kind] = shown[kind]+of.shown, found[kind]+of.found
	}
	for kind := range shown {
		if found[kind]*10 < shown[kind]*8 {
			t.Errorf("%s: of %d only %d are found", kind, shown[kind], found[kind])
		}
	}
}

func showsRows(op *histories.Op) bool {
	return op.Kind.Of().Shape == opkind.Ranged && op.Outcome == histories.OK &&
		op.Concern != string(command.Available) && len(op.Result.Items) > 0
}

// falsify has a history judged in which a scan lacks a document, and one in which it has a stale
// one. Afterwards the history is as it was.
func falsify(t *testing.T, rates map[string]*rate, ops []histories.Op, scan *histories.Op) {
	t.Helper()
	was := scan.Result.Items
	defer func() { scan.Result.Items = was }()
	n := scan.ID % len(was)
	writer := writerOf(ops, scan.NS, &was[n])
	try := func(what string, items []histories.Item, why string) {
		scan.Result.Items = items
		r := rates[what+scan.Concern]
		if r == nil {
			r = &rate{undecidable: map[string]int{}}
			rates[what+scan.Concern] = r
		}
		r.shown++
		switch found := checkers.Worst(checkers.Check(ops, checkers.Limits{})).Outcome; {
		case found == checkers.Fail:
			r.found++
		case why != "":
			r.undecidable[why]++
		default:
			t.Logf("%s%s: k=%d of operation %d is missed", what, scan.Concern, was[n].Key, scan.ID)
		}
	}
	why := notThere(ops, scan, n, writer)
	try("dropped ", slices.Delete(slices.Clone(was), n, n+1), why)
	if writer != nil && writer.Result.Found && writer.Result.Value != "" {
		stale := slices.Clone(was)
		stale[n].Value, stale[n].List = writer.Result.Value, writer.Result.List
		why := notReplaced(scan, writer)
		if why == "" && slices.ContainsFunc(ops, func(o histories.Op) bool {
			return o.Kind == opkind.Rename && mayRemove(&o, scan, writer)
		}) {
			why = "the collection may have been replaced meanwhile"
		}
		try("stale ", stale, why)
	}
}

// writerOf is the operation that wrote a document as a scan has it, nil when none is known.
func writerOf(ops []histories.Op, ns string, row *histories.Item) *histories.Op {
	i := slices.IndexFunc(ops, func(op histories.Op) bool {
		return op.NS == ns && op.Key == row.Key && op.Value == row.Value && op.Kind.Writes()
	})
	if i < 0 {
		return nil
	}
	return &ops[i]
}

// notThere is why a scan may lack its n-th document, empty when it may not.
func notThere(ops []histories.Op, scan *histories.Op, n int, writer *histories.Op) string {
	switch {
	case n == len(scan.Result.Items)-1 && !scan.Result.Complete:
		return "the last row of a scan that was given up"
	case scan.Lossy:
		return "range deletion may have come first"
	}
	if why := notReplaced(scan, writer); why != "" {
		return why
	}
	if slices.ContainsFunc(ops, func(o histories.Op) bool { return mayRemove(&o, scan, writer) }) {
		return "it may have been removed meanwhile"
	}
	return ""
}

// notReplaced is why what a document was before may still be seen by a scan, empty when it may not.
func notReplaced(scan, writer *histories.Op) string {
	switch {
	case writer == nil:
		return "nobody knows who wrote it"
	case writer.Outcome != histories.OK:
		return "its write has no answer"
	case writer.Time > scan.Since:
		return "it was written after the time as of which the scan is"
	}
	return ""
}

// mayRemove reports whether an operation may have removed a document between its write and the end
// of a scan.
func mayRemove(o, scan, writer *histories.Op) bool {
	key := o.Kind.Of().Effect == opkind.Remove && o.NS == scan.NS && o.Key == writer.Key
	all := (o.Kind == opkind.Drop || o.Kind == opkind.Rename) &&
		(o.NS == scan.NS || o.Into == scan.NS)
	if !key && !all || o.Outcome == histories.Failed || o.Call > scan.Return {
		return false
	}
	return o.Outcome == histories.Unknown || o.Return > writer.Call
}
