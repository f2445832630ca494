package search

import (
	"fmt"
	"testing"
	"time"

	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/scenario"
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
		s := decodeScenario(data)
		r, err := runner.Run(s, runner.Options{Targets: store})
		if err != nil {
			t.Fatalf("%v\n%s", err, s)
		}
		if !r.Passed() {
			t.Fatalf("\n%s\n%s", explain.Report(r, explain.Where{}), r.Plan())
		}
	})
}

// decodeScenario makes a scenario of bytes, one for each choice; when they run out, every further
// choice is the first. So any bytes are a scenario, a longer one adds to what a shorter one says,
// and changing a byte changes one choice: what a fuzzer needs.
func decodeScenario(data []byte) *scenario.Scenario {
	from := byteChoices{data}
	s := baseOf("fuzz", uint64(from.next("base", 256)),
		[]string{"", "4.2"}[from.next("protocol", 2)])
	s.Seed = uint64(from.next("seed", 256))
	for i := range s.Migrations {
		s.Migrations[i].At += time.Duration(from.next("later", 64)) * time.Millisecond
	}
	for range from.next("faults", 4) {
		s.Faults = append(s.Faults, drawFault(s, chooseKind(from.next), from.next))
	}
	for range from.next("settings", 3) {
		changeSetting(s, from.next)
	}
	s.Name = fmt.Sprintf("fuzz-%d", len(data))
	return s
}

// byteChoices answer questions, one each.
type byteChoices struct{ left []byte }

func (b *byteChoices) next(_ string, n int) int {
	if len(b.left) == 0 {
		return 0
	}
	one := int(b.left[0])
	b.left = b.left[1:]
	return one * n / 256
}
