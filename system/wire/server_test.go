package wire_test

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/shardproof/shardproof/system/wire"
	"github.com/shardproof/shardproof/system/wire/wiretest"
)

// connect starts a cluster and connects the official driver to it.
func connect(t *testing.T, users *wire.Users) (*mongo.Client, context.Context) {
	t.Helper()
	_, uri, stop, err := wiretest.Start(users)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(func() {
		if err := client.Disconnect(ctx); err != nil {
			t.Error(err)
		}
		cancel()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return client, ctx
}

// TestDriver reads and writes as an application does.
func TestDriver(t *testing.T) {
	client, ctx := connect(t, nil)
	coll := client.Database("test").Collection("docs")
	for i := range 5 {
		if _, err := coll.InsertOne(ctx, bson.D{{Key: "_id", Value: i}, {Key: "x", Value: i * 11}}); err != nil {
			t.Fatal(err)
		}
	}
	found, err := coll.Find(ctx, bson.D{{Key: "x", Value: bson.D{{Key: "$gt", Value: 11}}}},
		options.Find().SetSort(bson.D{{Key: "x", Value: -1}}).SetBatchSize(2))
	if err != nil {
		t.Fatal(err)
	}
	var docs []bson.M
	if err := found.All(ctx, &docs); err != nil {
		t.Fatal(err)
	}
	if len(docs) != 3 || docs[0]["_id"] != int32(4) {
		t.Errorf("found %v", docs)
	}
}
