package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// errShort is an event whose bytes end too soon.
var errShort = errors.New("the bytes of the event end within it")

// AppendBinary appends the event's compact form, for logs of servers that emit many: every field in
// the order of its declaration, texts after their lengths, and the kind by its name, so that other
// builds read it.
func (e *Event) AppendBinary(b []byte) ([]byte, error) {
	if e.Kind == 0 || e.Kind >= kinds {
		return nil, fmt.Errorf("an event of step %d has kind %d, which is none", e.Step, e.Kind)
	}
	b = binary.AppendUvarint(b, e.Step)
	b = binary.AppendVarint(b, e.At)
	b = appendTexts(b, e.Node, e.Kind.String())
	b = append(b, byte(e.Actor))
	b = appendTexts(b, e.Shard, e.Peer)
	b = binary.AppendUvarint(b, e.Term)
	b = binary.AppendUvarint(b, e.Index)
	b = appendTexts(b, e.NS, e.Key, e.DocID, e.Min, e.Max)
	b = binary.AppendUvarint(b, e.Hash)
	b = binary.AppendUvarint(b, uint64(len(e.Chunks)))
	for i := range e.Chunks {
		b = e.Chunks[i].appendBinary(b)
	}
	b = appendTexts(b, e.subject, e.detail)
	b = binary.AppendVarint(b, int64(e.number))
	b = binary.AppendVarint(b, e.amount)
	return binary.AppendVarint(b, e.wall), nil
}

func (c *Chunk) appendBinary(b []byte) []byte {
	b = appendTexts(b, c.Min, c.Max, c.Shard, c.Epoch)
	b = binary.AppendUvarint(b, uint64(c.Major))
	b = binary.AppendUvarint(b, uint64(c.Minor))
	b = binary.AppendUvarint(b, uint64(len(c.History)))
	for _, p := range c.History {
		b = binary.AppendUvarint(b, p.ValidAfter)
		b = appendTexts(b, p.Shard)
	}
	b = binary.AppendUvarint(b, c.Since)
	if c.Jumbo {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendTexts(b []byte, texts ...string) []byte {
	for _, s := range texts {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

// UnmarshalBinary is the inverse of AppendBinary. It refuses an unknown kind, and a state that the
// kind has not.
func (e *Event) UnmarshalBinary(b []byte) error {
	r := binaryReader{rest: b}
	*e = Event{Step: r.number(), At: r.signed(), Node: r.text()}
	kind := r.text()
	e.Actor = Actor(r.byte())
	e.Shard, e.Peer = r.text(), r.text()
	e.Term, e.Index = r.number(), r.number()
	e.NS, e.Key, e.DocID, e.Min, e.Max = r.text(), r.text(), r.text(), r.text(), r.text()
	e.Hash = r.number()
	for n := r.count(); n > 0; n-- {
		e.Chunks = append(e.Chunks, r.chunk())
	}
	e.subject, e.detail = r.text(), r.text()
	e.number, e.amount, e.wall = int(r.signed()), r.signed(), r.signed()
	if r.failed || len(r.rest) > 0 {
		return errShort
	}
	var known bool
	if e.Kind, known = ParseKind(kind); !known {
		return fmt.Errorf("unknown kind of event %q", kind)
	}
	return e.readState()
}

// binaryReader takes values off the front; once it has failed they are all zero.
type binaryReader struct {
	rest   []byte
	failed bool
}

func (r *binaryReader) fail() {
	r.rest, r.failed = nil, true
}

func (r *binaryReader) number() uint64 {
	v, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return v
}

func (r *binaryReader) signed() int64 {
	v, size := binary.Varint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return v
}

// count is how many of something follow: each takes a byte at least.
func (r *binaryReader) count() uint64 {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.fail()
		return 0
	}
	return n
}

func (r *binaryReader) text() string {
	n := r.count()
	if r.failed {
		return ""
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

func (r *binaryReader) byte() byte {
	if len(r.rest) == 0 {
		r.fail()
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *binaryReader) chunk() Chunk {
	c := Chunk{Min: r.text(), Max: r.text(), Shard: r.text(), Epoch: r.text(),
		Major: uint32(r.number()), Minor: uint32(r.number())}
	for n := r.count(); n > 0; n-- {
		c.History = append(c.History, Placement{ValidAfter: r.number(), Shard: r.text()})
	}
	c.Since, c.Jumbo = r.number(), r.byte() == 1
	return c
}
