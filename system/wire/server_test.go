package wire_test

import (
	"context"
	"errors"
	"net"
	"strings"
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
		if _, err := coll.InsertOne(ctx,
			bson.D{{Key: "_id", Value: i}, {Key: "x", Value: i * 11}}); err != nil {
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

// TestMoveWhileWriting shards a collection, and moves a chunk back and forth while an application
// writes: nothing that was acknowledged is lost, and a change stream sees every document once.
func TestMoveWhileWriting(t *testing.T) {
	client, ctx := connect(t, nil)
	admin, coll := client.Database("admin"), client.Database("app").Collection("docs")
	run := func(cmd bson.D) {
		t.Helper()
		if err := admin.RunCommand(ctx, cmd).Err(); err != nil {
			t.Fatalf("%v: %v", cmd, err)
		}
	}
	run(bson.D{{Key: "enableSharding", Value: "app"}})
	run(bson.D{{Key: "shardCollection", Value: "app.docs"},
		{Key: "key", Value: bson.D{{Key: "k", Value: 1}}}})
	run(bson.D{{Key: "split", Value: "app.docs"},
		{Key: "middle", Value: bson.D{{Key: "k", Value: 50}}}})
	stream, err := coll.Watch(ctx, mongo.Pipeline{})
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan int, 1)
	stop := make(chan struct{})
	go func() { written <- insertUntil(t, ctx, coll, stop) }()
	for _, to := range []string{"shard-b", "shard-a", "shard-b"} {
		run(bson.D{{Key: "moveChunk", Value: "app.docs"},
			{Key: "find", Value: bson.D{{Key: "k", Value: 60}}}, {Key: "to", Value: to}})
	}
	close(stop)
	want := <-written
	if got, err := coll.CountDocuments(ctx, bson.D{}); err != nil || got != int64(want) {
		t.Errorf("%d documents were acknowledged, %d are there (%v)", want, got, err)
	}
	seen := make(map[any]bool)
	for len(seen) < want && stream.Next(ctx) {
		id := stream.Current.Lookup("documentKey", "_id").Int32()
		if k, full := stream.Current.Lookup("documentKey", "k"),
			stream.Current.Lookup("fullDocument", "k"); !k.Equal(full) {
			t.Errorf("document %v has k %v, and %v in its key", id, full, k)
		}
		if seen[id] {
			t.Errorf("document %v was seen twice", id)
		}
		seen[id] = true
	}
	if err := stream.Err(); err != nil {
		t.Error(err)
	}
	chunks, err := client.Database("config").Collection("chunks").CountDocuments(ctx, bson.D{})
	if err != nil || chunks < 2 {
		t.Errorf("config.chunks has %d documents (%v)", chunks, err)
	}
}

// insertUntil inserts documents until it is stopped, and returns how many were acknowledged.
func insertUntil(
	t *testing.T, ctx context.Context, coll *mongo.Collection, stop chan struct{},
) (n int) {
	for {
		select {
		case <-stop:
			return n
		default:
		}
		doc := bson.D{{Key: "_id", Value: int32(n)}, {Key: "k", Value: int32(n % 100)}}
		if _, err := coll.InsertOne(ctx, doc); err != nil {
			t.Errorf("document %d: %v", n, err)
			return n
		}
		n++
	}
}

// TestAuthentication lets in clients that know the password, and no others.
func TestAuthentication(t *testing.T) {
	users, err := wire.ReadUsers(strings.NewReader("# users\nann:secret\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, uri, stop, err := wiretest.Start(users)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, c := range []struct {
		password string
		in       bool
	}{{"secret", true}, {"guess", false}, {"", false}} {
		with := options.Client().ApplyURI(uri)
		if c.password != "" {
			with.SetAuth(options.Credential{Username: "ann", Password: c.password})
		}
		client, err := mongo.Connect(with)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Database("test").Collection("docs").CountDocuments(ctx, bson.D{})
		if (err == nil) != c.in {
			t.Errorf("password %q: %v", c.password, err)
		}
		if err := client.Disconnect(ctx); err != nil {
			t.Error(err)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestOpenToAll: without users, a server listens on loopback only.
func TestOpenToAll(t *testing.T) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = l.Close() }()
	if err := wire.Serve(t.Context(), l, wire.Config{}); !errors.Is(err, wire.ErrOpenToAll) {
		t.Errorf("served without users: %v", err)
	}
}
