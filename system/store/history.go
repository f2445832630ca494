package store

import "github.com/shardproof/shardproof/system/errcode"

// undoChange is one step of the store's past: a new version of a record, or a new meaning of a
// namespace.
type undoChange struct {
	record  *docRecord
	version *docVersion
	// incarnation is set instead of these two when a namespace changed its meaning.
	incarnation *namespaceChange
}

func (c *undoChange) index() uint64 {
	if c.version != nil {
		return c.version.index
	}
	return c.incarnation.index
}

// changeQueue holds the changes that can still be rolled back and whose predecessors can still be
// read, oldest first. It is consumed from both ends.
type changeQueue struct {
	changes []undoChange
	first   int
}

func (q *changeQueue) push(c undoChange) { q.changes = append(q.changes, c) }

func (q *changeQueue) oldest() *undoChange {
	if q.first == len(q.changes) {
		return nil
	}
	return &q.changes[q.first]
}

func (q *changeQueue) newest() *undoChange {
	if q.first == len(q.changes) {
		return nil
	}
	return &q.changes[len(q.changes)-1]
}

func (q *changeQueue) dropNewest() {
	q.changes[len(q.changes)-1] = undoChange{}
	q.changes = q.changes[:len(q.changes)-1]
}

// dropOldest moves the rest to the front once half of the space is unused, which costs each change
// at most one move.
func (q *changeQueue) dropOldest() {
	q.changes[q.first] = undoChange{}
	q.first++
	if q.first*2 >= len(q.changes) {
		n := copy(q.changes, q.changes[q.first:])
		clear(q.changes[n:])
		q.changes, q.first = q.changes[:n], 0
	}
}

// Rollback forgets every entry after index. It panics when the state at index is no longer known.
func (s *Store) Rollback(index uint64) {
	if index < s.oldest {
		panic(errcode.New(errcode.Internal, "rollback to %d, but history begins at %d",
			index, s.oldest))
	}
	for c := s.undo.newest(); c != nil && c.index() > index; c = s.undo.newest() {
		c.revert(s)
		s.undo.dropNewest()
	}
	s.applied = min(s.applied, index)
}

// SetOldest promises that no caller will read at, or roll back to, an earlier index. An index that
// is lower than that of an earlier call, or higher than Applied, is cut to these.
func (s *Store) SetOldest(index uint64) {
	s.oldest = max(s.oldest, min(index, s.applied))
	for c := s.undo.oldest(); c != nil && c.index() <= s.oldest; c = s.undo.oldest() {
		c.settle(s)
		s.undo.dropOldest()
	}
}

func (c *undoChange) revert(s *Store) {
	s.changes++
	if c.record != nil {
		c.record.collection.pop(c.record)
		return
	}
	n := c.incarnation.namespace
	n.head = c.incarnation.before
	n.sweep(s)
}

func (c *undoChange) settle(s *Store) {
	if c.record != nil {
		c.record.collection.trim(c.record, c.version)
		return
	}
	c.incarnation.before = nil
	c.incarnation.namespace.sweep(s)
}

// sweep forgets a name that no reader can see any more.
func (n *namespaceHistory) sweep(s *Store) {
	if n.head == nil || n.head.collection == nil && n.head.before == nil {
		if now, ok := s.namespaces.Get(n.name); ok && now == n {
			s.namespaces.Delete(n.name)
			s.recent = [len(s.recent)]*namespaceHistory{}
		}
	}
}
