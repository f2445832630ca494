package checkers

import (
	"testing"

	"github.com/shardproof/shardproof/histories"
)

// since makes a read of a concern that was told that it saw no state from before one time, and none
// after another.
func since(concern string, from, to uint64) func(*histories.Op) {
	return func(o *histories.Op) { o.Concern, o.Since, o.Time = concern, from, to }
}

// overlaps makes an operation begin before the one before it has ended.
func overlaps(o *histories.Op) { o.Call -= 2 }

// A weak read may be old, but not older than the time that it was told.
func TestReadTimes(t *testing.T) {
	const checker = "read-times"
	old := func() *build {
		return new(build).op("upsert", 1, "a", at(10)).op("upsert", 1, "b", at(20))
	}
	gone := func() *build {
		return new(build).op("insert", 1, "a", at(10)).op("delete", 1, "", found("a"), at(20))
	}
	there := func() *build { return new(build).op("insert", 1, "a", at(10)) }
	preloaded := func() *build {
		return new(build).op("insert", 1, "a", client(histories.PreloadClient), within(0, 8))
	}
	two := func() *build {
		return new(build).op("insert", 3, "v3", at(10)).op("insert", 4, "v4", at(20))
	}
	rolledBack := func(o *histories.Op) { o.Result.Applied = true }
	for name, c := range map[string]struct {
		history *build
		signed  Signature
	}{
		"replaced before":            {old().see("a", since("majority", 20, 30)), readReplaced},
		"replaced after":             {old().see("a", since("majority", 19, 30)), ""},
		"the newest":                 {old().see("b", since("majority", 20, 30)), ""},
		"replaced before, local":     {old().see("a", since("local", 20, 30)), readReplaced},
		"no time told":               {old().see("a", since("majority", 0, 30)), ""},
		"available":                  {old().see("a", since("available", 20, 30)), ""},
		"deleted before":             {gone().see("a", since("majority", 20, 30)), readReplaced},
		"deleted after":              {gone().see("a", since("majority", 19, 30)), ""},
		"not found, inserted before": {there().see("", since("majority", 10, 30)), readMissing},
		"not found, inserted later":  {there().see("", since("majority", 9, 30)), ""},
		"not found, deleted since":   {gone().see("", since("majority", 10, 30)), ""},
		"not found, deleted later":   {gone().see("", since("majority", 10, 15)), readMissing},
		"a deletion that happened again": {
			gone().see("", since("local", 10, 15)), "",
		},
		"not found, deleted after the answer": {
			there().see("", since("local", 10, 15)).op("delete", 1, "", found("a"), at(20)),
			readMissing,
		},
		"not found, dropped before it was written": {
			new(build).op("drop", 0, "").op("insert", 1, "a", at(10)).see(
				"", since("majority", 10, 30),
			), readMissing,
		},
		"not found, dropped since": {
			there().op("drop", 0, "").see("", since("majority", 10, 30)), "",
		},
		"not found at a time before the drop's, which was under way": {
			there().op("drop", 0, "", at(20)).see("", since("majority", 10, 15), overlaps), "",
		},
		"not found, dropped after the answer": {
			there().see("", since("majority", 10, 15)).op("drop", 0, "", at(20)), readMissing,
		},
		"not found, may be deleted": {
			there().op("delete", 1, "", outcome(histories.Unknown), rolledBack).see(
				"", since("majority", 10, 30),
			), "",
		},
		"not found on leave": {
			there().see("", since("majority", 10, 30),
				func(o *histories.Op) { o.Lossy = true }), "",
		},
		"was there from the beginning": {
			preloaded().see("", since("majority", 3, 30)), readMissing,
		},
		"a write of unknown outcome that was seen": {
			old().op("upsert", 1, "c", outcome(histories.Unknown), within(24, 0)).see(
				"c", since("majority", 25, 25),
			).see("b", since("majority", 26, 30)), readReplaced,
		},
		"a write of unknown outcome that was seen by chance": {
			old().op("upsert", 1, "c", outcome(histories.Unknown), within(24, 0)).see(
				"c", since("local", 25, 25),
			).see("b", since("majority", 26, 30)), "",
		},
		"a scan without its last document": {
			two().op("scan", 0, "", items(true, 3), since("majority", 20, 30)), readMissing,
		},
		"a scan of then": {
			two().op("scan", 0, "", items(true, 3), since("majority", 19, 30)), "",
		},
		"a scan that broke off": {
			two().op("scan", 0, "", items(false, 3), since("majority", 20, 30)), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			wanted := checker
			if c.signed == "" {
				wanted = ""
			}
			expectVerdict(t, c.history.ops, wanted, c.signed)
		})
	}
}

// inItem makes the first item of a scan another document.
func inItem(value string, list ...string) func(*histories.Op) {
	return func(o *histories.Op) {
		o.Result.Items[0].Value, o.Result.Items[0].List = value, list
	}
}

// What a session knows binds the member that answers, whatever it returns; a value that nobody
// wrote is never read.
func TestWeakReads(t *testing.T) {
	write := func() *build { return new(build).op("insert", 1, "a", at(10)) }
	list := func(values ...string) func(*histories.Op) {
		return func(o *histories.Op) {
			o.Result = histories.Result{Found: true, Value: "a", List: values}
		}
	}
	behind := func(from uint64) func(*histories.Op) {
		return func(o *histories.Op) {
			since("majority", from, 30)(o)
			o.Causal = true
		}
	}
	for name, c := range map[string]struct {
		history *build
		checker string
		signed  Signature
	}{
		"the member had not come so far": {
			write().see("a", behind(9)), "causal-reads", causalBefore,
		},
		"the member had come so far": {write().see("a", behind(10)), "", ""},
		"another's write":            {write().see("a", behind(9), client(1)), "", ""},
		"never written, local": {
			write().see("x", weak("local")), "unique-writes", extraWrite,
		},
		"never written, available": {
			write().see("x", weak("available")), "unique-writes", extraWrite,
		},
		"never pushed, majority": {
			write().op("push", 1, "p").op("read", 1, "", list("p", "x"), weak("majority")),
			"unique-writes", extraWrite,
		},
		"never pushed, local": {
			write().op("read", 1, "", list("x"), weak("local")), "unique-writes", extraWrite,
		},
		"never pushed, a scan of concern available": {
			write().op("scan", 0, "", items(true, 1), weak("available"), inItem("a", "x")),
			"unique-writes", extraWrite,
		},
		"push that was refused, local": {
			write().op("push", 1, "p", outcome(histories.Failed)).op(
				"read", 1, "", list("p"), weak("local"),
			), "unique-writes", dirtyWrite,
		},
		"a list that lacks the newest push, local": {
			write().op("push", 1, "p").op("push", 1, "q").op(
				"read", 1, "", list("p"), weak("local"),
			), "", "",
		},
		"refused, local": {
			write().op("upsert", 1, "b", outcome(histories.Failed)).see("b", weak("local")),
			"unique-writes", dirtyWrite,
		},
		"old, available": {
			write().op("upsert", 1, "b", at(20)).see("a", weak("available")), "", "",
		},
		"maybe written, local": {
			write().op("upsert", 1, "b", outcome(histories.Unknown)).see("b", weak("local")), "",
			"",
		},
	} {
		t.Run(name, func(t *testing.T) { expectVerdict(t, c.history.ops, c.checker, c.signed) })
	}
}
