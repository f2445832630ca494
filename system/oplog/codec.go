package oplog

import (
	"encoding/binary"
	"slices"

	"github.com/shardproof/shardproof/histories/packed"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
)

// An entry is written as its fields in order: numbers as varints, texts and documents with their
// length before them. Documents have their length plus one, as nil is not the same as empty.

const (
	flagFromMigrate = 1 << iota
	flagStmt
	flagDeadEnd
	flagReplaces
	flagDocumentKey
	flagsEnd
)

// Marshal returns the entry as bytes, the same for equal entries.
func (e *Entry) Marshal() []byte {
	size := 0
	for i := range e.Ops {
		size += e.Ops[i].size()
	}
	b := Begin(nil, e.TS, len(e.Ops), size)
	for i := range e.Ops {
		b = e.Ops[i].Append(b)
	}
	return b
}

// The space that the numbers of an entry, an operation and a statement mostly take. Lengths of
// texts have one byte, times up to ten.
const (
	entryNumbers     = 12
	operationNumbers = 8
	statementNumbers = 16
)

// Begin appends the beginning of an entry of so many operations, which are to be appended to it.
// The size is that of their texts and documents, a guess that saves growing.
func Begin(b []byte, ts hlc.Timestamp, ops, size int) []byte {
	b = slices.Grow(b, entryNumbers+ops*operationNumbers+size)
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(ts)), uint64(ops))
}

// size is what the operation takes beyond its numbers.
func (o *Op) size() int {
	size := len(o.NS) + len(o.ID) + len(o.Doc) + len(o.DocumentKey) + len(o.Tag)
	if s := o.Stmt; s != nil {
		size += len(s.Session) + len(s.NS) + len(s.Key) + len(s.Result) + len(s.Image) +
			statementNumbers
	}
	return size
}

// Append appends the operation to an entry that has begun.
func (o *Op) Append(b []byte) []byte {
	b = append(b, byte(o.Kind), o.flags(), o.Actor)
	b = packed.AppendText(b, o.NS, o.ID)
	b = appendDocument(b, o.Doc)
	if o.DocumentKey != nil {
		b = appendDocument(b, o.DocumentKey)
	}
	b = packed.AppendText(b, o.Tag)
	if o.Stmt != nil {
		b = o.Stmt.append(b)
	}
	return b
}

func (o *Op) flags() byte {
	var f byte
	if o.FromMigrate {
		f |= flagFromMigrate
	}
	if o.Replaces {
		f |= flagReplaces
	}
	if o.DocumentKey != nil {
		f |= flagDocumentKey
	}
	if o.Stmt != nil {
		f |= flagStmt
		if o.Stmt.DeadEnd {
			f |= flagDeadEnd
		}
	}
	return f
}

func (s *Stmt) append(b []byte) []byte {
	b = packed.AppendText(b, s.Session)
	b = binary.AppendVarint(b, s.Txn)
	b = binary.AppendVarint(b, int64(s.ID))
	b = packed.AppendText(b, s.NS, s.Key)
	b = binary.AppendUvarint(b, s.Prev.Term)
	b = binary.AppendUvarint(b, s.Prev.Index)
	b = appendDocument(b, s.Result)
	return appendDocument(b, s.Image)
}

func appendDocument(b, doc []byte) []byte {
	if doc == nil {
		return append(b, 0)
	}
	return append(binary.AppendUvarint(b, uint64(len(doc))+1), doc...)
}

// Unmarshal undoes Marshal; its documents share memory with b, which must not change any more.
// Bytes that are not exactly one entry are an errcode.BadValue.
func Unmarshal(b []byte) (*Entry, error) {
	r := entryReader{packed.Read(b)}
	e := &Entry{TS: hlc.Timestamp(r.Uint())}
	// An operation has at least seven bytes.
	if n := r.Count(7); n > 0 {
		e.Ops = make([]Op, n)
	}
	for i := range e.Ops {
		r.op(&e.Ops[i])
	}
	if !r.Whole() {
		return nil, errcode.New(errcode.BadValue, "%d bytes are no log entry", len(b))
	}
	return e, nil
}

// entryReader takes an entry apart. Once the input is broken it reads zeros.
type entryReader struct{ packed.Reader }

func (r *entryReader) op(o *Op) {
	o.Kind = Kind(r.Byte())
	flags := r.Byte()
	o.Actor = r.Byte()
	o.NS = r.Text()
	o.ID = r.Text()
	o.Doc = r.document()
	if flags&flagDocumentKey != 0 {
		o.DocumentKey = r.document()
	}
	o.Tag = r.Text()
	o.FromMigrate = flags&flagFromMigrate != 0
	o.Replaces = flags&flagReplaces != 0
	if flags >= flagsEnd || flags&flagDeadEnd != 0 && flags&flagStmt == 0 {
		r.Refuse()
	}
	if flags&flagStmt != 0 {
		o.Stmt = r.stmt()
		o.Stmt.DeadEnd = flags&flagDeadEnd != 0
	}
}

func (r *entryReader) stmt() *Stmt {
	return &Stmt{
		Session: r.Text(),
		Txn:     r.Int(),
		ID:      int32(r.Int()),
		NS:      r.Text(),
		Key:     r.Text(),
		Prev:    Time{Term: r.Uint(), Index: r.Uint()},
		Result:  r.document(),
		Image:   r.document(),
	}
}

func (r *entryReader) document() []byte {
	n := r.Uint()
	if n == 0 {
		return nil
	}
	return r.Bytes(n - 1)
}
