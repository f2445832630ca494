// Package packed reads values that stand one after the other in bytes, as logs keep them: numbers
// as varints, texts behind their lengths.
//
// Promise: no input makes a Reader panic, or allocate more than the input's own length. Once a
// value did not fit, Reader.Whole is false, and every later value is zero.
//
// Refusal: it does not know what the values mean, and has no types or names beside them; both sides
// must know the order.
package packed

import "encoding/binary"

// Reader takes values off the front of the bytes that it was made for.
type Reader struct {
	rest []byte
	// all is the whole input, of which texts are parts: so it is copied once.
	all    string
	broken bool
}

// Read returns a reader of b, which must not change while what Bytes returned is used.
func Read(b []byte) Reader {
	return Reader{rest: b, all: string(b)}
}

// Whole reports whether every value so far fitted, and nothing is left.
func (r *Reader) Whole() bool { return !r.broken && len(r.rest) == 0 }

// Rest returns what has not been read yet; false when a value did not fit.
func (r *Reader) Rest() ([]byte, bool) { return r.rest, !r.broken }

// Refuse has every later value be zero, and the input be broken: for callers who found a value that
// cannot be.
func (r *Reader) Refuse() { r.rest, r.broken = nil, true }

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if len(r.rest) == 0 {
		r.Refuse()
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// Uint reads what binary.AppendUvarint wrote.
func (r *Reader) Uint() uint64 {
	v, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.Refuse()
		return 0
	}
	r.rest = r.rest[size:]
	return v
}

// Int reads what binary.AppendVarint wrote.
func (r *Reader) Int() int64 {
	v, size := binary.Varint(r.rest)
	if size <= 0 {
		r.Refuse()
		return 0
	}
	r.rest = r.rest[size:]
	return v
}

// Count reads how many of something follow that take at least so many bytes each, so that a broken
// count cannot make its reader allocate without bound.
func (r *Reader) Count(least int) int {
	n := r.Uint()
	if n > uint64(len(r.rest)/least) {
		r.Refuse()
		return 0
	}
	return int(n)
}

// Bytes returns the next n bytes, which are part of the input.
func (r *Reader) Bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.Refuse()
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// Text reads a text behind its length.
func (r *Reader) Text() string {
	n := len(r.Bytes(r.Uint()))
	end := len(r.all) - len(r.rest)
	if r.broken {
		return ""
	}
	return r.all[end-n : end]
}

// AppendText appends texts as Text reads them.
func AppendText(b []byte, texts ...string) []byte {
	for _, s := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}
