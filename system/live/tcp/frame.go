package tcp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Kind is what a frame carries.
type Kind byte

// The kinds. A node that dials sends hello, then one-way messages and requests; the node that
// accepted sends hello, then what answers requests.
const (
	hello Kind = iota + 1
	oneWay
	request
	// reply and failure answer a request: with a message, or with an error.
	reply
	failure
	// refusal answers a request that was not executed, as nobody serves requests there yet, or too
	// many are being served.
	refusal
	kinds
)

// frame is what travels: ID is that of the request, or of the one that is answered.
type frame struct {
	kind Kind
	id   uint64
	body []byte
}

// A frame's head is the checksum of everything after itself, the length of the body, the kind and
// the ID. Numbers are little-endian.
const (
	atLength = 4
	atKind   = 8
	atID     = 9
	headSize = 17
)

// firstPiece is how much memory a body gets before its bytes have come: a length alone costs its
// receiver no more.
const firstPiece = 64 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errFrame is a frame that breaks the rules of the protocol; the connection ends.
var errFrame = errors.New("the bytes are no frame")

func appendFrame(b []byte, f frame) []byte {
	at := len(b)
	b = append(b, make([]byte, headSize)...)
	head := b[at:]
	binary.LittleEndian.PutUint32(head[atLength:], uint32(len(f.body)))
	head[atKind] = byte(f.kind)
	binary.LittleEndian.PutUint64(head[atID:], f.id)
	b = append(b, f.body...)
	sum := crc32.Checksum(b[at+atLength:], castagnoli)
	binary.LittleEndian.PutUint32(b[at:], sum)
	return b
}

// head is what stands before a body.
type head struct {
	bytes  [headSize]byte
	kind   Kind
	id     uint64
	length int
}

// readFrame reads one frame whose body has at most limit bytes. Errors are those of r, io.EOF
// before the first byte, and errFrame.
func readFrame(r io.Reader, limit int) (frame, error) {
	h, err := readHead(r, limit)
	if err != nil {
		return frame{}, err
	}
	return h.readBody(r)
}

func readHead(r io.Reader, limit int) (h head, err error) {
	if _, err := io.ReadFull(r, h.bytes[:]); err != nil {
		return h, err
	}
	h.kind, h.id = Kind(h.bytes[atKind]), binary.LittleEndian.Uint64(h.bytes[atID:])
	length := binary.LittleEndian.Uint32(h.bytes[atLength:])
	switch {
	case h.kind == 0 || h.kind >= kinds:
		return h, fmt.Errorf("%w: there is no kind %d", errFrame, h.kind)
	case uint64(length) > uint64(limit):
		return h, fmt.Errorf("%w: a body of %d bytes, and %d is the most", errFrame, length, limit)
	}
	h.length = int(length)
	return h, nil
}

// readBody reads the rest of the frame.
func (h *head) readBody(r io.Reader) (frame, error) {
	body, err := readBody(r, h.length)
	if err != nil {
		return frame{}, err
	}
	sum := crc32.Update(crc32.Checksum(h.bytes[atLength:], castagnoli), castagnoli, body)
	if sum != binary.LittleEndian.Uint32(h.bytes[:]) {
		return frame{}, fmt.Errorf("%w: the checksum of its %d bytes is wrong", errFrame, h.length)
	}
	return frame{h.kind, h.id, body}, nil
}

// readBody reads n bytes, and asks for memory only as they come.
func readBody(r io.Reader, n int) ([]byte, error) {
	body := make([]byte, 0, min(n, firstPiece))
	for len(body) < n {
		if len(body) == cap(body) {
			body = append(make([]byte, 0, min(n, 2*cap(body))), body...)
		}
		read, err := io.ReadFull(r, body[len(body):cap(body)])
		body = body[:len(body)+read]
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return body, nil
}
