package replset

import (
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/oplog"
)

// Watcher follows what happens to a member's log. All methods but StepUp run inline: they must not
// wait, nor write.
//
// A watcher sees nothing of what was recovered from disk before Watch: it builds its state from the
// store and from Entry.
type Watcher interface {
	// Applied follows the entry's application to the store; leading reports whether the member
	// wrote it itself. A leader's first entry of its term has no operations.
	Applied(index uint64, e *oplog.Entry, leading bool)
	// RolledBack follows the undoing of every entry after index to.
	RolledBack(to uint64)
	// Reset follows the replacement of the whole store and log by a snapshot of the state at index.
	Reset(index uint64)
	// Committed reports that everything up to index is held by a majority.
	Committed(index uint64)
	// StepUp runs in a task of the new term before user writes are accepted. After an error it is
	// called again, until it succeeds or the term ends, so it must be idempotent.
	StepUp(t env.Task) error
	// StepDown reports that the term ended. Its scope is already cancelled. It comes also for a
	// term whose StepUp never ran or did not end.
	StepDown()
}

// Watch adds a watcher; they are called in the order in which they were added.
func (m *Member) Watch(w Watcher) { m.watchers = append(m.watchers, w) }
