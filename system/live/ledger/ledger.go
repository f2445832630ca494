// Package ledger puts a load on a live cluster and remembers what was acknowledged, so that a loss
// is seen: each key has one writer, who counts its value up.
//
// Promise: Check finds every acknowledged majority write that is gone and every value that nobody
// wrote. It says nothing about writes whose outcome is unknown.
//
// Refusal: no histories. What several clients may see of each other is for the simulation to check.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/live"
)

// Ledger is what the writers of one collection know. Its methods may be called from any goroutine.
type Ledger struct {
	// NS is the collection, sharded by k; Shards are those that have a part of it at first.
	NS     string
	Shards []string
	// Keys of the collection are 0 to Keys-1.
	Keys int64

	mu      sync.Mutex
	entries map[int64]entry
	took    []time.Duration
	unknown int
	err     error
}

// entry is the highest value of a key that was acknowledged, and that was tried.
type entry struct{ acked, tried int64 }

// Client is a client node with its one session. It is used by one call at a time.
type Client struct {
	Node *live.Node
	// View is the cluster as the node sees it.
	View *system.Cluster
	own  *client.Client
}

// session is called in tasks of the client's node: another session of that node would be taken for
// this one, with older statements.
func (c *Client) session(t env.Task) *client.Client {
	if c.own == nil {
		c.own = c.View.NewClient(t.Node())
	}
	return c.own
}

// shardKey is the collection's.
var shardKey = key.Pattern{Field: "k"}

// Create makes the collection, with a chunk on each shard.
func (l *Ledger) Create(ctx context.Context, c *Client) error {
	var bounds []key.Key
	for i := 1; i < len(l.Shards); i++ {
		bounds = append(bounds, key.Int(l.Keys*int64(i)/int64(len(l.Shards))))
	}
	var failed error
	err := c.Node.Run(ctx, "create", func(t env.Task) {
		answer := c.session(t).ShardCollection(t, command.ShardCollection{
			NS: l.NS, Key: shardKey, Bounds: bounds, Shards: l.Shards,
		})
		if answer.Certainty != client.OK && !errcode.Is(answer.Err, errcode.NamespaceExists) {
			failed = answer.Err
		}
	})
	return errors.Join(err, failed)
}

// Write has one client write the keys from first on, every step-th, round after round until ctx
// ends. The concern is that of every write; only majority writes are entered as acknowledged.
func (l *Ledger) Write(
	ctx context.Context, c *Client, first, step int64, concern command.WriteConcern,
) error {
	return c.Node.Run(ctx, "writer", func(t env.Task) {
		own := c.session(t)
		for k := first; t.Err() == nil; k += step {
			if k >= l.Keys {
				k = first
			}
			l.write(t, own, k, concern)
		}
	})
}

func (l *Ledger) write(t env.Task, own *client.Client, k int64, concern command.WriteConcern) {
	l.mu.Lock()
	if l.entries == nil {
		l.entries = make(map[int64]entry)
	}
	e := l.entries[k]
	e.tried++
	l.entries[k] = e
	l.mu.Unlock()
	began := time.Now()
	answer := own.Update(t, command.Update{
		NS: l.NS, Upsert: true, Concern: concern,
		Filter: document(bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}}),
		Change: document(bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: e.tried}}}}),
	})
	took := time.Since(began)
	l.mu.Lock()
	defer l.mu.Unlock()
	if answer.Certainty != client.OK {
		l.unknown++
		if l.err == nil {
			l.err = answer.Err
		}
		return
	}
	l.took = append(l.took, took)
	if concern.Majority {
		e.acked = e.tried
		l.entries[k] = e
	}
}

// Read has one client read keys, and enters how long that took, until ctx ends.
func (l *Ledger) Read(
	ctx context.Context, c *Client, first, step int64, concern command.ReadConcern,
) error {
	return c.Node.Run(ctx, "reader", func(t env.Task) {
		own := c.session(t)
		for k := first; t.Err() == nil; k += step {
			if k >= l.Keys {
				k = first
			}
			began := time.Now()
			answer := own.Find(t, l.find(k, concern))
			if answer.Certainty == client.OK {
				l.mu.Lock()
				l.took = append(l.took, time.Since(began))
				l.mu.Unlock()
			}
		}
	})
}

func (l *Ledger) find(k int64, concern command.ReadConcern) command.Find {
	return command.Find{NS: l.NS, Concern: concern,
		Filter: document(bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}})}
}

// Move asks for the move of one range after the other until ctx ends, by choices of the node. What
// becomes of them does not matter here.
func (l *Ledger) Move(ctx context.Context, c *Client, pause time.Duration) error {
	return c.Node.Run(ctx, "mover", func(t env.Task) {
		own, pick := c.session(t), func(what string, n int) int {
			return t.Node().Choose("ledger.move", what, n)
		}
		for t.Err() == nil {
			from := int64(pick("from", int(l.Keys)))
			to := min(from+1+int64(pick("length", int(l.Keys)/4+1)), l.Keys)
			_ = own.MoveRange(t, command.MoveRange{NS: l.NS, Min: key.Int(from), Max: key.Int(to),
				To: l.Shards[pick("to", len(l.Shards))]}, time.Minute)
			_ = t.Sleep(pause)
		}
	})
}

// Check reads every key that was written and returns a sentence about each that is wrong.
func (l *Ledger) Check(ctx context.Context, c *Client) (wrong []string, err error) {
	l.mu.Lock()
	keys := make([]int64, 0, len(l.entries))
	for k := range l.entries {
		keys = append(keys, k)
	}
	l.mu.Unlock()
	slices.Sort(keys)
	var failed error
	err = c.Node.Run(ctx, "check", func(t env.Task) {
		own := c.session(t)
		for _, k := range keys {
			var sentence string
			if sentence, failed = l.check(t, own, k); failed != nil {
				return
			}
			if sentence != "" {
				wrong = append(wrong, sentence)
			}
		}
	})
	return wrong, errors.Join(err, failed)
}

// check reads one key. Writers may go on: what was acknowledged before the read counts.
func (l *Ledger) check(t env.Task, own *client.Client, k int64) (string, error) {
	l.mu.Lock()
	before := l.entries[k]
	l.mu.Unlock()
	answer := own.Find(t, l.find(k, command.Linearizable))
	if answer.Certainty != client.OK {
		return "", fmt.Errorf("key %d cannot be read: %w", k, answer.Err)
	}
	l.mu.Lock()
	tried := l.entries[k].tried
	l.mu.Unlock()
	if len(answer.Docs) == 0 && before.acked == 0 {
		return "", nil
	}
	if len(answer.Docs) != 1 {
		return fmt.Sprintf("key %d has %d documents, after write %d was acknowledged",
			k, len(answer.Docs), before.acked), nil
	}
	if v, _ := answer.Docs[0].Lookup("v").AsInt64OK(); v < before.acked || v > tried {
		return fmt.Sprintf("key %d has value %d, after write %d was acknowledged and %d tried",
			k, v, before.acked, tried), nil
	}
	return "", nil
}

// Touch writes one document to a part of the collection of each shard as it was created, and tries
// until a majority has it.
func (l *Ledger) Touch(ctx context.Context, c *Client) error {
	var failed error
	err := c.Node.Run(ctx, "touch", func(t env.Task) {
		own := c.session(t)
		for i := 0; i < len(l.Shards) && failed == nil; i++ {
			failed = l.touch(t, own, l.Keys*int64(i)/int64(len(l.Shards)))
		}
	})
	return errors.Join(err, failed)
}

// touch writes a document beside that of a key, whose values are its writer's.
func (l *Ledger) touch(t env.Task, own *client.Client, k int64) error {
	op := command.Update{NS: l.NS, Upsert: true, Concern: command.Majority,
		Filter: document(bson.D{{Key: "_id", Value: -k - 1}, {Key: "k", Value: k}}),
		Change: document(bson.D{{Key: "$set", Value: bson.D{{Key: "touched", Value: true}}}}),
	}
	for {
		answer := own.Update(t, op)
		if answer.Certainty == client.OK || t.Err() != nil {
			return answer.Err
		}
	}
}

// Report is what was done since the last one.
type Report struct {
	// Done operations succeeded, Unknown ones have no known outcome.
	Done, Unknown int
	P50, P99, Max time.Duration
	// Err is why the first outcome that is not known is not.
	Err error
}

// Report says what was done since the last time.
func (l *Ledger) Report() Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := Report{Done: len(l.took), Unknown: l.unknown, Err: l.err}
	if n := len(l.took); n > 0 {
		slices.Sort(l.took)
		r.P50, r.P99, r.Max = l.took[n/2], l.took[n*99/100], l.took[n-1]
	}
	l.took, l.unknown, l.err = nil, 0, nil
	return r
}

func document(d bson.D) bson.Raw {
	b, err := bson.Marshal(d)
	if err != nil {
		panic(err) // it is of numbers and texts
	}
	return b
}
