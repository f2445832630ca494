package frame_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"

	"github.com/shardproof/shardproof/system/wire/frame"
)

func document(t testing.TB, d bson.D) bson.Raw {
	raw, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// insert is an OP_MSG with a body and a sequence of two documents.
func insert(t testing.TB, flags wiremessage.MsgFlag) []byte {
	_, b := wiremessage.AppendHeaderStart(nil, 7, 0, wiremessage.OpMsg)
	b = wiremessage.AppendMsgFlags(b, flags)
	b = wiremessage.AppendMsgSectionType(b, wiremessage.SingleDocument)
	b = append(b,
		document(t, bson.D{{Key: "insert", Value: "docs"}, {Key: "$db", Value: "test"}})...)
	b = wiremessage.AppendMsgSectionType(b, wiremessage.DocumentSequence)
	list := append([]byte("documents\x00"), document(t, bson.D{{Key: "_id", Value: 1}})...)
	list = append(list, document(t, bson.D{{Key: "_id", Value: 2}})...)
	b = binary.LittleEndian.AppendUint32(b, uint32(4+len(list)))
	b = append(b, list...)
	if flags&wiremessage.ChecksumPresent != 0 {
		binary.LittleEndian.PutUint32(b, uint32(len(b)+4))
		table := crc32.MakeTable(crc32.Castagnoli)
		b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, table))
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}

func TestSequence(t *testing.T) {
	for _, flags := range []wiremessage.MsgFlag{0, wiremessage.ChecksumPresent} {
		m, err := frame.Read(bytes.NewReader(insert(t, flags)), frame.MaxMessage)
		if err != nil {
			t.Fatal(err)
		}
		if m.ID != 7 || len(m.Sequences) != 1 || m.Sequences[0].Name != "documents" ||
			len(m.Sequences[0].Docs) != 2 {
			t.Errorf("flags %v: %+v", flags, m)
		}
	}
}

// The checksum detects a changed byte anywhere after the header.
func TestChecksum(t *testing.T) {
	whole := insert(t, wiremessage.ChecksumPresent)
	for i := 20; i < len(whole); i++ {
		b := bytes.Clone(whole)
		b[i] ^= 0x10
		if _, err := frame.Read(bytes.NewReader(b), frame.MaxMessage); err == nil {
			t.Errorf("byte %d was changed, and nothing was said", i)
		}
	}
}

func TestLimits(t *testing.T) {
	b := insert(t, 0)
	if _, err := frame.Read(bytes.NewReader(b), len(b)-1); !errors.Is(err, frame.ErrMalformed) {
		t.Errorf("a message above the limit: %v", err)
	}
	if _, err := frame.Read(bytes.NewReader(b[:len(b)-1]), len(b)); !errors.Is(err,
		io.ErrUnexpectedEOF) {
		t.Errorf("a message that is cut off: %v", err)
	}
	deep := bson.D{{Key: "x", Value: 1}}
	for range 500 {
		deep = bson.D{{Key: "x", Value: deep}}
	}
	reply := frame.AppendReply(nil, &frame.Message{}, 1, document(t, deep))
	if _, err := frame.Read(bytes.NewReader(reply), frame.MaxMessage); !errors.Is(err,
		frame.ErrMalformed) {
		t.Errorf("documents 500 deep: %v", err)
	}
}

// TestUnterminated: a document at any level ends with a zero byte that belongs to no element.
func TestUnterminated(t *testing.T) {
	inner := document(t, bson.D{{Key: "s", Value: "text"}})
	whole := document(t, bson.D{{Key: "a", Value: inner}, {Key: "b", Value: bson.A{inner}}})
	for i := range whole {
		if !bytes.HasPrefix(whole[i:], inner) {
			continue
		}
		for _, what := range []struct {
			at int
			to byte
		}{
			{i + len(inner) - 1, 1},       // its end is no zero
			{i + 4 + 1 + len("s") + 1, 6}, // its text takes the zero
			{len(whole) - 1, 1},           // so does the document around it
			{len(whole) - 2, 1},           // and the array
		} {
			b := bytes.Clone(whole)
			b[what.at] = what.to
			b = frame.AppendReply(nil, &frame.Message{}, 1, b)
			if _, err := frame.Read(bytes.NewReader(b), frame.MaxMessage); !errors.Is(err,
				frame.ErrMalformed) {
				t.Errorf("byte %d is %d: %v", what.at, what.to, err)
			}
		}
	}
}

// FuzzRead: malformed input is an error, and a message that was read can be written and read again.
func FuzzRead(f *testing.F) {
	f.Add(insert(f, 0))
	f.Add(insert(f, wiremessage.ChecksumPresent))
	f.Add([]byte{0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := frame.Read(bytes.NewReader(b), 1<<20)
		if err != nil {
			return
		}
		again, err := frame.Read(bytes.NewReader(
			frame.AppendReply(nil, &frame.Message{ID: m.ID}, 1, m.Body)), 2<<20)
		if err != nil || !bytes.Equal(again.Body, m.Body) {
			t.Errorf("%v cannot be read again: %v", m.Body, err)
		}
	})
}
