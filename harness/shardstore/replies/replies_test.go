package replies_test

import (
	"reflect"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/harness/shardstore/replies"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/key"
)

// Every field of a reply has a rule, or a reason why it has none; and no rule is of a field that
// there is not.
func TestFields(t *testing.T) {
	there := map[string]bool{}
	for _, reply := range []any{client.Answer{}, command.Written{}, command.Batch{}} {
		of := reflect.TypeOf(reply)
		for i := range of.NumField() {
			name := of.Name() + "." + of.Field(i).Name
			there[name] = true
			if replies.Fields[name] == "" {
				t.Errorf("nobody judges %s", name)
			}
		}
	}
	for name := range replies.Fields {
		if !there[name] {
			t.Errorf("there is no field %s", name)
		}
	}
}

func doc(t *testing.T, d bson.D) bson.Raw {
	t.Helper()
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func of(t *testing.T, k int64, v string) bson.Raw {
	return doc(t, bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}, {Key: "v", Value: v}})
}

func told(t *testing.T, name string, flaws []string, want string) {
	t.Helper()
	switch all := strings.Join(flaws, "; "); {
	case want == "" && all != "":
		t.Errorf("%s: told %q, and nothing is wrong", name, all)
	case !strings.Contains(all, want):
		t.Errorf("%s: told %q, not %q", name, all, want)
	}
}

// What each kind of write may say, and one thing of each that it may not.
func TestWrites(t *testing.T) {
	old := of(t, 7, "w1")
	const wrong = "it says"
	for name, c := range map[string]struct {
		op   scenario.Op
		said command.Written
		want string
	}{
		"insert": {scenario.Op{Kind: scenario.Insert}, command.Written{N: 1}, ""},
		"insert of two": {
			scenario.Op{Kind: scenario.Insert},
			command.Written{N: 2}, wrong,
		},
		"insert of none": {scenario.Op{Kind: scenario.Insert}, command.Written{}, wrong},
		"insert that upserts": {
			scenario.Op{Kind: scenario.Insert},
			command.Written{N: 1, Upserted: true}, wrong,
		},
		"update": {
			scenario.Op{Kind: scenario.Update},
			command.Written{N: 1, Modified: 1}, "",
		},
		"update of nothing": {scenario.Op{Kind: scenario.Update}, command.Written{}, ""},
		"update that matched two": {
			scenario.Op{Kind: scenario.Update},
			command.Written{N: 2, Modified: 1}, wrong,
		},
		"update that kept": {
			scenario.Op{Kind: scenario.Update},
			command.Written{N: 1}, wrong,
		},
		"update with an image": {
			scenario.Op{Kind: scenario.Update},
			command.Written{N: 1, Modified: 1, Image: old}, wrong,
		},
		"push": {
			scenario.Op{Kind: scenario.Push},
			command.Written{N: 1, Modified: 1}, "",
		},
		"push that makes": {
			scenario.Op{Kind: scenario.Push},
			command.Written{N: 1, Upserted: true}, wrong,
		},
		"upsert": {
			scenario.Op{Kind: scenario.Upsert},
			command.Written{N: 1, Upserted: true}, "",
		},
		"upsert that replaces": {
			scenario.Op{Kind: scenario.Upsert},
			command.Written{N: 1, Modified: 1}, "",
		},
		"upsert that does nothing": {scenario.Op{Kind: scenario.Upsert}, command.Written{}, wrong},
		"write that replaces": {
			scenario.Op{Kind: scenario.Write},
			command.Written{N: 1, Modified: 1, Image: old}, "",
		},
		"write that makes": {
			scenario.Op{Kind: scenario.Write},
			command.Written{N: 1, Upserted: true}, "",
		},
		"write that forgets": {
			scenario.Op{Kind: scenario.Write},
			command.Written{N: 1, Modified: 1}, wrong,
		},
		"cas": {
			scenario.Op{Kind: scenario.CAS, Expect: "w1"},
			command.Written{N: 1, Modified: 1, Image: old}, "",
		},
		"cas that does not match": {
			scenario.Op{Kind: scenario.CAS, Expect: "w1"},
			command.Written{}, "",
		},
		"cas of another value": {
			scenario.Op{Kind: scenario.CAS, Expect: "w0"},
			command.Written{N: 1, Modified: 1, Image: old}, `returned the value "w1"`,
		},
		"cas if absent": {scenario.Op{Kind: scenario.CAS}, command.Written{N: 1}, ""},
		"delete": {
			scenario.Op{Kind: scenario.Delete},
			command.Written{N: 1, Image: old}, "",
		},
		"delete of nothing": {scenario.Op{Kind: scenario.Delete}, command.Written{}, ""},
		"delete without an image": {
			scenario.Op{Kind: scenario.Delete},
			command.Written{N: 1}, wrong,
		},
		"image of another key": {
			scenario.Op{Kind: scenario.Delete},
			command.Written{N: 1, Image: of(t, 8, "w1")}, "returned _id 8, k 8",
		},
		"image with another field": {
			scenario.Op{Kind: scenario.Delete},
			command.Written{N: 1,
				Image: doc(t,
					bson.D{{Key: "_id", Value: int64(7)}, {Key: "k", Value: int64(7)},
						{Key: "x", Value: 1}})}, "has the field x",
		},
	} {
		c.op.Key = 7
		c.said.Time = 9
		a := client.Answer{Certainty: client.OK, Written: c.said, After: 8, Time: 9}
		told(t, name, replies.Write(&c.op, scenario.Collection{}, &a), c.want)
	}
}

// A statement that is sent again is answered as it was.
func TestDiffering(t *testing.T) {
	first := command.Written{N: 1, Modified: 1, Image: of(t, 7, "w1"), Time: 5}
	same, other := first, first
	same.Retried, same.Time = true, 9
	other.Image = of(t, 7, "w2")
	for name, c := range map[string]struct {
		again command.Written
		want  string
	}{
		"the same":      {same, ""},
		"another image": {other, "the image"},
		"no result":     {command.Written{Retried: true}, "n 0, modified 0"},
	} {
		switch told := replies.Differing(&c.again, &first); {
		case c.want == "" && told != "", !strings.Contains(told, c.want):
			t.Errorf("%s: told %q", name, told)
		}
	}
}

// The time of a write is after what its client knew; one that was executed before has its old time.
func TestTimes(t *testing.T) {
	op := &scenario.Op{Kind: scenario.Insert, Key: 7}
	for name, c := range map[string]struct {
		a    client.Answer
		want string
	}{
		"later": {client.Answer{After: 4, Time: 5, Written: command.Written{N: 1, Time: 5}}, ""},
		"earlier": {
			client.Answer{After: 5, Time: 5, Written: command.Written{N: 1, Time: 5}},
			"operation time",
		},
		"retried": {
			client.Answer{After: 5, Time: 4,
				Written: command.Written{N: 1, Time: 4, Retried: true}},
			"",
		},
		"none": {client.Answer{Written: command.Written{N: 1}}, "operation time"},
	} {
		c.a.Certainty = client.OK
		told(t, name, replies.Write(op, scenario.Collection{}, &c.a), c.want)
	}
	none := client.Answer{Certainty: client.OK}
	told(t, "read", replies.Read(&scenario.Op{Kind: scenario.Read}, scenario.Collection{}, &none),
		"no operation time")
	told(t, "lost", replies.Write(op, scenario.Collection{}, &client.Answer{}), "")
}

// A read returns at most one document, of its key.
func TestReads(t *testing.T) {
	op := &scenario.Op{Kind: scenario.Read, Key: 7}
	for name, c := range map[string]struct {
		docs []bson.Raw
		want string
	}{
		"none":        {nil, ""},
		"one":         {[]bson.Raw{of(t, 7, "w")}, ""},
		"two":         {[]bson.Raw{of(t, 7, "w"), of(t, 7, "w")}, "2 documents of one key"},
		"another key": {[]bson.Raw{of(t, 6, "w")}, "asked for k=7"},
	} {
		a := client.Answer{Certainty: client.OK, Time: 1, Docs: c.docs}
		told(t, name, replies.Read(op, scenario.Collection{}, &a), c.want)
	}
}

// A scan's documents come in the order of the shard key, also from one batch to the next, and in
// batches of the size that was asked for.
func TestScans(t *testing.T) {
	by := key.Pattern{Field: "k", Hashed: true}
	low, high := of(t, 1, "a"), of(t, 2, "b")
	if a, _ := by.Of(low); true {
		if b, _ := by.Of(high); a > b {
			low, high = high, low
		}
	}
	for name, c := range map[string]struct {
		batches [][]bson.Raw
		want    string
	}{
		"in order": {[][]bson.Raw{{low}, {high}}, ""},
		"out of order": {[][]bson.Raw{{high}, {low}},
			"came after a document with a higher shard key"},
		"too many": {[][]bson.Raw{{low, high, high}}, "a batch has 3 documents"},
	} {
		s := replies.NewScan(&scenario.Op{Kind: scenario.Scan, To: 9, Batch: 2},
			scenario.Collection{Hashed: true})
		var flaws []string
		for _, batch := range c.batches {
			flaws = append(flaws, s.Batch(batch)...)
		}
		flaws = append(flaws, s.End(&client.Answer{Certainty: client.OK, Time: 1})...)
		told(t, name, flaws, c.want)
	}
}
