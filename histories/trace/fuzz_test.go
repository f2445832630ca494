package trace

import (
	"bytes"
	"testing"
)

// FuzzUnmarshalBinary reads whatever there is as a stored event: what is one can be written, and is
// the same when it is read again.
func FuzzUnmarshalBinary(f *testing.F) {
	e := DonorAdvancedEvent{Shard: "a", Peer: "b", NS: "t.c", State: DonorCloning}.Event()
	e.Step, e.At = 7, 90
	b, err := e.AppendBinary(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var e, again Event
		if e.UnmarshalBinary(b) != nil {
			return
		}
		written, err := e.AppendBinary(nil)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if err := again.UnmarshalBinary(written); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if third, err := again.AppendBinary(nil); err != nil || !bytes.Equal(written, third) {
			t.Fatalf("it changes from %x to %x, %v", written, third, err)
		}
	})
}
