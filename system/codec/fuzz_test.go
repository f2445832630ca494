package codec_test

import (
	"bytes"
	"testing"

	"github.com/shardproof/shardproof/system/codec"
	_ "github.com/shardproof/shardproof/system/command"
)

// FuzzDecode decodes whatever bytes another process may send: what is a message is encoded and
// decoded again to the same bytes.
func FuzzDecode(f *testing.F) {
	for _, name := range codec.Registered() {
		m, _ := codec.New(name)
		if b, err := codec.BSON.Encode(m); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := codec.BSON.Decode(b)
		if err != nil || m == nil {
			return
		}
		written, err := codec.BSON.Encode(m)
		if err != nil {
			t.Fatalf("what was decoded cannot be encoded: %v", err)
		}
		again, err := codec.BSON.Decode(written)
		if err != nil {
			t.Fatalf("what was encoded cannot be decoded: %v", err)
		}
		if third, err := codec.BSON.Encode(again); err != nil || !bytes.Equal(written, third) {
			t.Fatalf("it changes from %x to %x, %v", written, third, err)
		}
	})
}
