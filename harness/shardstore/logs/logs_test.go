package logs

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/changelog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/key"
)

// TestAsked: an entry about a migration has its parties and its bounds, as far as they are known.
func TestAsked(t *testing.T) {
	for _, c := range []struct {
		details bson.D
		want    changelog.Entry
	}{
		{
			bson.D{
				{Key: "migration", Value: "m"}, {Key: "min", Value: bson.D{{Key: "k", Value: 5}}},
				{Key: "max", Value: nil}, {Key: "from", Value: "a"}, {Key: "to", Value: "b"},
			},
			changelog.Entry{Migration: "m", Min: string(key.Int(5)), From: "a", To: "b"},
		},
		{bson.D{{Key: "shard", Value: "a"}}, changelog.Entry{}},
	} {
		doc, err := bson.Marshal(c.details)
		if err != nil {
			t.Fatal(err)
		}
		got := Asked("a.0", &command.LogChange{What: "w", NS: "test.docs", Details: doc})
		c.want.What, c.want.NS, c.want.Server = "w", "test.docs", "a.0"
		c.want.Details = bson.Raw(doc).String()
		if got != c.want {
			t.Errorf("%v is %+v, not %+v", c.details, got, c.want)
		}
	}
	empty := Asked("a.0", &command.LogChange{What: "w"})
	if want := (changelog.Entry{What: "w", Server: "a.0"}); empty != want {
		t.Errorf("without details it is %+v, not %+v", empty, want)
	}
}
