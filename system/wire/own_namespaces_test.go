package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/wire/deployment"
)

// TestOperationsOnWhatIsOwn: no operation on a whole collection makes one of what a shard keeps for
// itself: the shard has it already, as another one, and would stop at that.
func TestOperationsOnWhatIsOwn(t *testing.T) {
	c := simulate(t, 1)
	id := bson.D{{Key: "id", Value: bson.Binary{Subtype: 4, Data: make([]byte, 16)}}}
	c.answer(c.routers[0], bson.D{
		{Key: "insert", Value: "docs"},
		{Key: "documents", Value: bson.A{bson.D{{Key: "k", Value: 1}}}},
		{Key: "lsid", Value: id}, {Key: "txnNumber", Value: int64(1)}}) // a shard notes its session
	byID := key.Pattern{Field: "_id"}
	c.on(c.routers[0], func(t env.Task) {
		for _, one := range []struct {
			op      env.Message
			refused errcode.Code
		}{
			{&command.ShardCollection{NS: catalog.Sessions, Key: byID}, ""},
			{
				&command.RenameCollection{NS: catalog.Sessions, To: shard.SessionsNS},
				errcode.BadValue,
			},
			{&command.ShardCollection{NS: shard.SessionsNS, Key: byID}, errcode.BadValue},
		} {
			_, err := deployment.Ask[command.Done](t, c.behind(c.routers[0]), one.op)
			if got := errcode.Of(err); got != one.refused {
				c.Errorf("%+v: answered with %v", one.op, err)
			}
		}
	})
}
