package store

// Weight counts everything the store keeps: collections, versions, index entries, changes that can
// be undone.
func (s *Store) Weight() (collections, versions, entries, changes int) {
	s.namespaces.Scan(func(_ string, n *namespaceHistory) bool {
		for i := n.head; i != nil; i = i.before {
			collections++
			if i.collection == nil {
				continue
			}
			entries += i.collection.index.Len()
			i.collection.records.Scan(func(_ string, r *docRecord) bool {
				for v := r.head; v != nil; v = v.before {
					versions++
				}
				return true
			})
		}
		return true
	})
	return collections, versions, entries, len(s.undo.changes) - s.undo.first
}

// Room counts the changes that can be undone, and those before them whose room is not given back.
func (s *Store) Room() int { return len(s.undo.changes) }
