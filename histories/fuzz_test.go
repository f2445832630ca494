package histories

import (
	"bytes"
	"errors"
	"testing"

	"github.com/shardproof/shardproof/histories/trace"
)

// FuzzRead reads whatever there is as a history: what is read can be written and read again, and is
// the same.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"schema":"shardproof.history/1","seed":0}
{"id":1,"client":0,"ns":"t.c","kind":"write","key":1,"value":"a","call":1,"return":2,"outcome":"ok"}
{"end":true,"records":1}
`))
	f.Fuzz(func(t *testing.T, text []byte) { survives[Op](t, text) })
}

// FuzzReadEvents does so with events.
func FuzzReadEvents(f *testing.F) {
	f.Add([]byte(`{"schema":"shardproof.events/2","seed":39}
{"step":910,"at":314,"node":"a.0","kind":"decision","shard":"a","migration":"m","decision":"committed"}
{"end":true,"records":1}
`))
	f.Fuzz(func(t *testing.T, text []byte) { survives[trace.Event](t, text) })
}

func survives[T Record](t *testing.T, text []byte) {
	header, records, err := ReadSized[T]("h", bytes.NewReader(text), Extent{Most: 1 << 20})
	if err != nil {
		var refused *FileError
		if !errors.As(err, &refused) {
			t.Fatalf("refused without a place: %v", err)
		}
		return
	}
	var again, third bytes.Buffer
	if err := Write(&again, header, records); err != nil {
		t.Fatal(err)
	}
	written := bytes.Clone(again.Bytes())
	header, records, err = Read[T]("h", &again)
	if err != nil {
		t.Fatalf("what was read cannot be read again: %v", err)
	}
	if err := Write(&third, header, records); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written, third.Bytes()) {
		t.Fatal("what was read is another file when it is written, read and written again")
	}
}
