package wire_test

import (
	"context"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// administrator runs commands on the database admin, which must succeed.
func administrator(t *testing.T, ctx context.Context, client *mongo.Client) func(bson.D) {
	return func(cmd bson.D) {
		t.Helper()
		if err := client.Database("admin").RunCommand(ctx, cmd).Err(); err != nil {
			t.Fatalf("%v: %v", cmd, err)
		}
	}
}

// TestWholeShardedCollection has a driver index, rename and drop a sharded collection that is on
// both shards: each command is answered, and has its effect.
func TestWholeShardedCollection(t *testing.T) {
	client, ctx := connect(t, nil)
	db := client.Database("app")
	run := administrator(t, ctx, client)
	run(bson.D{{Key: "enableSharding", Value: "app"}})
	shardOverBoth(run, "app.docs")
	insert(t, ctx, db.Collection("docs"), 10, 60)

	for range 2 { // again, it has nothing to do
		if _, err := db.Collection("docs").Indexes().CreateOne(ctx,
			mongo.IndexModel{Keys: bson.D{{Key: "x", Value: 1}}}); err != nil {
			t.Fatal("createIndexes:", err)
		}
		wantIndexes(t, ctx, db.Collection("docs"), "_id_", "x_1")
	}
	if err := db.Collection("docs").Indexes().DropOne(ctx, "x_1"); err != nil {
		t.Fatal("dropIndexes:", err)
	}
	wantIndexes(t, ctx, db.Collection("docs"), "_id_")
	if err := db.Collection("docs").Indexes().DropOne(ctx, "x_1"); err == nil {
		t.Error("an index was dropped that had been dropped")
	}

	run(bson.D{{Key: "renameCollection", Value: "app.docs"}, {Key: "to", Value: "app.papers"}})
	wantCollections(t, ctx, db, "papers")
	wantDocuments(t, ctx, db.Collection("papers"), 2)
	again := bson.D{{Key: "renameCollection", Value: "app.docs"}, {Key: "to", Value: "app.notes"}}
	if err := client.Database("admin").RunCommand(ctx, again).Err(); err == nil {
		t.Error("a collection was renamed that had been renamed")
	}

	if err := db.Collection("papers").Drop(ctx); err != nil {
		t.Fatal("drop:", err)
	}
	wantCollections(t, ctx, db)
	wantDocuments(t, ctx, db.Collection("papers"), 0)
	if err := db.Collection("papers").Drop(ctx); err != nil {
		t.Error("the drop of what there is not:", err)
	}
}

// TestShardWithoutEnabling: a collection can be sharded whose database there is not yet, and is
// there for every command then.
func TestShardWithoutEnabling(t *testing.T) {
	client, ctx := connect(t, nil)
	db := client.Database("app")
	cmd := func(ns string) bson.D {
		return bson.D{{Key: "shardCollection", Value: ns},
			{Key: "key", Value: bson.D{{Key: "k", Value: 1}}}}
	}
	for range 2 { // again, it has nothing to do
		if err := client.Database("admin").RunCommand(ctx, cmd("app.docs")).Err(); err != nil {
			t.Fatal(err)
		}
	}
	wantCollections(t, ctx, db, "docs")
	insert(t, ctx, db.Collection("docs"), 10)
	if _, err := db.Collection("docs").Indexes().CreateOne(ctx,
		mongo.IndexModel{Keys: bson.D{{Key: "x", Value: 1}}}); err != nil {
		t.Fatal("createIndexes:", err)
	}
	wantIndexes(t, ctx, db.Collection("docs"), "_id_", "x_1")
	if err := db.Collection("docs").Indexes().DropOne(ctx, "x_1"); err != nil {
		t.Fatal("dropIndexes:", err)
	}
	wantIndexes(t, ctx, db.Collection("docs"), "_id_")
	for _, ns := range []string{"app", "app.", ".docs", "config.docs", "admin.docs", "a$b.docs"} {
		if err := client.Database("admin").RunCommand(ctx, cmd(ns)).Err(); err == nil {
			t.Errorf("%s was sharded", ns)
		}
	}
	names, err := client.ListDatabaseNames(ctx, bson.D{})
	if slices.Sort(names); !slices.Equal(names, []string{"admin", "app", "config"}) || err != nil {
		t.Errorf("the databases are %q (%v)", names, err)
	}
}

// TestRenameOverSharded: the collection that had the name goes, and only that one.
func TestRenameOverSharded(t *testing.T) {
	client, ctx := connect(t, nil)
	db := client.Database("app")
	run := administrator(t, ctx, client)
	run(bson.D{{Key: "enableSharding", Value: "app"}})
	shardOverBoth(run, "app.new")
	shardOverBoth(run, "app.old")
	insert(t, ctx, db.Collection("new"), 10, 60, 70)
	insert(t, ctx, db.Collection("old"), 10)
	run(bson.D{{Key: "renameCollection", Value: "app.new"}, {Key: "to", Value: "app.old"},
		{Key: "dropTarget", Value: true}})
	wantCollections(t, ctx, db, "old")
	wantDocuments(t, ctx, db.Collection("old"), 3)
}

// shardOverBoth shards a collection by k, with a chunk on each shard.
func shardOverBoth(run func(bson.D), ns string) {
	run(bson.D{{Key: "shardCollection", Value: ns},
		{Key: "key", Value: bson.D{{Key: "k", Value: 1}}}})
	run(bson.D{{Key: "split", Value: ns}, {Key: "middle", Value: bson.D{{Key: "k", Value: 50}}}})
	for k, to := range map[int]string{10: "shard-a", 60: "shard-b"} {
		run(bson.D{{Key: "moveChunk", Value: ns},
			{Key: "find", Value: bson.D{{Key: "k", Value: k}}}, {Key: "to", Value: to}})
	}
}

func insert(t *testing.T, ctx context.Context, coll *mongo.Collection, keys ...int) {
	t.Helper()
	for _, k := range keys {
		doc := bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}}
		if _, err := coll.InsertOne(ctx, doc); err != nil {
			t.Fatal(err)
		}
	}
}

func wantIndexes(t *testing.T, ctx context.Context, coll *mongo.Collection, want ...string) {
	t.Helper()
	specs, err := coll.Indexes().ListSpecifications(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range specs {
		names = append(names, s.Name)
	}
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("the indexes are %q, not %q", names, want)
	}
}

func wantCollections(t *testing.T, ctx context.Context, db *mongo.Database, want ...string) {
	t.Helper()
	names, err := db.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("the collections are %q, not %q", names, want)
	}
}

func wantDocuments(t *testing.T, ctx context.Context, coll *mongo.Collection, want int64) {
	t.Helper()
	if n, err := coll.CountDocuments(ctx, bson.D{}); n != want || err != nil {
		t.Errorf("there are %d documents, not %d (%v)", n, want, err)
	}
}
