// Package active is what a build with mutants in it asks at run time: which mutant is on, and it
// notes which were reached. Only copies of source files that the mutation campaign makes import it;
// no package of the product does.
//
// The mutant is chosen once, when the process starts, before any other package is initialised. The
// variables of the environment are the constants below; without them no mutant is on and the
// program is the one it was.
//
// Promise: every function here, for a mutant that is not on, gives what the original code would
// have given, evaluated once. Refusal: it draws nothing, waits for nothing and knows nothing of
// what is mutated.
package active

import (
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
)

// The variables of the environment.
const (
	// Chosen is the number of the mutant that is on.
	Chosen = "MUTATION_CHOSEN"
	// Reached names a file of Most bytes; byte k becomes 1 when mutant k is reached.
	Reached = "MUTATION_REACHED"
	// CPU is how many seconds of CPU time the process may use before the operating system kills it.
	CPU = "MUTATION_CPU_SECONDS"
	// Memory is how many bytes of data the process may have.
	Memory = "MUTATION_MEMORY_BYTES"
)

// Most is one more than the largest number of a mutant.
const Most = 1 << 16

var (
	chosen  = -1
	unseen  [Most]byte
	reached = &unseen
)

// ExitRefused is the exit code of a process whose environment asks for what cannot be had.
const ExitRefused = 97

func init() {
	if err := start(); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(ExitRefused)
	}
}

// start reads the environment.
func start() error {
	if text := os.Getenv(Chosen); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n >= Most {
			return fmt.Errorf("%s=%q is not a number from 0 to %d", Chosen, text, Most-1)
		}
		chosen = n
	}
	if err := limit(os.Getenv(CPU), os.Getenv(Memory)); err != nil {
		return err
	}
	if file := os.Getenv(Reached); file != "" {
		return share(file)
	}
	return nil
}

// On notes that mutant k is reached and says whether it is on.
func On(k int) bool {
	reached[k] = 1
	return k == chosen
}

// Is says whether mutant k is on, without noting that it is reached.
func Is(k int) bool { return k == chosen }

// Not negates v when mutant k is on.
func Not[B ~bool](k int, v B) B { return v != B(On(k)) }

// Skip calls f, unless mutant k is on: then nothing happens, without an error.
func Skip(k int, f func() error) error {
	if On(k) {
		return nil
	}
	return f()
}

// Pick is v, or other when mutant k is on.
func Pick[T any](k int, other, v T) T {
	if On(k) {
		return other
	}
	return v
}

// Zero is v, or its type's zero value when mutant k is on.
func Zero[T any](k int, v T) T {
	if On(k) {
		return *new(T)
	}
	return v
}

// Swap is the list, with element i and the one after it exchanged when mutant k is on.
func Swap[S ~[]E, E any](k, i int, list S) S {
	if On(k) && i+1 < len(list) {
		list = slices.Clone(list)
		list[i], list[i+1] = list[i+1], list[i]
	}
	return list
}

// Drop is the list, without element i when mutant k is on.
func Drop[S ~[]E, E any](k, i int, list S) S {
	if On(k) && i < len(list) {
		return slices.Delete(slices.Clone(list), i, i+1)
	}
	return list
}

// Short is the list, without its last element when mutant k is on.
func Short[S ~[]E, E any](k int, list S) S {
	if len(list) > 0 && On(k) {
		return list[:len(list)-1]
	}
	return list
}

// Fewer is n, or one less when mutant k is on.
func Fewer[N ~int | ~int64 | ~int32 | ~uint64 | ~uint32 | ~uint | ~uint8](k int, n N) N {
	if n > 0 && On(k) {
		return n - 1
	}
	return n
}

// ShortSeq is the sequence, without its last element when mutant k is on.
func ShortSeq[V any](k int, seq iter.Seq[V]) iter.Seq[V] {
	if !On(k) {
		return seq
	}
	return func(yield func(V) bool) {
		var held V
		begun := false
		for v := range seq {
			if begun && !yield(held) {
				return
			}
			held, begun = v, true
		}
	}
}

// ShortSeq2 is the sequence of pairs, without its last pair when mutant k is on.
func ShortSeq2[K, V any](k int, seq iter.Seq2[K, V]) iter.Seq2[K, V] {
	if !On(k) {
		return seq
	}
	return func(yield func(K, V) bool) {
		var key K
		var held V
		begun := false
		for at, v := range seq {
			if begun && !yield(key, held) {
				return
			}
			key, held, begun = at, v, true
		}
	}
}

// All says whether f holds for every element.
func All[S ~[]E, E any](list S, f func(E) bool) bool {
	return !slices.ContainsFunc(list, func(e E) bool { return !f(e) })
}
