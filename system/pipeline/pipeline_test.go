package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/pipeline"
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

// TestPipelines: "run" passes the documents behind the line --- through the stages before it;
// "update" changes each of them by the stages.
func TestPipelines(t *testing.T) {
	datadriven.RunTest(t, "testdata/pipelines", func(t *testing.T, d *datadriven.TestData) string {
		first, second, _ := strings.Cut(d.Input, "\nto\n")
		var stages, docs []bson.Raw
		for line := range strings.Lines(first) {
			stages = append(stages, parse(t, line))
		}
		for line := range strings.Lines(second) {
			docs = append(docs, parse(t, line))
		}
		var out strings.Builder
		made, err := made(d.Cmd, stages, docs)
		for _, doc := range made {
			fmt.Fprintln(&out, doc)
		}
		if err != nil {
			fmt.Fprintln(&out, err)
		}
		return out.String()
	})
}

func made(cmd string, stages, docs []bson.Raw) (all []bson.Raw, err error) {
	if cmd == "run" {
		return pipeline.Run(stages, docs)
	}
	change, err := pipeline.Change(stages)
	for _, doc := range docs {
		if err == nil {
			doc, err = pipeline.Update(change, doc)
			all = append(all, doc)
		}
	}
	return all, err
}

// TestReservedChanges: a client's change cannot pass for one of Change, and stages that do not make
// one document of one are no update.
func TestReservedChanges(t *testing.T) {
	doc := parse(t, `{"_id": 1}`)
	for text, want := range map[string]string{
		`{"$pipeline": [{"$limit": 0}]}`:                    "$pipeline",
		`{"$pipeline": [{"$documents": [{}, {}]}]}`:         "$pipeline",
		`{"$set": {"a": 1}, "$arrayFilters": [{"e": 1}]}`:   "$arrayFilters",
		`{"$set": {"$pipeline": 1, "$arrayFilters": 1}}`:    "",
		`{"a": {"$pipeline": [{"$limit": 0}]}, "_id": "x"}`: "",
	} {
		change := parse(t, text)
		if name, found := pipeline.Reserved(change); name != want || found != (want != "") {
			t.Errorf("%s has the reserved name %q (%t), not %q", text, name, found, want)
		}
		if want != "$pipeline" {
			continue
		}
		if made, err := pipeline.Update(change, doc); !errcode.Is(err, errcode.BadValue) {
			t.Errorf("%s updates to %v (%v)", text, made, err)
		}
		if made, err := pipeline.NewFrom(doc, change, nil); !errcode.Is(err, errcode.BadValue) {
			t.Errorf("%s makes %v (%v)", text, made, err)
		}
	}
}
