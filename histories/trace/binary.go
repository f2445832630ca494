package trace

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/shardproof/shardproof/histories/packed"
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
	b = packed.AppendText(b, e.Node, e.Kind.String())
	b = append(b, byte(e.Actor))
	b = packed.AppendText(b, e.Shard, e.Peer)
	b = binary.AppendUvarint(b, e.Term)
	b = binary.AppendUvarint(b, e.Index)
	b = packed.AppendText(b, e.NS, e.Key, e.DocID, e.Min, e.Max)
	b = binary.AppendUvarint(b, e.Hash)
	b = binary.AppendUvarint(b, uint64(len(e.Chunks)))
	for i := range e.Chunks {
		b = e.Chunks[i].appendBinary(b)
	}
	b = packed.AppendText(b, e.subject, e.detail)
	b = binary.AppendVarint(b, int64(e.number))
	b = binary.AppendVarint(b, e.amount)
	return binary.AppendVarint(b, e.wall), nil
}

func (c *Chunk) appendBinary(b []byte) []byte {
	b = packed.AppendText(b, c.Min, c.Max, c.Shard, c.Epoch)
	b = binary.AppendUvarint(b, uint64(c.Major))
	b = binary.AppendUvarint(b, uint64(c.Minor))
	b = binary.AppendUvarint(b, uint64(len(c.History)))
	for _, p := range c.History {
		b = binary.AppendUvarint(b, p.ValidAfter)
		b = packed.AppendText(b, p.Shard)
	}
	b = binary.AppendUvarint(b, c.Since)
	if c.Jumbo {
		return append(b, 1)
	}
	return append(b, 0)
}

// UnmarshalBinary is the inverse of AppendBinary. It refuses an unknown kind, and a state that the
// kind has not.
func (e *Event) UnmarshalBinary(b []byte) error {
	r := packed.Read(b)
	*e = Event{Step: r.Uint(), At: r.Int(), Node: r.Text()}
	kind := r.Text()
	e.Actor = Actor(r.Byte())
	e.Shard, e.Peer = r.Text(), r.Text()
	e.Term, e.Index = r.Uint(), r.Uint()
	e.NS, e.Key, e.DocID, e.Min, e.Max = r.Text(), r.Text(), r.Text(), r.Text(), r.Text()
	e.Hash = r.Uint()
	for range r.Count(1) {
		e.Chunks = append(e.Chunks, readChunk(&r))
	}
	e.subject, e.detail = r.Text(), r.Text()
	e.number, e.amount, e.wall = int(r.Int()), r.Int(), r.Int()
	if !r.Whole() {
		return errShort
	}
	var known bool
	if e.Kind, known = ParseKind(kind); !known {
		return fmt.Errorf("unknown kind of event %q", kind)
	}
	return e.readState()
}

func readChunk(r *packed.Reader) Chunk {
	c := Chunk{Min: r.Text(), Max: r.Text(), Shard: r.Text(), Epoch: r.Text(),
		Major: uint32(r.Uint()), Minor: uint32(r.Uint())}
	for range r.Count(1) {
		c.History = append(c.History, Placement{ValidAfter: r.Uint(), Shard: r.Text()})
	}
	c.Since, c.Jumbo = r.Uint(), r.Byte() == 1
	return c
}
