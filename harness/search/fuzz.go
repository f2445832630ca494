package search

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Decode makes a scenario of bytes, one for each choice; when they run out, every further choice is
// the first. So any bytes are a scenario, a longer one adds to what a shorter one says, and
// changing a byte changes one choice: what a fuzzer needs.
func Decode(data []byte) *scenario.Scenario {
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

// Fuzz runs the scenario of some bytes. An error means that there is no such scenario, which is a
// mistake of Decode.
func Fuzz(targets target.Set, data []byte) (*runner.Result, error) {
	return runner.Run(Decode(data), runner.Options{Targets: targets})
}
