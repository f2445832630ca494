package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/query"
)

func parse(t testing.TB, text string) bson.Raw {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	raw, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestDocuments: each case's input is one document a line. "match" tells which documents the filter
// in the first line selects, "apply" changes all documents by the first, "elements" does so with
// the array filters in the second, "let" is "match" by the second line with the constants of the
// first, "upsert" makes one from filter and change, "bounds" and "equality" tell what the filters
// say about a field, "evaluate" is the value of the expression e in the first line on each
// document, "project" shows the documents as the first says.
func TestDocuments(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var docs []bson.Raw
			for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
				docs = append(docs, parse(t, line))
			}
			field := "k"
			d.MaybeScanArgs(t, "field", &field)
			var out strings.Builder
			run(t, d, docs, field, &out)
			return out.String()
		})
	})
}

func run(
	t *testing.T, d *datadriven.TestData, docs []bson.Raw, field string, out *strings.Builder,
) {
	said := func(v any, err error) {
		if err != nil {
			v = err
		}
		fmt.Fprintln(out, v)
	}
	switch d.Cmd {
	case "match":
		for _, doc := range docs[1:] {
			said(query.Match(docs[0], doc))
		}
	case "apply":
		for _, doc := range docs[1:] {
			before := string(doc)
			said(query.Apply(docs[0], doc))
			if string(doc) != before {
				t.Errorf("%v was changed in place", doc)
			}
		}
	case "elements":
		change, err := query.WithArrayFilters(docs[0], documentsIn(t, docs[1], "filters"))
		if err != nil {
			said(nil, err)
			return
		}
		for _, doc := range docs[2:] {
			said(query.Apply(change, doc))
		}
	case "let":
		vars, err := query.ParseVariables(docs[0])
		if err != nil {
			said(nil, err)
			return
		}
		for _, doc := range docs[2:] {
			said(query.Match(vars.Filter(docs[1]), doc))
		}
	case "upsert":
		said(query.NewFrom(docs[0], docs[1], nil))
	case "bounds":
		for _, filter := range docs {
			said(query.Bounds(filter, field))
		}
	case "equality":
		for _, filter := range docs {
			v, fixed := query.Equality(filter, field)
			fmt.Fprintln(out, fixed, v)
		}
	case "evaluate":
		for _, doc := range docs[1:] {
			v, found, err := query.Evaluate(docs[0].Lookup("e"), doc)
			if err == nil && !found {
				fmt.Fprintln(out, "nothing")
				continue
			}
			said(v, err)
		}
	case "project":
		shown, err := query.ParseProjection(docs[0])
		if err != nil {
			said(nil, err)
			return
		}
		for _, doc := range docs[1:] {
			said(shown.Apply(doc))
		}
	default:
		t.Fatalf("no command %s", d.Cmd)
	}
}

func documentsIn(t *testing.T, doc bson.Raw, name string) (all []bson.Raw) {
	t.Helper()
	values, err := doc.Lookup(name).Array().Values()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		all = append(all, v.Document())
	}
	return all
}

// TestBoundsContainMatches: a document that a filter selects has its key within the filter's
// bounds, and the equal value if the filter fixes one.
func TestBoundsContainMatches(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(-1, 4).Draw(t, "n")
		return rapid.SampledFrom([]string{fmt.Sprint(n), fmt.Sprintf("%d.5", max(n, 0)),
			fmt.Sprintf("%q", fmt.Sprint(n)), "null",
			`{"$minKey": 1}`, `{"$maxKey": 1}`}).Draw(t, "value")
	})
	condition := rapid.Custom(func(t *rapid.T) string {
		op := rapid.SampledFrom([]string{
			"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$exists",
		}).Draw(t, "op")
		v := value.Draw(t, "operand")
		if op == "$in" {
			v = "[" + v + ", " + value.Draw(t, "other") + "]"
		}
		return fmt.Sprintf("%q: %s", op, v)
	})
	rapid.Check(t, func(rt *rapid.T) {
		filter := `{"k": ` + value.Draw(rt, "fixed") + `}`
		if rapid.Bool().Draw(rt, "operators") {
			filter = fmt.Sprintf(`{"k": {%s, %s}, "$and": [{"k": {%s}}]}`,
				condition.Draw(rt, "a"), condition.Draw(rt, "b"), condition.Draw(rt, "c"))
		}
		f, doc := parse(t, filter), parse(t, `{"k": `+value.Draw(rt, "value")+`}`)
		ok, err := query.Match(f, doc)
		if err != nil {
			rt.Fatal(err)
		}
		k, err := (key.Pattern{Field: "k"}).Of(doc)
		if err != nil || !ok {
			return // MaxKey is no shard key
		}
		bounds, err := query.Bounds(f, "k")
		if err != nil || !bounds.Contains(k) {
			rt.Fatalf("%v selects %v, which is not in %v (%v)", f, doc, bounds, err)
		}
		if v, fixed := query.Equality(f, "k"); fixed {
			if want, err := key.Encode(v); err != nil || want != k {
				rt.Fatalf("%v selects %v, but fixes %v", f, doc, v)
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	filter, doc := parse(b, `{"k": 7}`), parse(b, `{"_id": 7, "k": 7, "v": "w12"}`)
	for b.Loop() {
		if ok, err := query.Match(filter, doc); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	change, doc := parse(b, `{"$set": {"v": "w13"}, "$push": {"l": "p4"}}`),
		parse(b, `{"_id": 7, "k": 7, "v": "w12", "l": ["p3"]}`)
	for b.Loop() {
		if _, err := query.Apply(change, doc); err != nil {
			b.Fatal(err)
		}
	}
}
