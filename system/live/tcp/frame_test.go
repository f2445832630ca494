package tcp

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"pgregory.net/rapid"
)

// TestFrames: frames arrive as they were sent, and no other bytes are taken for one.
func TestFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := frame{Kind(rapid.IntRange(1, int(kinds)-1).Draw(t, "kind")),
			rapid.Uint64().Draw(t, "id"),
			rapid.SliceOfN(rapid.Byte(), 0, 300_000).Draw(t, "body")}
		b := appendFrame(nil, f)
		got, err := readFrame(bytes.NewReader(b), len(f.body))
		if err != nil || got.kind != f.kind || got.id != f.id || !bytes.Equal(got.body, f.body) {
			t.Fatalf("%d bytes became %v: %v", len(b), got.kind, err)
		}
		if len(f.body) > 0 {
			_, err = readFrame(bytes.NewReader(b), len(f.body)-1)
			if !errors.Is(err, errFrame) {
				t.Fatalf("a body above the limit: %v", err)
			}
		}
		b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		if _, err := readFrame(bytes.NewReader(b), len(f.body)); err == nil {
			t.Fatal("a damaged frame was taken")
		}
	})
}

// TestLengthCostsNothing: a frame that claims a long body costs memory only as it comes.
func TestLengthCostsNothing(t *testing.T) {
	b := appendFrame(nil, frame{kind: request})
	b[atLength], b[atLength+1], b[atLength+2], b[atLength+3] = 0, 0, 0, 0x10 // 256 MiB
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readFrame(bytes.NewReader(append(b, make([]byte, 1000)...)), 256<<20)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the end of the bytes is %v", err)
	}
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 1<<20 {
		t.Errorf("a thousand bytes cost %d bytes of memory", spent)
	}
}

// FuzzFrame: whatever comes, reading ends with a frame or an error, and a frame that was read is
// the one that writing it gives.
func FuzzFrame(f *testing.F) {
	f.Add(appendFrame(nil, frame{hello, 0, []byte(`{"Version":"shardproof 1"}`)}))
	f.Add(appendFrame(appendFrame(nil, frame{oneWay, 0, []byte("a")}), frame{request, 7, nil}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		var again []byte
		for {
			got, err := readFrame(r, 1<<20)
			if err != nil {
				break
			}
			again = appendFrame(again, got)
		}
		if !bytes.HasPrefix(b, again) {
			t.Errorf("%x was read and is written as %x", b, again)
		}
	})
}
