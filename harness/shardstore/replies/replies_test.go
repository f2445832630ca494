package replies_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/harness/shardstore/replies"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// asked finds the replies for which packages of clients and operators ask.
var asked = regexp.MustCompile(`rpc\.\w+\[(command\.\w+)\]`)

// answers are the types of all answers to clients and operators: those of registered messages for
// which their packages ask, what is called a reply and is not between servers, and what is in them.
func answers(t *testing.T) map[string]reflect.Type {
	t.Helper()
	sources := ""
	for _, folder := range []string{"../../../system/client", ".."} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no sources: %v", folder, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources += string(text)
		}
	}
	wanted := map[string]bool{}
	for _, found := range asked.FindAllStringSubmatch(sources, -1) {
		wanted[found[1]] = true
	}
	all := map[string]reflect.Type{"client.Answer": reflect.TypeFor[client.Answer]()}
	for _, name := range codec.Registered() {
		between := replies.Between[name] != ""
		if between || !wanted[name] && !strings.HasSuffix(name, "Reply") {
			continue
		}
		m, _ := codec.New(name)
		nested(all, reflect.TypeOf(m).Elem())
	}
	return all
}

// nested adds a type of the commands and those of its fields.
func nested(all map[string]reflect.Type, of reflect.Type) {
	for of.Kind() == reflect.Slice || of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || !strings.HasPrefix(of.String(), "command.") {
		return
	}
	all[of.String()] = of
	for i := range of.NumField() {
		nested(all, of.Field(i).Type)
	}
}

// Every field of an answer has a judge, which is a checker, or a reason why it has none; and no
// judge is of a field that there is not.
func TestFields(t *testing.T) {
	checker := map[string]bool{"": true}
	for _, c := range slices.Concat(checkers.Catalog(), oracle.Catalog(), endstate.Catalog()) {
		checker[c.Name] = true
	}
	there := map[string]bool{}
	for name, of := range answers(t) {
		for i := range of.NumField() {
			field := name + "." + of.Field(i).Name
			there[field] = true
			if replies.Fields[field].Why == "" {
				t.Errorf("nobody judges %s", field)
			}
		}
	}
	for field, judge := range replies.Fields {
		if !there[field] {
			t.Errorf("there is no field %s", field)
		}
		if !checker[judge.By] {
			t.Errorf("%s is judged by %q, which is no checker", field, judge.By)
		}
	}
	for name := range replies.Between {
		if _, known := codec.New(name); !known {
			t.Errorf("there is no reply %s", name)
		}
	}
}

// A change is of its key, and names nothing but the new name of the collection.
func TestChanges(t *testing.T) {
	key := doc(t, bson.D{{Key: "_id", Value: int64(7)}})
	names := []string{"test.more"}
	for name, c := range map[string]struct {
		change command.Change
		want   string
	}{
		"an insert":  {command.Change{Key: key, Doc: of(t, 7, "a")}, ""},
		"a deletion": {command.Change{Kind: command.ChangeDelete, Key: key}, ""},
		"a rename":   {command.Change{Kind: command.ChangeRename, To: "test.more"}, ""},
		"another rename": {
			command.Change{Kind: command.ChangeRename, To: "test.x"}, `called "test.x"`,
		},
		"a drop to a name": {
			command.Change{Kind: command.ChangeDrop, To: "test.more"}, "of the kind drop",
		},
		"a shard":     {command.Change{Shard: "shard-a"}, "which is for routers"},
		"another key": {command.Change{Key: key, Doc: of(t, 8, "a")}, "asked for k=7"},
	} {
		told(t, name, replies.Change(scenario.Collection{}, names, &c.change), c.want)
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
	weak := &scenario.Op{Kind: scenario.Read, Concern: "available"}
	read := &scenario.Op{Kind: scenario.Read}
	told(t, "read", replies.Read(read, scenario.Collection{}, &none), "no operation time")
	none.Time = 1
	told(t, "since", replies.Read(read, scenario.Collection{}, &none), "since when")
	told(t, "available", replies.Read(weak, scenario.Collection{}, &none), "")
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
		a := client.Answer{Certainty: client.OK, Time: 1, Since: 1, Docs: c.docs}
		told(t, name, replies.Read(op, scenario.Collection{}, &a), c.want)
	}
}

// A snapshot read is of one time on all shards, which is the one that was asked for.
func TestSnapshots(t *testing.T) {
	given := command.Find{Concern: command.Snapshot, At: 7}
	picked := command.Find{Concern: command.Snapshot}
	for name, c := range map[string]struct {
		asked command.Find
		a     client.Answer
		want  string
	}{
		"as of the time":      {given, client.Answer{Time: 7, Since: 7}, ""},
		"later":               {given, client.Answer{Time: 9, Since: 9}, "asked for the state of 0.7"},
		"picked by a router":  {picked, client.Answer{Time: 9, Since: 9}, ""},
		"of two times":        {picked, client.Answer{Time: 9, Since: 8}, "0.8 on one shard"},
		"of another concern":  {command.Find{At: 7}, client.Answer{Time: 9, Since: 8}, ""},
		"without an outcome":  {given, client.Answer{Certainty: client.Failed, Time: 9}, ""},
		"one shard is behind": {given, client.Answer{Time: 7, Since: 6}, "0.6 on one shard"},
	} {
		if c.a.Certainty == client.Unknown {
			c.a.Certainty = client.OK
		}
		told(t, name, replies.Snapshot(&c.asked, &c.a), c.want)
	}
}

// What a read of committed data returns is committed where it is read.
func TestUncommitted(t *testing.T) {
	for _, c := range []struct {
		concern       command.ReadConcern
		of, committed hlc.Timestamp
		want          string
	}{
		{command.Snapshot, 7, 7, ""},
		{command.Snapshot, 8, 7, "committed up to 0.7 only"},
		{command.MajorityRead, 8, 7, "committed up to 0.7 only"},
		{command.Local, 8, 7, ""},
	} {
		asked := command.Find{Concern: c.concern}
		told(t, string(c.concern), replies.Uncommitted(&asked, c.of, c.committed), c.want)
	}
}

// What a causal session has seen is there when it reads again.
func TestEarly(t *testing.T) {
	for name, c := range map[string]struct {
		asked command.Find
		of    hlc.Timestamp
		want  string
	}{
		"what it has seen":  {command.Find{Concern: command.Local, After: 7}, 7, ""},
		"later":             {command.Find{Concern: command.MajorityRead, After: 7}, 9, ""},
		"before":            {command.Find{Concern: command.Local, After: 7}, 6, "has seen that of 0.7"},
		"committed, before": {command.Find{Concern: command.MajorityRead, After: 7}, 6, "0.7"},
		"of no session":     {command.Find{Concern: command.Local}, 6, ""},
	} {
		told(t, name, replies.Early(&c.asked, c.of), c.want)
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
		flaws = append(flaws, s.End(&client.Answer{Certainty: client.OK, Time: 1, Since: 1})...)
		told(t, name, flaws, c.want)
	}
}
