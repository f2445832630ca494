// Package frame is the outermost form of MongoDB's wire protocol: messages on a stream of bytes. It
// reads OP_MSG with document sequences and checksums, and OP_QUERY, with which older drivers begin
// their handshake, and writes the answers.
//
// Promise: no input makes it panic or allocate more memory than the message has bytes. Every
// document that it returns is well-formed BSON at every level.
//
// Refusal: no compression, and no other messages than these two: anything else is an error, after
// which the stream cannot be used.
package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
)

// The limits that a server announces to its clients, in bytes.
const (
	MaxMessage  = 48_000_000
	MaxDocument = 16 << 20
)

const (
	headerSize = 16
	// readAhead is how much memory a message gets before its bytes have arrived.
	readAhead = 64 << 10
	// maxDepth is how deep documents may be nested.
	maxDepth = 180
	// emptySize is how long a document without fields is: its size and the terminating zero.
	emptySize = 4 + 1
	// maxName is the longest name of a sequence or a collection, with its terminating zero.
	maxName = 1 << 10
)

// ErrMalformed is what every error about the form of a message wraps. Errors of the stream itself
// are passed on as they are.
var ErrMalformed = errors.New("malformed message")

// Message is one command of a client.
type Message struct {
	ID int32
	// Body is the command; Sequences are lists of documents that belong to it, by argument.
	Body      bson.Raw
	Sequences []Sequence
	// MoreToCome means that the client wants no answer, Exhaust that it would take several.
	MoreToCome, Exhaust bool
	// Query is the namespace of an OP_QUERY, empty for an OP_MSG.
	Query string
}

// Sequence is a list of documents.
type Sequence struct {
	Name string
	Docs []bson.Raw
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// Read reads the next message, which has at most limit bytes.
func Read(r io.Reader, limit int) (*Message, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, err
	}
	length, id, _, code, _, _ := wiremessage.ReadHeader(header[:])
	if length < headerSize || int(length) > limit {
		return nil, malformed("a length of %d bytes is not from %d to %d",
			length, headerSize, limit)
	}
	body, err := readBody(r, int(length)-headerSize)
	if err != nil {
		return nil, err
	}
	m := &Message{ID: id}
	switch code {
	case wiremessage.OpMsg:
		err = m.parse(header[:], body)
	case wiremessage.OpQuery:
		err = m.parseQuery(body)
	default:
		err = malformed("operation %s is not supported: speak OP_MSG", code)
	}
	return m, err
}

// readBody allocates memory as bytes arrive: a peer that announces much and sends little is given
// little.
func readBody(r io.Reader, n int) ([]byte, error) {
	body := make([]byte, 0, min(n, readAhead))
	for len(body) < n {
		begin := len(body)
		step := min(n-begin, max(begin, readAhead))
		body = append(body, make([]byte, step)...)
		if _, err := io.ReadFull(r, body[begin:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return body, nil
}

// knownFlags are those that a server must understand; of the upper 16 bits it need not.
const knownFlags = wiremessage.ChecksumPresent | wiremessage.MoreToCome

func (m *Message) parse(header, body []byte) error {
	flags, rest, ok := wiremessage.ReadMsgFlags(body)
	if !ok || flags&0xffff&^knownFlags != 0 {
		return malformed("the flags of an OP_MSG are missing or unknown: %#x", uint32(flags))
	}
	m.MoreToCome = flags&wiremessage.MoreToCome != 0
	m.Exhaust = flags&wiremessage.ExhaustAllowed != 0
	if flags&wiremessage.ChecksumPresent != 0 {
		var err error
		if rest, err = check(header, body, rest); err != nil {
			return err
		}
	}
	for len(rest) > 0 {
		var err error
		if rest, err = m.section(rest); err != nil {
			return err
		}
	}
	if m.Body == nil {
		return malformed("an OP_MSG has no body")
	}
	return nil
}

// check compares the checksum at the end, and returns what is before it.
func check(header, body, rest []byte) ([]byte, error) {
	if len(rest) < 4 {
		return nil, malformed("an OP_MSG ends before its checksum")
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(crc32.Checksum(header, table), table, body[:len(body)-4])
	if got := binary.LittleEndian.Uint32(body[len(body)-4:]); got != sum {
		return nil, malformed("the checksum is %#x, not %#x", got, sum)
	}
	return rest[:len(rest)-4], nil
}

func (m *Message) section(b []byte) ([]byte, error) {
	switch kind := wiremessage.SectionType(b[0]); kind {
	case wiremessage.SingleDocument:
		doc, rest, err := document(b[1:])
		if err == nil && m.Body != nil {
			err = malformed("an OP_MSG has two bodies")
		}
		m.Body = doc
		return rest, err
	case wiremessage.DocumentSequence:
		s, rest, err := sequence(b[1:])
		if err == nil {
			for _, other := range m.Sequences {
				if other.Name == s.Name {
					return nil, malformed("an OP_MSG has two sequences %q", s.Name)
				}
			}
			m.Sequences = append(m.Sequences, s)
		}
		return rest, err
	default:
		return nil, malformed("an OP_MSG has a section of kind %d", kind)
	}
}

func sequence(b []byte) (s Sequence, rest []byte, err error) {
	if len(b) < 4 {
		return s, nil, malformed("a sequence is cut off")
	}
	size := int64(int32(binary.LittleEndian.Uint32(b)))
	if size < 4 || size > int64(len(b)) {
		return s, nil, malformed("a sequence of %d bytes is not in the message", size)
	}
	b, rest = b[4:size], b[size:]
	name, b, ok := text(b)
	if !ok {
		return s, nil, malformed("a sequence has no name")
	}
	s.Name = name
	for len(b) > 0 {
		var doc bson.Raw
		if doc, b, err = document(b); err != nil {
			return s, nil, err
		}
		s.Docs = append(s.Docs, doc)
	}
	return s, rest, nil
}

// text reads a zero-terminated name.
func text(b []byte) (name string, rest []byte, ok bool) {
	name, _, ok = strings.Cut(string(b[:min(len(b), maxName)]), "\x00")
	if !ok {
		return "", nil, false
	}
	return name, b[len(name)+1:], true
}

// document reads one document and validates all of it.
func document(b []byte) (doc bson.Raw, rest []byte, err error) {
	if len(b) < emptySize {
		return nil, nil, malformed("a document is cut off")
	}
	size := int64(int32(binary.LittleEndian.Uint32(b)))
	if size < emptySize || size > int64(len(b)) {
		return nil, nil, malformed("a document of %d bytes is not in the message", size)
	}
	doc = bson.Raw(b[:size])
	return doc, b[size:], whole(doc, maxDepth)
}

// whole validates a document at every level, up to the greatest depth that other packages can
// handle.
func whole(doc bson.Raw, depth int) error {
	if depth == 0 {
		return malformed("documents lie in each other more than %d deep", maxDepth)
	}
	elements, err := doc.Elements()
	if err != nil {
		return malformed("%v", err)
	}
	size := emptySize
	for _, e := range elements {
		size += len(e)
		v := e.Value()
		switch v.Type {
		case bson.TypeEmbeddedDocument, bson.TypeArray:
			err = whole(bson.Raw(v.Value), depth-1)
		case bson.TypeCodeWithScope:
			err = malformed("code with scope is not supported")
		default:
			err = v.Validate()
		}
		if err != nil && !errors.Is(err, ErrMalformed) {
			err = malformed("field %q: %v", e.Key(), err)
		}
		if err != nil {
			return err
		}
	}
	if size != len(doc) || doc[len(doc)-1] != 0 {
		return malformed("a document of %d bytes does not end with a zero after its %d fields",
			len(doc), len(elements))
	}
	return nil
}

func (m *Message) parseQuery(b []byte) error {
	_, b, ok := wiremessage.ReadQueryFlags(b)
	if !ok {
		return malformed("an OP_QUERY has no flags")
	}
	if m.Query, b, ok = text(b); !ok || m.Query == "" {
		return malformed("an OP_QUERY has no namespace")
	}
	const skipAndLimit = 8
	if len(b) < skipAndLimit {
		return malformed("an OP_QUERY is cut off")
	}
	doc, _, err := document(b[skipAndLimit:])
	m.Body = doc
	return err
}

// AppendReply adds the answer to m, in the form in which m was sent; id names the answer.
func AppendReply(dst []byte, m *Message, id int32, doc bson.Raw) []byte {
	begin := int32(len(dst))
	if m.Query == "" {
		_, dst = wiremessage.AppendHeaderStart(dst, id, m.ID, wiremessage.OpMsg)
		dst = wiremessage.AppendMsgFlags(dst, 0)
		dst = wiremessage.AppendMsgSectionType(dst, wiremessage.SingleDocument)
	} else {
		_, dst = wiremessage.AppendHeaderStart(dst, id, m.ID, wiremessage.OpReply)
		dst = wiremessage.AppendReplyFlags(dst, wiremessage.AwaitCapable)
		dst = wiremessage.AppendReplyCursorID(dst, 0)
		dst = wiremessage.AppendReplyStartingFrom(dst, 0)
		dst = wiremessage.AppendReplyNumberReturned(dst, 1)
	}
	dst = append(dst, doc...)
	binary.LittleEndian.PutUint32(dst[begin:], uint32(int32(len(dst))-begin))
	return dst
}
