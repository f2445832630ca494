package codec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
)

func document() bson.Raw {
	return bson.Raw(bsoncore.BuildDocument(nil, bsoncore.AppendInt64Element(nil, "_id", 7)))
}

func TestRoundTrip(t *testing.T) {
	for name, m := range map[string]env.Message{
		"nil": nil,
		"command": &rpc.Envelope{
			Clock: hlc.Vector{Cluster: 1<<64 - 1, Config: 5},
			Body:  &command.Insert{NS: "test.docs", Docs: []bson.Raw{document(), nil}},
		},
		"empty": &rpc.Envelope{Body: &command.Done{}},
		"keys":  &command.RecvStatus{Min: key.Min, Max: key.Max},
		"error": &rpc.Envelope{Err: errcode.New(errcode.BadValue, "no")},
		"detail": &rpc.Envelope{Err: errcode.With(errcode.StaleConfig, &command.StaleInfo{
			NS:    "test.docs",
			Known: true,
		},
			"old")},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := codec.BSON.Encode(m)
			if err != nil {
				t.Fatal(err)
			}
			got, err := codec.BSON.Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(m, got); diff != "" {
				t.Errorf("sent (-) and got (+):\n%s", diff)
			}
		})
	}
}

// TestSharesNothing demands that a message is as it was decoded when the bytes are used again.
func TestSharesNothing(t *testing.T) {
	want := &rpc.Envelope{Body: &command.Update{NS: "test.docs", Filter: document(),
		Change: document(), Session: command.Session{ID: "client/1", Txn: 7},
		NewID: document(), Place: command.Placement{Versioned: true}}}
	b, err := codec.BSON.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := codec.BSON.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		b[i] = 0xff
	}
	if diff := cmp.Diff(env.Message(want), got); diff != "" {
		t.Errorf("sent (-) and got (+):\n%s", diff)
	}
}

type inner struct{ hidden int }

func TestRefused(t *testing.T) {
	for name, register := range map[string]func(){
		"unexported": codec.Register[struct{ In inner }],
		"map":        codec.Register[struct{ M map[string]int }],
		"float":      codec.Register[struct{ F []float64 }],
		"func":       codec.Register[struct{ F func() }],
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("the type was registered")
				}
			}()
			register()
		})
	}
	if _, err := codec.BSON.Encode(&inner{hidden: 1}); err == nil {
		t.Error("a value of an unregistered type was encoded")
	}
	if _, err := codec.BSON.Encode(command.Done{}); err == nil {
		t.Error("a value that is no pointer was encoded")
	}
}

func TestBrokenBytes(t *testing.T) {
	b, err := codec.BSON.Encode(
		&rpc.Envelope{Body: &command.Insert{NS: "test.docs", Docs: []bson.Raw{document()}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(b) {
		if _, err := codec.BSON.Decode(b[:n]); err == nil {
			t.Errorf("the first %d of %d bytes were decoded", n, len(b))
		}
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	m := &rpc.Envelope{Body: &command.Insert{NS: "test.docs", Docs: []bson.Raw{document()}}}
	for b.Loop() {
		p, err := codec.BSON.Encode(m)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := codec.BSON.Decode(p); err != nil {
			b.Fatal(err)
		}
	}
}
