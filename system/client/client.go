// Package client is an application with its driver: it sends operations to routers, retries them as
// a driver does, and says of each what an application can honestly know.
//
// # What is known of a write
//
// Every write is a retryable statement of the client's one session, so that attempts do not add up.
// Still, not every answer decides whether the write happened, and a harness that believes more than
// a driver may would raise false alarms:
//
//   - A result that changed something is the recorded result of the statement: the write happened
//     (OK).
//   - A refusal (a duplicate key, a bad value, a table that stayed stale) is certain (Failed) when
//     every earlier attempt is known not to have executed. After an attempt that was answered by a
//     primary that stepped down, the refusal may come from a node that has not learned of the first
//     execution: Unknown.
//   - A result that changed nothing leaves no record, be it that no document was found or that it
//     was so already. It is certain (OK, without effect) unless an earlier attempt was lost in the
//     network and may yet arrive and find another state: then Unknown.
//   - Everything else (no answer, write concern not satisfied, an error that does not say whether
//     it came before or after the execution) is Unknown when the retries are used up.
//
// Reads change nothing: they are OK or Failed.
//
// # Causal sessions
//
// The session remembers the newest operation time of its answers. A read that is sent with it
// (command.Find.After) returns nothing older than what the session has written or seen, from
// every member; of majority reads and writes that makes a causally consistent session.
//
// Promise: OK and Failed are certain, by the rules above; whatever is not certain is Unknown.
//
// Refusal: the package knows no shards, no versions and no primaries; and one client runs one
// operation at a time.
package client

import (
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
)

// ChooseRouter is the kind of choice by which a client picks the router of an attempt.
const ChooseRouter env.Choice = "client.router"

// Client is one application thread with one session.
type Client struct {
	ep       *rpc.Endpoint
	routers  []env.NodeID
	settings *settings.Settings
	session  string
	txn      int64
	// operated is the newest operation time that an answer to the session carried.
	operated hlc.Timestamp
	// newest is the newest retryable write, as it was sent.
	newest env.Message
	// batch is the newest batch, joins whether the next write goes into it too.
	batch batch
	joins bool
}

// New returns a client with a new session. The settings are read at every use.
func New(ep *rpc.Endpoint, routers []env.NodeID, s *settings.Settings) *Client {
	node := ep.Node()
	return &Client{
		ep:       ep,
		routers:  routers,
		settings: s,
		session:  fmt.Sprintf("%s/%d", node.ID(), node.Incarnation()),
	}
}

// Session is the session's identity, the same in every event that speaks of it.
func (c *Client) Session() string { return c.session }

// Insert adds one document. More are refused, since one outcome for them all could not say which of
// them were inserted; InsertMany takes them.
func (c *Client) Insert(t env.Task, op command.Insert) Answer {
	if len(op.Docs) != 1 {
		return Answer{
			Certainty: Failed,
			Err: errcode.New(errcode.BadValue,
				"an insert of %d documents is not one operation", len(op.Docs)),
		}
	}
	op.Session = c.retryable()
	return c.document(t, &op, op.Session)
}

// Update changes at most one document.
func (c *Client) Update(t env.Task, op command.Update) Answer {
	op.Session = c.retryable()
	return c.document(t, &op, op.Session)
}

// Delete removes at most one document.
func (c *Client) Delete(t env.Task, op command.Delete) Answer {
	op.Session = c.retryable()
	return c.document(t, &op, op.Session)
}

// FindAndModify changes or removes at most one document; the answer holds what it replaced.
func (c *Client) FindAndModify(t env.Task, op command.FindAndModify) Answer {
	op.Session = c.retryable()
	return c.document(t, &op, op.Session)
}

// statement begins a new retryable write. The session and statement are fixed before the first
// attempt.
func (c *Client) statement() command.Session {
	c.txn++
	c.batch = batch{}
	return command.Session{ID: c.session, Txn: c.txn}
}

// sendsOnce says whether writes are no statements of the session, and so are not sent again.
func (c *Client) sendsOnce() bool { return c.settings.RetryWrites == 0 }

// retryable is the statement of a write to one document; none when such writes are sent once.
func (c *Client) retryable() command.Session {
	if c.sendsOnce() {
		return command.Session{}
	}
	return c.batched()
}

// Find returns all documents that match, in one batch if op.BatchSize is zero.
func (c *Client) Find(t env.Task, op command.Find) Answer {
	var docs []bson.Raw
	answer := c.Scan(t, op, 0, func(batch []bson.Raw) { docs = append(docs, batch...) })
	answer.Docs = docs
	return answer
}

// Scan hands every batch to each as it arrives, and rests before it asks for the next; zero is not
// at all. Only the opening is retried: a batch that got lost
// cannot be asked for again, so a scan that fails half way stays Failed, though each has seen its
// beginning.
func (c *Client) Scan(
	t env.Task, op command.Find, rest time.Duration, each func(batch []bson.Raw),
) Answer {
	router, batch, answer := c.open(t, &op)
	if answer.Err != nil {
		return answer
	}
	answer.Since = batch.Since
	for {
		each(batch.Docs)
		answer.Time = c.hear(batch.Time)
		if batch.Cursor == "" {
			answer.Certainty = OK
			return answer
		}
		if rest > 0 {
			if answer.Err = t.Sleep(rest); answer.Err != nil {
				return answer
			}
		}
		next := &command.GetMore{Cursor: batch.Cursor, BatchSize: op.BatchSize}
		more, err := rpc.Call[command.Batch](t, c.ep, router, next, c.settings.AttemptTimeout)
		if err != nil {
			answer.Err = err
			return answer
		}
		batch = more
	}
}

// open sends the find until a router has opened the cursor; later batches come from that router.
func (c *Client) open(t env.Task, op *command.Find) (env.NodeID, *command.Batch, Answer) {
	retries, after := c.newRetries(), c.Time()
	for {
		router := retries.router()
		batch, err := rpc.Call[command.Batch](t, c.ep, router, op, retries.timeout())
		if err == nil {
			return router, batch, Answer{Certainty: Failed, Retries: retries.done, After: after}
		}
		if !isRetryableRead(err) || !retries.again(t, err) {
			return "", nil, Answer{Certainty: Failed, Err: err, Retries: retries.done}
		}
	}
}

// MoveRange asks for a migration and waits at most limit for its end. It is sent once: when the
// answer gets lost, the migration may run on.
func (c *Client) MoveRange(t env.Task, op command.MoveRange, limit time.Duration) error {
	_, err := rpc.Call[command.Done](t, c.ep, c.newRetries().router(), &op, limit)
	return err
}

// MovePrimary asks for a move of a database's primary and waits at most limit for its end. It is
// sent once, as MoveRange.
func (c *Client) MovePrimary(t env.Task, op command.MovePrimary, limit time.Duration) error {
	_, err := rpc.Call[command.Done](t, c.ep, c.newRetries().router(), &op, limit)
	return err
}

// Repeat sends the newest retryable write once more, as a driver does that has lost the answer.
// There is none without a write before.
func (c *Client) Repeat(t env.Task) Answer {
	if c.newest == nil {
		return Answer{Certainty: Failed,
			Err: errcode.New(errcode.BadValue, "session %s has written nothing", c.session)}
	}
	return c.write(t, c.newest)
}

// document sends a write to one document: once if it is no statement of a session, as nobody could
// tell whether it was executed before.
func (c *Client) document(t env.Task, op env.Message, statement command.Session) Answer {
	if statement.ID == "" {
		return c.send(t, op, false)
	}
	return c.write(t, op)
}

func (c *Client) write(t env.Task, op env.Message) Answer {
	c.newest = op
	if c.batch.suspect() {
		c.repeatBatch(t, c.newRetries())
	}
	answer := c.send(t, op, true)
	if answer.Certainty == OK && answer.Written.Refused == "" &&
		leavesRecord(op, &answer.Written) {
		c.batch.recorded = append(c.batch.recorded, op)
	}
	return answer
}

func (c *Client) send(t env.Task, op env.Message, again bool) Answer {
	retries, after := c.newRetries(), c.Time()
	var doubt uncertainty
	for {
		written, err := rpc.Call[command.Written](t, c.ep, retries.router(), op, retries.timeout())
		if err == nil {
			answer := doubt.result(op, written, retries.done)
			answer.After, answer.Time = after, c.hear(written.Time)
			return answer
		}
		doubt.note(err)
		if !again || !isRetryableWrite(err) || !retries.again(t, err) {
			answer := doubt.failure(err, retries.done)
			answer.After = after
			return answer
		}
		if again {
			c.repeatBatch(t, retries)
		}
	}
}

// Operated is the newest operation time that an answer to the session carried: the afterClusterTime
// of a causal read.
func (c *Client) Operated() hlc.Timestamp { return c.operated }

// Time is the newest cluster time that the client has learned of.
func (c *Client) Time() hlc.Timestamp { return c.ep.Clock().Now().Cluster }

func (c *Client) hear(t hlc.Timestamp) hlc.Timestamp {
	c.operated = max(c.operated, t)
	return t
}
