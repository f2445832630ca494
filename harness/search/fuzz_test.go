package search

import (
	"testing"

	"github.com/shardproof/shardproof/harness/explain"
)

// FuzzScenario runs what bytes stand for: in `go test` those of its corpus, with `go test -fuzz
// Scenario ./harness/search` as many as time allows, led by the code that they reach.
func FuzzScenario(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x01\x00\x00\x10\x20\x30\x40\xff\x80\x80\x80\x80\x80\x80\x80\x80"))
	f.Add([]byte(
		"\x02\xff\x07\x00\x00\x00\x00\x90\x20\x30\x40\x50\x60\x70\x90\xa0\xb0\xc0\xd0\xe0\xf0",
	))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Fuzz(store, data)
		if err != nil {
			t.Fatalf("%v\n%s", err, Decode(data))
		}
		if !r.Passed() {
			t.Fatalf("\n%s\n%s", explain.Report(r, explain.Where{}), r.Plan())
		}
	})
}
