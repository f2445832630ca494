package wire_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestReadAtTimeToCome: a read at or after a time that no server has told anybody is refused, and
// does not take the cluster's time there.
func TestReadAtTimeToCome(t *testing.T) {
	far := bson.Timestamp{T: 4_000_000_000}
	for name, concern := range map[string]bson.D{
		"local":    {{Key: "level", Value: "local"}, {Key: "afterClusterTime", Value: far}},
		"majority": {{Key: "level", Value: "majority"}, {Key: "afterClusterTime", Value: far}},
		"snapshot": {{Key: "level", Value: "snapshot"}, {Key: "atClusterTime", Value: far}},
	} {
		t.Run(name, func(t *testing.T) {
			c := simulate(t, 1)
			answer := c.answer(c.routers[0], bson.D{{Key: "find", Value: "docs"},
				{Key: "readConcern", Value: concern}})
			const invalidOptions = 72
			if n, _ := answer.Lookup("code").AsInt64OK(); n != invalidOptions {
				t.Errorf("the read was answered with %v", answer)
			}
			doc := bson.D{{Key: "_id", Value: 1}, {Key: "k", Value: 1}}
			c.answer(c.routers[0], bson.D{{Key: "insert", Value: "docs"},
				{Key: "documents", Value: bson.A{doc}}})
			now := c.cluster.Router(c.routers[0]).Endpoint().Clock().Now().Cluster
			if passed := time.Duration(now.Millis()) * time.Millisecond; passed > time.Minute {
				t.Errorf("the cluster time is %v after the beginning", passed)
			}
		})
	}
}
