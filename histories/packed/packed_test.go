package packed_test

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/histories/packed"
)

// TestRoundTrip: what was appended is read again, and of no proper prefix of it is the whole.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number, signed := rapid.Uint64().Draw(t, "number"), rapid.Int64().Draw(t, "signed")
		first, second := rapid.String().Draw(t, "first"), rapid.String().Draw(t, "second")
		b := binary.AppendVarint(binary.AppendUvarint(nil, number), signed)
		b = packed.AppendText(append(b, 7), first, second)

		r := packed.Read(b)
		same := r.Uint() == number && r.Int() == signed && r.Byte() == 7 && r.Text() == first &&
			r.Text() == second
		if !same || !r.Whole() {
			t.Fatalf("%x was not read as it was written", b)
		}
		cut := packed.Read(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")])
		cut.Uint()
		cut.Int()
		cut.Byte()
		cut.Text()
		if cut.Text(); cut.Whole() {
			t.Fatalf("a part of %x was read as the whole", b)
		}
	})
}

// TestBroken: behind a value that does not fit, everything is zero.
func TestBroken(t *testing.T) {
	for _, b := range [][]byte{{5, 'a', 'b'}, {0xff}, {}} {
		r := packed.Read(b)
		if s := r.Text(); s != "" || r.Whole() || r.Uint() != 0 || r.Int() != 0 || r.Byte() != 0 ||
			r.Count(1) != 0 || r.Bytes(1) != nil {
			t.Errorf("%x: read a value behind the text %q, which does not fit", b, s)
		}
	}
	r := packed.Read([]byte{3, 1, 2, 3, 4, 5})
	if n := r.Count(2); n != 0 || r.Whole() {
		t.Errorf("counted %d of two bytes each in five bytes", n)
	}
}
