package wire_test

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// TestLongAnswer: a command whose answer no message can take fails, and its client is told so.
func TestLongAnswer(t *testing.T) {
	client, ctx := connect(t, nil)
	docs := client.Database("app").Collection("docs")
	text := strings.Repeat("s", 13_000_000)
	for i := range 4 {
		if _, err := docs.InsertOne(ctx, bson.D{
			{Key: "_id", Value: i}, {Key: "s", Value: text},
		}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := docs.Aggregate(ctx, bson.A{bson.D{{Key: "$group", Value: bson.D{
		{Key: "_id", Value: nil},
		{Key: "all", Value: bson.D{{Key: "$push", Value: "$s"}}}}}}})
	const tooLarge = 10334
	var failed mongo.CommandError
	if !errors.As(err, &failed) || failed.Code != tooLarge {
		t.Errorf("the group of all documents is answered with %.200v", err)
	}
	if err := client.Ping(ctx, nil); err != nil {
		t.Errorf("the next command is answered with %v", err)
	}
}
