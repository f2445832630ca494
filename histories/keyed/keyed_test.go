package keyed_test

import (
	"testing"

	"github.com/shardproof/shardproof/histories/keyed"
)

// TestNumbersStay pins numbers on which stored seeds and trace hashes depend.
func TestNumbersStay(t *testing.T) {
	if got := keyed.Mix(1); got != 0x5692161d100b05e5 {
		t.Errorf("Mix(1) is %#x", got)
	}
	if got := keyed.Text(keyed.Basis, "a"); got != 0xaf63dc4c8601ec8c {
		t.Errorf("FNV-1a of a is %#x", got)
	}
	s := keyed.New(7)
	if got := [3]int{
		s.IntN("profile", 1000), s.IntN("hot", 1000), s.Fork(0x2d).IntN("hot", 1000),
	}; got != [3]int{557, 765, 710} {
		t.Errorf("the draws are %v", got)
	}
}

// TestIntN stays below its bound, reaches everything below it, and does not depend on what else was
// asked.
func TestIntN(t *testing.T) {
	seen := make(map[int]bool)
	for seed := range uint64(100) {
		s := keyed.New(seed)
		n := s.IntN("question", 6)
		seen[n] = true
		s.IntN("another", 6)
		if again := s.IntN("question", 6); n < 0 || n > 5 || again != n {
			t.Errorf("seed %d: %d, and then %d", seed, n, again)
		}
	}
	if len(seen) != 6 {
		t.Errorf("of six numbers only %v came", seen)
	}
}

// TestChance is never or always at the ends.
func TestChance(t *testing.T) {
	for seed := range uint64(200) {
		if s := keyed.New(seed); s.Chance("never", 0) || !s.Chance("always", 100) ||
			keyed.Pick(s, "one", "it") != "it" {
			t.Errorf("seed %d", seed)
		}
	}
}
