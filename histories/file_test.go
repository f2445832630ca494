package histories_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
)

func written[T histories.Record](t testing.TB, h histories.Header, records []T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := histories.Write(&b, h, records); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpacked(t testing.TB, packed []byte) string {
	t.Helper()
	zip, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer zip.Close()
	plain, err := zip.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

// Whatever operations a history holds, packed or unpacked, it is read back equal, and written twice
// it has equal bytes.
func TestHistoryRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := rapid.SliceOfN(rapid.Make[histories.Op](), 0, 5).Draw(rt, "ops")
		for i := range want {
			makeText(&want[i])
		}
		h := histories.Header{Scenario: "contended", Seed: 7, Hash: "5f3a"}
		packed := written(t, h, want)
		if !bytes.Equal(packed, written(t, h, want)) {
			rt.Fatal("the same history gave other bytes")
		}
		for _, file := range []string{string(packed), unpacked(t, packed)} {
			header, got, err := histories.Read[histories.Op]("h", strings.NewReader(file))
			if err != nil {
				rt.Fatal(err)
			}
			h.Schema = histories.HistorySchema
			diff := cmp.Diff(h, header) + cmp.Diff(want, got, cmpopts.EquateEmpty())
			if diff != "" {
				rt.Fatal(diff)
			}
		}
	})
}

// makeText keeps to what JSON can hold: histories carry text, not bytes.
func makeText(o *histories.Op) {
	for _, s := range []*string{
		&o.NS, &o.Value, &o.Expect, &o.Concern, &o.Error, &o.Result.Value, (*string)(&o.Kind),
		(*string)(&o.Outcome),
	} {
		*s = strings.ToValidUTF8(*s, "?")
	}
	valid := func(list []string) {
		for i := range list {
			list[i] = strings.ToValidUTF8(list[i], "?")
		}
	}
	valid(o.Result.List)
	if o.Stream != nil {
		makeStreamText(o.Stream)
	}
	for i := range o.Result.Items {
		o.Result.Items[i].Value = strings.ToValidUTF8(o.Result.Items[i].Value, "?")
		valid(o.Result.Items[i].List)
	}
}

func makeStreamText(s *histories.Stream) {
	valid := func(texts ...*string) {
		for _, text := range texts {
			*text = strings.ToValidUTF8(*text, "?")
		}
	}
	valid(&s.After.Shard)
	for i := range s.Batches {
		valid(&s.Batches[i].Upto.Shard)
		for n := range s.Batches[i].Changes {
			c := &s.Batches[i].Changes[n]
			valid(&c.Token.Shard, &c.Kind, &c.Value)
			for j := range c.List {
				valid(&c.List[j])
			}
		}
	}
}

// Events keep their keys, which are bytes and not text.
func TestEventsRoundTrip(t *testing.T) {
	applied := trace.AppliedEvent{
		Actor: trace.User,
		Shard: "shard-a",
		Term:  2,
		Index: 9,
		NS:    "test.docs",
		Key:   "\x00\xff\x80",
		DocID: "\xfe",
		Hash:  1 << 63,
		For:   "s1",
	}.Event()
	applied.Step, applied.At, applied.Node = 1, 5, "shard-a.0"
	want := []trace.Event{*applied, *trace.CatalogWrittenEvent{Why: "split", Chunks: []trace.Chunk{{
		Min: "\x00", Max: "\xff", Shard: "shard-b", Major: 3, Minor: 1, Epoch: "e",
		History: []trace.Placement{{ValidAfter: 4, Shard: "shard-b"}},
	}}}.Event()}
	_, got, err := histories.Read[trace.Event]("e",
		bytes.NewReader(written(t, histories.Header{}, want)))
	if err != nil || !reflect.DeepEqual(want, got) {
		t.Fatalf("%v: %+v, not %+v", err, got, want)
	}
}

const head = `{"schema":"shardproof.history/1","seed":0}` + "\n"

// Files that cannot be trusted are refused with the place, the reason and the remedy.
func TestRefusedFiles(t *testing.T) {
	ops := make([]histories.Op, 100)
	packed := string(written(t, histories.Header{}, ops))
	plain := unpacked(t, []byte(packed))
	for name, c := range map[string]struct{ file, want string }{
		"empty": {"", "h:1: the file is empty; give a history written by shardproof"},
		"foreign": {
			"hello\n", "h:1: this is not a file of shardproof; the first line must be",
		},
		"foreign json": {"{\"a\":1}\n", "h:1: this is not a file of shardproof"},
		"other schema": {
			`{"schema":"shardproof.history/9"}`,
			`h:1: the file has schema "shardproof.history/9" and this build reads "shardproof.history/1"; read it with`,
		},
		"other kind": {
			`{"schema":"shardproof.events/2"}`, `h:1: the file has schema "shardproof.events/2"`,
		},
		"no footer":     {head, "h:2: the file is truncated after 0 records; take a complete copy"},
		"cut line":      {plain[:len(plain)/2], "h:51: the file is truncated after 49 records"},
		"cut archive":   {packed[:len(packed)-9], "is truncated after"},
		"cut to header": {packed[:8], "is truncated after 0 records"},
		"damaged":       {packed[:40] + "?!" + packed[42:], "is damaged"},
		"wrong line":    {head + "{\"id\":\"x\"}\n", "h:2: the line is no record"},
		"unknown field": {head + "{\"id\":1,\"outcom\":\"failed\"}\n",
			`h:2: the line is no record: json: ` +
				`unknown field "outcom"; correct the line`},
		"two records in a line": {head + "{\"id\":1}{\"id\":2}\n", "something follows the record"},
		"behind the end": {
			head + "{\"end\":true,\"records\":0}\n{\"id\":1}\n",
			"h:3: something follows the last line, which says that the file ends",
		},
		"endless line": {
			head + `{"value":"` + strings.Repeat("x", 65<<20), "h:2: the line has more than",
		},
		"wrong count": {
			head + "{\"end\":true,\"records\":3}\n",
			"h:2: the file holds 0 records and its last line says 3",
		},
	} {
		_, _, err := histories.Read[histories.Op]("h", strings.NewReader(c.file))
		var refused *histories.FileError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// A file that is larger than it may be is refused, however small it is packed.
func TestLargeFiles(t *testing.T) {
	packed := written(t, histories.Header{}, make([]histories.Op, 10_000))
	for most, fits := range map[int64]bool{0: true, 2 << 20: true, 1 << 20: false} {
		_, ops, err := histories.ReadSized[histories.Op]("h", bytes.NewReader(packed),
			histories.Extent{Most: most})
		if (err == nil) != fits || fits && len(ops) != 10_000 {
			t.Errorf("%d bytes: %d operations, %v", most, len(ops), err)
		}
	}
}

// A reader goes on saying that the file is over.
func TestEndStays(t *testing.T) {
	r, err := histories.NewReader[histories.Op]("h",
		strings.NewReader(head+`{"end":true,"records":0}`))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Read(new(histories.Op)); err != io.EOF {
			t.Fatal(err)
		}
	}
}

// A preloaded history starts with one finished insert for each document.
func TestPreload(t *testing.T) {
	s := &scenario.Scenario{Collections: []scenario.Collection{
		{NS: "a.a", Keys: 3, Preload: 2},
		{NS: "a.b", Keys: 1, Preload: 1},
	}}
	ops := histories.Preload(s, nil)
	if len(ops) != 3 || ops[2].NS != "a.b" || ops[2].Call != 5 || ops[2].Return != 6 ||
		ops[1].Value != "i1" {
		t.Fatalf("%+v", ops)
	}
}

// What ends the reading of a source says nothing about the file, packed or not.
func TestSourceFails(t *testing.T) {
	ended := errors.New("ended")
	packed := written(t, histories.Header{}, []histories.Op{{ID: 1}, {ID: 2}})
	for _, file := range []string{string(packed), unpacked(t, packed)} {
		for n := range len(file) {
			in := io.MultiReader(strings.NewReader(file[:n]), iotest.ErrReader(ended))
			if _, _, err := histories.Read[histories.Op]("h", in); err != ended {
				t.Fatalf("of %d bytes after %d: %v", len(file), n, err)
			}
		}
	}
}
