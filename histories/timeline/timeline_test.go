package timeline_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/histories/timeline"
)

func TestRoundTrip(t *testing.T) {
	want := &timeline.Timeline{
		Header: timeline.Header{Schema: timeline.Schema, Name: "three shards", Build: "test"},
		Samples: []timeline.Sample{
			{At: 1, Operations: 900, P50: 1.5, P99: 12}, {At: 2, Failed: 3, Operations: 3},
		},
		Faults: []timeline.Fault{{Name: "kill shard-a.0", From: 1.2, To: 2}},
	}
	var text bytes.Buffer
	if err := want.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, tail := range []string{"", `{"at":3,"oper`} {
		got, err := timeline.Read("file", append(text.Bytes(), tail...))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with %q behind it (-want +got):\n%s", tail, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	const head = `{"schema":"shardproof.timeline/1"}` + "\n"
	for text, want := range map[string]string{
		"":                                     "file: it has no header",
		`{"schema":"x"}` + "\n":                `file:1: its schema is "x"`,
		head + `{"at":1,"ops":1}` + "\n":       "file:2: json: unknown field",
		head + "{\"at\":2}\n{\"at\":2}\n":      "file:3: the sample at 2 follows that at 2",
		head + `{"fault":"f","from":2}` + "\n": "file:2: the fault ends at 0, before it begins",
	} {
		_, err := timeline.Read("file", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}
