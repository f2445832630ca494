package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestMoveRangeWithOneBound: with one bound, a moveRange moves what is on that side of it in its
// chunk, and nothing that is on the other.
func TestMoveRangeWithOneBound(t *testing.T) {
	for _, c := range []struct {
		bound         string
		lower, higher string
	}{
		{bound: "min", lower: "stays", higher: "moves"},
		{bound: "max", lower: "moves", higher: "stays"},
	} {
		t.Run(c.bound, func(t *testing.T) {
			client, ctx := connect(t, nil)
			run := administrator(t, ctx, client)
			run(bson.D{{Key: "shardCollection", Value: "app.docs"},
				{Key: "key", Value: bson.D{{Key: "k", Value: 1}}}})
			insert(t, ctx, client.Database("app").Collection("docs"), 10, 60)
			chunks := func() (owners []string) {
				t.Helper()
				found, err := client.Database("config").Collection("chunks").Find(ctx, bson.D{})
				if err != nil {
					t.Fatal(err)
				}
				var docs []struct{ Shard string }
				if err := found.All(ctx, &docs); err != nil {
					t.Fatal(err)
				}
				for _, doc := range docs {
					owners = append(owners, doc.Shard)
				}
				return owners
			}
			from := chunks()[0]
			to := map[string]string{"shard-a": "shard-b", "shard-b": "shard-a"}[from]
			run(bson.D{{Key: "moveRange", Value: "app.docs"}, {Key: "toShard", Value: to},
				{Key: c.bound, Value: bson.D{{Key: "k", Value: 50}}}})
			place := map[string]string{"stays": from, "moves": to}
			now := chunks()
			if len(now) != 2 || now[0] != place[c.lower] || now[1] != place[c.higher] {
				t.Errorf("the chunks were on %s, and are on %v", from, now)
			}
		})
	}
}
