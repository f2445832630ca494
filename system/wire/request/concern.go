package request

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/wire/reply"
)

// WriteConcern reads {w, j, wtimeout}; without w a write counts when a majority has it.
func WriteConcern(doc bson.Raw) (c command.WriteConcern, err error) {
	c = command.Majority
	limit, err := Int(doc, "wtimeout", 0)
	if err != nil {
		return c, err
	}
	c.Timeout = time.Duration(limit) * time.Millisecond
	w, err := doc.LookupErr("w")
	if err != nil {
		return c, nil
	}
	const most = 50
	if n, ok := w.AsInt64OK(); ok {
		if n < 0 || n > most {
			return c, errcode.New(reply.FailedToParse, "w must be from 0 to %d, not %d", most, n)
		}
		c.Majority, c.W = false, int(n)
		return c, nil
	}
	if text, ok := w.StringValueOK(); !ok || text != "majority" {
		return c, errcode.New(reply.UnknownReplWriteConcern, "there is no write concern %v", w)
	}
	return c, nil
}
