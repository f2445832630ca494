package document

import "go.mongodb.org/mongo-driver/v2/bson"

// Memo holds what documents say that were read lately, by where they begin in memory: documents
// never change once they are stored, and most are read far more often than written. The zero Memo
// is ready. What it hands out is shared and must not be changed.
type Memo[T any] struct{ of map[*byte]T }

// mostKept bounds what is kept of documents that nothing refers to any more.
const mostKept = 64

// Read returns what the document says, by way of read when it is not known yet. Errors are those of
// read, and not kept.
func (m *Memo[T]) Read(doc bson.Raw, read func(bson.Raw) (T, error)) (T, error) {
	if len(doc) == 0 {
		return read(doc)
	}
	if known, ok := m.of[&doc[0]]; ok {
		return known, nil
	}
	value, err := read(doc)
	if err != nil {
		return value, err
	}
	if m.of == nil {
		m.of = make(map[*byte]T)
	}
	if len(m.of) == mostKept {
		clear(m.of)
	}
	m.of[&doc[0]] = value
	return value, nil
}
