// Package keyed makes random numbers out of what they are for: a seed and the name of a question.
// Leaving one question out, or asking another one besides, changes no other answer.
//
// Promise: pure functions with the same numbers on every platform and in every version; the
// standard library's generators may change. A drawn scenario, a schedule and a trace hash depend on
// nothing else.
//
// Refusal: nothing here is fit for secrets, and nothing counts how often it was asked.
package keyed

import "math/bits"

// Golden is the increment of splitmix64: numbers that are this far apart stay apart when they are
// mixed.
const Golden = 0x9e3779b97f4a7c15

// Mix is the finaliser of splitmix64: a bijection after which every bit depends on every bit of x.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Below maps 64 random bits to [0,n) by multiplication; n is at least 1.
func Below(random, n uint64) uint64 {
	high, _ := bits.Mul64(random, n)
	return high
}

// Basis is where a hash of text begins.
const Basis = 0xcbf29ce484222325

// Text goes on with a hash of text by FNV-1a.
func Text(hash uint64, text string) uint64 {
	for i := range len(text) {
		hash = Byte(hash, text[i])
	}
	return hash
}

// Byte goes on with a hash of text by one byte.
func Byte(hash uint64, b byte) uint64 { return (hash ^ uint64(b)) * 0x100000001b3 }

// Source answers questions: equal source and question, equal answer, whatever else was asked.
type Source uint64

// New is the source of a seed. Seeds that follow each other have nothing in common.
func New(seed uint64) Source { return Source(Mix(seed)) }

// Fork is another source, which has nothing in common with this one or with those of other salts.
func (s Source) Fork(salt uint64) Source { return New(uint64(s) ^ salt) }

// IntN answers with a number in [0,n); n is at least 1.
func (s Source) IntN(question string, n int) int {
	hash := Text(uint64(s)^Golden, question)
	return int(Below(Mix(Mix(hash)+uint64(s)), uint64(n)))
}

// Chance answers yes in so many of a hundred cases.
func (s Source) Chance(question string, percent int) bool { return s.IntN(question, 100) < percent }

// Pick answers with one of several values, of which there must be one.
func Pick[T any](s Source, question string, of ...T) T { return of[s.IntN(question, len(of))] }
