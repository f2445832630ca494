// Package bank moves money between two accounts: enough code for every rule.
package bank

import (
	"errors"
	"slices"

	"github.com/shardproof/shardproof/ci/mutation/testdata/toy/env"
)

// Bank is two accounts and what happened to them.
type Bank struct {
	From, To int
	Log      []Entry
	Version  int
	sealed   int
	locked   bool
}

// Entry is a line of the log.
type Entry struct {
	Amount int
	Why    string
}

type step struct {
	site string
	do   func(*env.Task) error
}

func inOrder(t *env.Task, steps ...step) error {
	for _, s := range steps {
		if err := t.Point(s.site, env.Note{ID: s.site}); err != nil {
			return err
		}
		if err := s.do(t); err != nil {
			return err
		}
	}
	return nil
}

// Move moves an amount that is there.
func (b *Bank) Move(t *env.Task, amount int) error {
	if amount <= 0 || amount > b.From {
		return errors.New("there is not so much")
	}
	return inOrder(t,
		step{"lock", b.lock},
		step{"take", func(*env.Task) error {
			b.From -= amount
			return b.check()
		}},
		step{"nothing", func(*env.Task) error { return nil }},
		step{"wait", func(t *env.Task) error { return t.Wait() }},
		step{"give", func(*env.Task) error {
			b.To += amount
			b.Log = append(b.Log, Entry{Amount: amount, Why: "moved"})
			b.unlock()
			return nil
		}})
}

func (b *Bank) lock(t *env.Task) error {
	if b.locked {
		return errors.New("another move is going on")
	}
	b.locked = true
	b.tell(t)
	return nil
}

func (b *Bank) unlock() {
	b.locked = false
	b.Version = max(b.Version, len(b.Log)) + 1
	b.tidy()
	b.seal()
}

func (b *Bank) tell(t *env.Task) {
	if b.locked {
		t.Emit("locked")
	}
}

func (b *Bank) tidy() { b.Log = b.Log[:len(b.Log):len(b.Log)] }

func (b *Bank) seal() { b.sealed = len(b.Log) }

func (b *Bank) check() error {
	if b.From < 0 {
		return errors.New("too much was taken")
	}
	return nil
}

// Sum adds up the log.
func (b *Bank) Sum() (sum int) {
	for i := 0; i < len(b.Log); i++ {
		sum += b.Log[i].Amount
	}
	return sum
}

// Count counts the entries that are not empty.
func (b *Bank) Count() (n int) {
	for _, e := range b.Log {
		if e.Amount == 0 {
			continue
		}
		n++
	}
	return n
}

// Late spins until the version is there.
func (b *Bank) Late(version int) {
	for version > b.Version {
		version--
	}
}

// Large says whether a large amount was moved.
func (b *Bank) Large() bool {
	return slices.ContainsFunc(b.Log, func(e Entry) bool { return e.Amount > 5 })
}

// Unused is reached by no command.
func (b *Bank) Unused() bool { return b.From > 3 }

// String only spells.
func (b *Bank) String() string {
	if b.locked {
		return "locked"
	}
	return "open"
}
