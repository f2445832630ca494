package packed_test

import (
	"testing"

	"github.com/shardproof/shardproof/histories/packed"
)

// FuzzReader reads whatever there is as a list of texts and numbers: nothing is read beyond the
// end, and what is broken stays so.
func FuzzReader(f *testing.F) {
	f.Add(packed.AppendText([]byte{2, 5, 9}, "a", "bc"))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 'a'})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := packed.Read(b)
		for range r.Count(2) {
			r.Byte()
			r.Uint()
			r.Int()
			if text := r.Text(); len(text) > len(b) {
				t.Fatalf("a text of %d bytes out of %d", len(text), len(b))
			}
		}
		if rest, ok := r.Rest(); !ok && (len(rest) > 0 || r.Whole() || r.Text() != "") {
			t.Fatal("something is read behind what is broken")
		}
	})
}
