package checkers

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/compact"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// Scans holds scans to what they promise as a whole; what they say of single keys goes into the
// keys' histories, where a document that is missing, stale or risen shows as an ordinary
// contradiction.
var Scans = Checker{
	Name: "scans",
	Promise: "A scan returns every document at most once, in key order, and only documents " +
		"in its range.",
	Signatures: Meanings{
		duplicateInScan: "a scan returned one key twice",
		outsideOfScan:   "a scan returned a key outside its range",
		disorderInScan:  "a scan returned keys out of order",
	},
}

// The signatures of scan violations.
const (
	duplicateInScan Signature = "scan-duplicate"
	outsideOfScan   Signature = "scan-out-of-range"
	disorderInScan  Signature = "scan-out-of-order"
)

var _ = declare(30, &Scans, func(h *history) Verdict { return checkScans(h.ops) })

func checkScans(ops *compact.History) Verdict {
	v := Scans.Begin()
	if !ops.HasScans() {
		return v
	}
	for i := range ops.Len() {
		// An available read may return what its shard no longer owns; that is documented.
		f := ops.Form(ops.Op(i))
		if f.Kind.Shape == opkind.Ranged && f.Concern != "available" {
			v.Checked++
			checkScan(&v, ops.Operation(i))
		}
	}
	return v
}

func checkScan(v *Verdict, op *histories.Op) {
	seen := make(map[int64]string, len(op.Result.Items))
	for i := range op.Result.Items {
		item := &op.Result.Items[i]
		first, again := seen[item.Key]
		switch {
		case again:
			v.Add(scanned(op, item, duplicateInScan,
				fmt.Sprintf("it returned k=%d twice, as %s and as %s", item.Key, first, item.Value),
				"ownership is fixed when a cursor is opened, and no two shards own one key"))
		case item.Key < op.Key || item.Key >= op.To:
			v.Add(scanned(op, item, outsideOfScan, fmt.Sprintf("it returned k=%d", item.Key),
				"the key is outside its range"))
		case i > 0 && item.Key < op.Result.Items[i-1].Key:
			v.Add(scanned(op, item, disorderInScan,
				fmt.Sprintf("it returned k=%d after k=%d", item.Key, op.Result.Items[i-1].Key),
				"documents come in the order of the key"))
		}
		seen[item.Key] = item.Value
	}
}

func scanned(
	op *histories.Op, item *histories.Item, signature Signature, broke, because string,
) Violation {
	return Violation{
		Signature: signature,
		NS:        op.NS,
		Key:       fmt.Sprint(item.Key),
		Ops:       []int{op.ID},
		Because:   []string{because},
		Broke:     fmt.Sprintf("operation %d scanned [%d, %d): %s", op.ID, op.Key, op.To, broke),
	}
}
