package dispatch

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

// lengthy are the commands that wait for others of the cluster, for hours if need be. Only those
// are answered when maxTimeMS is over; all others end in bounded time.
var lengthy = map[string]bool{
	"balancerStop": true, "createIndexes": true, "drop": true, "dropDatabase": true,
	"dropIndexes": true, "mergeChunks": true, "moveChunk": true, "movePrimary": true,
	"moveRange": true, "renameCollection": true, "shardCollection": true, "split": true,
}

// limited carries a command out, and waits for it no longer than the client says. What has begun
// goes on.
func limited(t env.Task, r *request.Request, do request.Handler) (bson.D, error) {
	most, err := r.Int("maxTimeMS", 0)
	switch {
	case err != nil:
		return nil, err
	case most < 0:
		return nil, errcode.New(errcode.BadValue, "maxTimeMS must not be negative, as %d is", most)
	case most == 0 || !lengthy[r.Name]:
		return do(t, r)
	}
	var doc bson.D
	var failed error
	over, done := false, env.Cond{}
	t.Spawn("wire."+r.Name, func(own env.Task) {
		doc, failed = do(own, r)
		over = true
		done.Broadcast()
	})
	err = done.WaitFor(t, time.Duration(most)*time.Millisecond, func() bool { return over })
	if errcode.Is(err, errcode.ExceededTimeLimit) {
		return nil, errcode.New(reply.MaxTimeMSExpired,
			"%s has not ended within %d ms, and goes on", r.Name, most)
	}
	if err != nil {
		return nil, err
	}
	return doc, failed
}
