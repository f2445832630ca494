package shardstore

import (
	"math"
	"slices"
	"testing"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/key"
)

// A statement is that of the operation which was the client's so-manieth to be sent as one, in the
// order in which they were called.
func TestSender(t *testing.T) {
	op := func(id, client int, kind opkind.Name, call uint64) histories.Op {
		return histories.Op{ID: id, Client: client, Kind: kind, Call: call}
	}
	history := []histories.Op{
		op(-1, histories.PreloadClient, opkind.Insert, 1), op(7, 1, opkind.Push, 9),
		op(3, 1, opkind.Insert, 3), op(4, 1, opkind.Read, 5), op(5, 0, opkind.Delete, 4),
		op(6, 1, opkind.CreateIndex, 7), op(8, 10, opkind.Insert, 2), op(9, 1, opkind.Watch, 8),
		op(10, 1, opkind.Push, 10), op(11, 1, opkind.Push, 11), op(12, 3, opkind.Drop, 12),
		op(13, 3, opkind.Push, 13), op(14, 4, opkind.Shard, 14), op(15, 4, opkind.Push, 15),
	}
	as := map[int]sending{10: batched, 11: batched, 13: batched, 14: prepared}
	for _, c := range []struct {
		session   string
		txn       int64
		statement int
		want      int
	}{
		{"client.1/1", 1, 0, 3},
		{"client.1/1", 2, 0, 6},
		{"client.1/1", 3, 0, 7},
		{"client.1/1", 3, 1, 10},
		{"client.1/1", 3, 2, 11},
		{"client.1/1", 3, 3, math.MinInt},
		{"client.1/1", 4, 0, math.MinInt},
		{"client.1/1", 0, 0, math.MinInt},
		{"client.0/1", 1, 0, 5},
		{"client.10/1", 1, 0, 8},
		{"client.2/1", 1, 0, math.MinInt},
		{"client.4/1", 1, 0, math.MinInt},
		{"client.4/1", 2, 0, 14},
		{"client.4/1", 3, 0, 15},
		{"client.3/1", 2, 0, 13}, // there is no write before that it could join
	} {
		twice := oracle.Twice{Session: c.session, Txn: c.txn, Statement: c.statement}
		if got := sender(history, as, twice); got != c.want {
			t.Errorf("statement %d of transaction %d of %s is operation %d's, want %d's",
				c.statement, c.txn, c.session, got, c.want)
		}
	}
}

// A key of a collection that is not sharded at first may be where its shard key is, too.
func TestPlaces(t *testing.T) {
	hash, err := key.Pattern{Field: shardKeyField, Hashed: true}.Of(documentOf(docName{4, 4}, ""))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		coll scenario.Collection
		want []string
	}{
		"unsharded": {scenario.Collection{Unsharded: true}, []string{string(key.Int(4))}},
		"unsharded at first": {scenario.Collection{Unsharded: true, By: scenario.ByHash, Hashed: true},
			[]string{string(key.Int(4)), string(hash)}},
		"hashed": {scenario.Collection{Hashed: true}, []string{string(key.Int(4)), string(hash)}},
		"ranged": {scenario.Collection{}, []string{string(key.Int(4))}},
	} {
		c.coll.NS = "test.docs"
		on := cluster{scenario: &scenario.Scenario{Collections: []scenario.Collection{c.coll}}}
		got := on.places(&checkers.Violation{NS: "test.docs", Key: "4"})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A second execution explains what is proven by the operation that was executed twice, and by no
// other of its client or on its key.
func TestExecutedTwiceExplains(t *testing.T) {
	history := []histories.Op{
		{ID: 3, Client: 1, Kind: opkind.Insert, Call: 3},
		{ID: 4, Client: 1, Kind: opkind.Push, Call: 5, ReturnAt: 80},
		{ID: 5, Client: 2, Kind: opkind.Push, Call: 7},
	}
	twice := oracle.Twice{NS: "test.docs", Key: "c", Session: "client.1/1", Txn: 2}
	by := func() int { return sender(history, nil, twice) }
	lost := func(ns string, ops ...int) checkers.Violation {
		return checkers.Violation{Signature: "lost-write", NS: ns, Ops: ops}
	}
	all := lost("test.docs", 9)
	all.Signature = checkers.NotLinearizable
	for name, c := range map[string]struct {
		v     checkers.Violation
		key   string
		found int64
		want  bool
	}{
		"the operation itself":       {lost("test.docs", 9, 4), "c", 0, true},
		"another one of the client":  {lost("test.docs", 3, 9), "c", 0, false},
		"another client's":           {lost("test.docs", 5), "c", 0, false},
		"another key":                {lost("test.docs", 4), "d", 0, false},
		"another collection":         {lost("test.more", 4), "c", 0, false},
		"no operations":              {lost("test.docs"), "c", 0, false},
		"all operations of the key":  {all, "c", 0, true},
		"all of another key":         {all, "d", 0, false},
		"the client was told":        {all, "c", 70, true},
		"the client had gone before": {all, "c", 90, false},
	} {
		twice.Found = c.found
		if got := (excuser{history: history}).explains(
			twice, &c.v, []string{c.key}, by,
		); got != c.want {
			t.Errorf("%s: explained %v", name, got)
		}
	}
}

// Who wrote a value that two operations replaced is concerned by that, and nobody else.
func TestConcerned(t *testing.T) {
	replaced := func(id int, value string) histories.Op {
		return histories.Op{
			ID: id, Value: "by" + value, Result: histories.Result{Found: true, Value: value},
		}
	}
	x := excuser{history: []histories.Op{
		{ID: 1, Value: "a"}, {ID: 2, Value: "b"}, replaced(3, "a"), replaced(4, "a"), replaced(5, "b"),
	}}
	for name, c := range map[string]struct {
		signature checkers.Signature
		ops, want []int
	}{
		"both replaced one":  {checkers.LostWrite, []int{3, 4}, []int{3, 4, 1}},
		"each replaced one":  {checkers.LostWrite, []int{3, 5}, []int{3, 5}},
		"found none":         {checkers.LostWrite, []int{1, 2}, []int{1, 2}},
		"another signature":  {checkers.ChangeWrong, []int{3, 4}, []int{3, 4}},
		"unknown operations": {checkers.LostWrite, []int{3, 9}, []int{3, 9}},
	} {
		got := x.concerned(&checkers.Violation{Signature: c.signature, Ops: c.ops})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The proof of a violation may be about other keys than its own.
func TestPlacesOfProof(t *testing.T) {
	x := excuser{
		cluster: &cluster{scenario: &scenario.Scenario{}},
		history: []histories.Op{
			{ID: 3, Kind: opkind.Push, Key: 7}, {ID: 4, Kind: opkind.Scan, Key: 8},
			{ID: 5, Kind: opkind.Push, Key: 9},
		},
	}
	v := checkers.Violation{NS: "test.docs", Key: "1", Ops: []int{3, 4}}
	alone, both := []string{string(key.Int(1))}, []string{string(key.Int(1)), string(key.Int(7))}
	if got := x.placesOfProof(&v); !slices.Equal(got, both) {
		t.Errorf("%q, want %q", got, both)
	}
	if got := x.placesCompared(&v); !slices.Equal(got, alone) {
		t.Errorf("%q compared, want %q", got, alone)
	}
	v.Signature = checkers.ChangeTimes
	if got := x.placesCompared(&v); !slices.Equal(got, both) {
		t.Errorf("%q compared by their times, want %q", got, both)
	}
}

// What a stream shows that does not know of a shard: that changes are missing, and nothing else.
func TestLacksChange(t *testing.T) {
	for of, want := range map[checkers.Signature]bool{
		"change-missing": true, "change-inconsistent": true, "change-duplicated": false,
		"change-out-of-order": false, checkers.NotLinearizable: false,
	} {
		if got := lacksChange(&checkers.Violation{Signature: of}); got != want {
			t.Errorf("%s: %v", of, got)
		}
	}
}

// An undelivered write explains a change on its key that follows the copy, and nothing else.
func TestUndeliveredExplains(t *testing.T) {
	x := excuser{
		cluster: &cluster{scenario: &scenario.Scenario{}},
		history: []histories.Op{{ID: 3, ReturnAt: 30}, {ID: 4, ReturnAt: 40}},
	}
	w := oracle.Undelivered{NS: "test.docs", Key: string(key.Int(7)), Since: 40}
	wrong := func(ns, k string, op int) checkers.Violation {
		return checkers.Violation{Signature: checkers.ChangeWrong, NS: ns, Key: k, Ops: []int{op}}
	}
	missed := wrong("test.docs", "7", 4)
	missed.Signature = "change-missing"
	for name, c := range map[string]struct {
		v    checkers.Violation
		want bool
	}{
		"the next write":     {wrong("test.docs", "7", 4), true},
		"one before":         {wrong("test.docs", "7", 3), false},
		"another key":        {wrong("test.docs", "8", 4), false},
		"another collection": {wrong("test.more", "7", 4), false},
		"a missing change":   {missed, false},
	} {
		if got := x.hides(w, &c.v); got != c.want {
			t.Errorf("%s: explained %v", name, got)
		}
	}
}

// A collection that was renamed is excused under each of its names; a rename that failed gives
// none.
func TestNamesOf(t *testing.T) {
	rename := func(from, into string, outcome histories.Outcome) histories.Op {
		return histories.Op{Kind: opkind.Rename, NS: from, Into: into, Outcome: outcome}
	}
	x := excuser{history: []histories.Op{
		rename("t.a", "t.b", histories.OK), rename("t.b", "t.c", histories.Unknown),
		rename("t.c", "t.d", histories.Failed),
	}}
	for ns, want := range map[string][]string{
		"t.a": {"t.a", "t.b", "t.c"}, "t.c": {"t.c", "t.b", "t.a"}, "t.d": {"t.d"},
	} {
		if got := x.namesOf(ns); !slices.Equal(got, want) {
			t.Errorf("%s had the names %v, not %v", ns, got, want)
		}
	}
	seen := func(v *checkers.Violation) bool { return v.NS == "t.a" }
	if !x.underAnyName(seen)(&checkers.Violation{NS: "t.c"}) ||
		x.underAnyName(seen)(&checkers.Violation{NS: "t.d"}) {
		t.Error("what happened under an earlier name is not excused, or under another's")
	}
}

// Only a stream of the damaged collection is excused for not coming to its end.
func TestStuckStream(t *testing.T) {
	damaged := []verdict.Damage{{NS: "test.docs", Min: "a", Max: "b"}}
	for _, c := range []struct {
		ns        string
		signature verdict.Signature
		want      bool
	}{
		{"test.docs", endstate.NotFinished, true},
		{"test.other", endstate.NotFinished, false},
		{"", endstate.NotFinished, false},
		{"test.docs", "key-unavailable", false},
	} {
		if got := stuck(damaged, &verdict.Violation{NS: c.ns, Signature: c.signature}); got != c.want {
			t.Errorf("%q of %q: %v", c.signature, c.ns, got)
		}
	}
}
