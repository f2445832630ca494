package scenario

import (
	"errors"
	"testing"
)

// FuzzParse: a text that is a scenario survives printing and parsing, and any other is refused with
// its line.
func FuzzParse(f *testing.F) {
	f.Add("shardproof scenario 2\nseed 7\ntopology shards=2 members=3 config=3 routers=1 " +
		"clients=1\ncollection test.docs ranged keys=4 preload=4 bounds=2\npreset quick\n" +
		"op 1 at 10ms client 0 write test.docs k=1 v=\"a b\"\n" +
		"move 1 at 10ms test.docs [2, MaxKey) to shard-a\n" +
		"fault 1 at donor.register #9 pause \"\" for 10ms\ndecide net.loss a>b #3 = 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("f", text)
		if err != nil {
			var refused *ParseError
			if !errors.As(err, &refused) {
				t.Fatalf("refused without a place: %v", err)
			}
			return
		}
		printed := s.String()
		again, err := Parse("f", printed)
		if err != nil {
			t.Fatalf("what was printed is refused: %v\n%s", err, printed)
		}
		if again.String() != printed {
			t.Fatalf("printed and parsed it is another:\n%s\n%s", printed, again)
		}
	})
}
