package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"
)

// session is a program for scripts, `session FOLDER URI ACTION`: MongoDB's driver for Go as a
// client of the cluster in the folder, whose router takes the place of ROUTER in the URI.
func session() int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := act(ctx, os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func act(ctx context.Context, folder, uri, action string) error {
	text, err := os.ReadFile(filepath.Join(folder, "cluster.json"))
	if err != nil {
		return err
	}
	var plan struct{ Clients map[string]int }
	if err := json.Unmarshal(text, &plan); err != nil {
		return err
	}
	router := fmt.Sprintf("127.0.0.1:%d", plan.Clients["router.0"])
	client, err := mongo.Connect(options.Client().
		ApplyURI(strings.Replace(uri, "ROUTER", router, 1)).
		SetServerSelectionTimeout(2 * time.Second))
	if err != nil {
		return err
	}
	defer func() { _ = client.Disconnect(ctx) }()
	switch action {
	case "count":
		return count(ctx, client)
	case "move":
		return move(ctx, client)
	}
	return fmt.Errorf("there is no action %q", action)
}

// count says how many orders there are.
func count(ctx context.Context, client *mongo.Client) error {
	n, err := client.Database("shop").Collection("orders").CountDocuments(ctx, bson.D{})
	if err == nil {
		fmt.Println(n, "orders")
	}
	return err
}

// move is the session of docs/live.md: a collection is sharded and written to while one of its
// chunks moves, and a change stream sees all of it.
func move(ctx context.Context, client *mongo.Client) error {
	const orders = 200
	admin, coll := client.Database("admin"), client.Database("shop").Collection("orders")
	at := func(k int) bson.D { return bson.D{{Key: "k", Value: k}} }
	for _, command := range []bson.D{
		{{Key: "enableSharding", Value: "shop"}},
		{{Key: "shardCollection", Value: "shop.orders"}, {Key: "key", Value: at(1)}},
		{{Key: "split", Value: "shop.orders"}, {Key: "middle", Value: at(orders / 2)}},
	} {
		if err := admin.RunCommand(ctx, command).Err(); err != nil {
			return fmt.Errorf("%v: %w", command, err)
		}
	}
	stream, err := coll.Watch(ctx, mongo.Pipeline{})
	if err != nil {
		return err
	}
	var both errgroup.Group
	both.Go(func() error { return insert(ctx, coll, orders) })
	for _, to := range []string{"shard-b", "shard-a", "shard-b"} {
		if err := admin.RunCommand(ctx, bson.D{{Key: "moveChunk", Value: "shop.orders"},
			{Key: "find", Value: at(orders / 2)}, {Key: "to", Value: to}}).Err(); err != nil {
			return fmt.Errorf("move to %s: %w", to, err)
		}
	}
	if err := both.Wait(); err != nil {
		return err
	}
	return errors.Join(changes(ctx, stream, orders), count(ctx, client), chunks(ctx, client))
}

func insert(ctx context.Context, coll *mongo.Collection, orders int) error {
	for i := range orders {
		doc := bson.D{{Key: "_id", Value: i}, {Key: "k", Value: i}}
		if _, err := coll.InsertOne(ctx, doc); err != nil {
			return fmt.Errorf("order %d: %w", i, err)
		}
	}
	return nil
}

// changes says how many different documents the stream saw, in so many events.
func changes(ctx context.Context, stream *mongo.ChangeStream, events int) error {
	seen := map[string]bool{}
	for range events {
		if !stream.Next(ctx) {
			return fmt.Errorf("the stream ended after %d changes: %w", len(seen), stream.Err())
		}
		seen[stream.Current.Lookup("documentKey", "_id").String()] = true
	}
	fmt.Println(len(seen), "orders in the change stream")
	return stream.Close(ctx)
}

// chunks says who owns what, as sh.status() reads it.
func chunks(ctx context.Context, client *mongo.Client) error {
	found, err := client.Database("config").Collection("chunks").Find(ctx, bson.D{},
		options.Find().SetSort(bson.D{{Key: "min", Value: 1}}))
	if err != nil {
		return err
	}
	for found.Next(ctx) {
		min, max := found.Current.Lookup("min"), found.Current.Lookup("max")
		fmt.Println("chunk from", min, "to", max, "on", found.Current.Lookup("shard"))
	}
	return found.Err()
}
