package mongodb

import (
	"context"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/harness/live"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
)

// client is one application. Its session lives as long as the attack.
type client struct {
	d       *Deployment
	session *mongo.Session
	// retries: statements are sent again.
	retries bool
	number  int64 // of the newest statement
}

// Of acknowledged statements a client that retries takes so many percent for lost, waits for an
// answer up to so long, and sends them again: time for a movement to begin and to end.
const (
	lostAnswers = 4
	mostSilence = 2 * time.Second
)

// NewClient implements live.System.
func (d *Deployment) NewClient(id int) live.Client {
	s, err := d.client.StartSession(options.Session().SetCausalConsistency(false))
	if err != nil {
		panic("mongodb: a session without a transaction cannot be refused: " + err.Error())
	}
	return &client{d: d, session: s, retries: id%2 == 0}
}

// Do implements live.Client.
func (c *client) Do(ctx context.Context, op *scenario.Op, tick func() uint64) target.Answer {
	ctx = mongo.NewSessionContext(ctx, c.session)
	switch op.Kind {
	case opkind.Read:
		return c.read(ctx, op)
	case opkind.Scan:
		return c.scan(ctx, op, tick)
	}
	build, known := statements[op.Kind]
	if !known || op.Kind == opkind.CAS && op.Expect == "" {
		build = statements[opkind.Insert]
	}
	return c.write(ctx, op, build(op))
}

// statement is a write as it is sent, without what all have.
type statement struct {
	command bson.D
	// read takes the result out of the reply.
	read func(reply bson.Raw, r *histories.Result)
}

// write sends a statement until its outcome is certain or the time is up.
func (c *client) write(ctx context.Context, op *scenario.Op, s statement) target.Answer {
	c.number++
	database, _ := split(op.NS)
	command := append(s.command, bson.E{Key: "writeConcern", Value: bson.D{
		{Key: "w", Value: "majority"}, {Key: "wtimeout", Value: mostAttempt.Milliseconds()}}},
		bson.E{Key: "txnNumber", Value: c.number})
	var known attack.Statement
	var result histories.Result
	var last error
	for {
		result = histories.Result{}
		reply, err := c.attempt(ctx, database, command)
		answer, again := classify(err)
		if err == nil {
			s.read(reply, &result)
			if c.retries && known.Retries() == 0 && rand.IntN(100) < lostAnswers {
				answer, again = attack.Open, true
				pause(ctx, rand.N(mostSilence))
			}
		} else {
			last = err
		}
		known.Note(answer)
		if !again || !c.retries || ctx.Err() != nil || !wait(ctx, known.Retries()) {
			break
		}
	}
	return target.Answer{Outcome: known.Outcome(result.Applied), Result: result, Err: last,
		Retries: known.Retries()}
}

func (c *client) attempt(ctx context.Context, database string, command bson.D) (bson.Raw, error) {
	ctx, cancel := context.WithTimeout(ctx, mostAttempt)
	defer cancel()
	return c.d.client.Database(database).RunCommand(ctx, command).Raw()
}

// wait pauses before the next attempt, longer each time; false means that time is up.
func wait(ctx context.Context, retries int) bool {
	d := min(20*time.Millisecond<<min(retries, 6), time.Second)
	return pause(ctx, d/2+rand.N(d))
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (c *client) find(op *scenario.Op, filter bson.D) bson.D {
	_, collection := split(op.NS)
	concern := op.Concern
	if concern == "" {
		concern = "linearizable"
	}
	return bson.D{{Key: "find", Value: collection}, {Key: "filter", Value: filter},
		{Key: "sort", Value: bson.D{{Key: "k", Value: 1}}},
		{Key: "readConcern", Value: bson.D{{Key: "level", Value: concern}}}}
}

// read finds the document of a key.
func (c *client) read(ctx context.Context, op *scenario.Op) target.Answer {
	var known attack.Statement
	command := c.find(op, bson.D{{Key: "_id", Value: op.Key}, {Key: "k", Value: op.Key}})
	database, _ := split(op.NS)
	for {
		reply, err := c.attempt(ctx, database, command)
		answer, again := classify(err)
		known.Note(answer)
		if err == nil {
			return target.Answer{Outcome: histories.OK, Result: readResult(reply),
				Retries: known.Retries()}
		}
		if !again || !c.retries || !wait(ctx, known.Retries()) {
			return target.Answer{Outcome: known.Seen(), Err: err, Retries: known.Retries()}
		}
	}
}

// scan reads a range in batches. What it returned before it broke off was read.
func (c *client) scan(ctx context.Context, op *scenario.Op, tick func() uint64) target.Answer {
	database, _ := split(op.NS)
	command := append(c.find(op, bson.D{{Key: "k", Value: bson.D{
		{Key: "$gte", Value: op.Key}, {Key: "$lt", Value: op.To}}}}),
		bson.E{Key: "batchSize", Value: op.Batch})
	var r histories.Result
	cursor, err := c.d.client.Database(database).RunCommandCursor(ctx, command)
	if err != nil {
		return target.Answer{Outcome: histories.Failed, Err: err}
	}
	defer cursor.Close(ctx)
	cursor.SetBatchSize(int32(op.Batch))
	at := tick()
	for fresh := cursor.RemainingBatchLength() == 0; cursor.Next(ctx); fresh =
		cursor.RemainingBatchLength() == 0 {
		if fresh {
			at = tick()
		}
		one := documentResult(cursor.Current)
		number, _ := cursor.Current.Lookup("_id").AsInt64OK()
		r.Items = append(r.Items, histories.Item{Key: number, Value: one.Value, List: one.List,
			Return: at})
	}
	err = cursor.Err()
	r.Complete = err == nil
	if err != nil && len(r.Items) == 0 {
		return target.Answer{Outcome: histories.Failed, Err: err}
	}
	return target.Answer{Outcome: histories.OK, Result: r, Err: err}
}
