package document

// Memo holds what bytes say that were read lately, such as documents and entries of a log, by where
// they begin in memory: what is stored never changes, and most of it is read far more often than
// written. The zero Memo is ready; nil remembers nothing. What it hands out is shared and must not
// be changed. In a world that passes messages through bytes, every node reads its own.
//
// Invariant: what is remembered keeps its bytes from being used again for others.
type Memo[B ~[]byte, T any] struct{ of map[*byte]T }

// mostKept bounds what is kept of bytes that nothing refers to any more.
const mostKept = 256

// Read returns what the bytes say, by way of read when it is not known yet. Errors are those of
// read, and not kept.
func (m *Memo[B, T]) Read(b B, read func(B) (T, error)) (T, error) {
	if m == nil || len(b) == 0 {
		return read(b)
	}
	if known, ok := m.of[&b[0]]; ok {
		return known, nil
	}
	value, err := read(b)
	if err == nil {
		m.Remember(b, value)
	}
	return value, err
}

// Remember notes what bytes say whose maker knows.
func (m *Memo[B, T]) Remember(b B, value T) {
	if m == nil || len(b) == 0 {
		return
	}
	if m.of == nil {
		m.of = make(map[*byte]T)
	}
	if len(m.of) == mostKept {
		clear(m.of)
	}
	m.of[&b[0]] = value
}
