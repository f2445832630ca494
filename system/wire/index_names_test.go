package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestIndexNames: an index of a sharded collection is the one that was asked for, and is dropped by
// its name, whatever that is.
func TestIndexNames(t *testing.T) {
	client, ctx := connect(t, nil)
	db := client.Database("app")
	run := administrator(t, ctx, client)
	run(bson.D{{Key: "enableSharding", Value: "app"}})
	shardOverBoth(run, "app.docs")
	docs := db.Collection("docs")
	for name, keys := range map[string]bson.D{
		"my_field_1": {{Key: "my_field", Value: 1}},
		"a_1_b_-1":   {{Key: "a", Value: 1}, {Key: "b", Value: -1}},
		"of my own":  {{Key: "x", Value: 1}},
		"in.side_1":  {{Key: "in.side", Value: 1}},
		"z_hashed":   {{Key: "z", Value: "hashed"}},
	} {
		t.Run(name, func(t *testing.T) {
			create := bson.D{{Key: "createIndexes", Value: "docs"}, {Key: "indexes", Value: bson.A{
				bson.D{{Key: "name", Value: name}, {Key: "key", Value: keys}}}}}
			for range 2 { // again, it has nothing to do
				if err := db.RunCommand(ctx, create).Err(); err != nil {
					t.Fatal(err)
				}
				wantIndexes(t, ctx, docs, "_id_", name)
			}
			if err := docs.Indexes().DropOne(ctx, name); err != nil {
				t.Fatal(err)
			}
			wantIndexes(t, ctx, docs, "_id_")
		})
	}
	insert(t, ctx, db.Collection("plain"), 1)
	plain := bson.D{{Key: "createIndexes", Value: "plain"}, {Key: "indexes", Value: bson.A{
		bson.D{{Key: "name", Value: "k_1"}, {Key: "key", Value: bson.D{{Key: "k", Value: 1}}}},
		bson.D{{Key: "name", Value: "mine"}, {Key: "key", Value: bson.D{{Key: "x", Value: 1}}}}}}}
	if err := db.RunCommand(ctx, plain).Err(); err != nil {
		t.Fatal(err)
	}
	run(bson.D{{Key: "shardCollection", Value: "app.plain"},
		{Key: "key", Value: bson.D{{Key: "k", Value: 1}}}})
	if err := db.Collection("plain").Indexes().DropOne(ctx, "mine"); err != nil {
		t.Fatal(err)
	}
	wantIndexes(t, ctx, db.Collection("plain"), "_id_", "k_1")
}
