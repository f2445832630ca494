// Package mongodb reaches what speaks MongoDB's wire protocol through the official driver: the
// store's own routers, or any sharded deployment.
//
// The driver repeats nothing by itself. Every write is a numbered statement of its client's
// session, as those of retryable writes are; every second client sends a statement again when an
// attempt has left its outcome open, and now and then also when it has not, as a driver does whose
// answer got lost. How often is in the history.
//
// Promise: a write is acknowledged only when a majority has it; an error is a certain refusal only
// if its code says so of every server, and leaves the outcome open otherwise.
//
// Refusal: no deployment without shards; no clean-up of what was there before but of the one
// collection that the attack uses.
package mongodb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/harness/live"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Deployment is a live.System behind a connection string.
type Deployment struct {
	client *mongo.Client
	// shards are the names by the number in a schedule.
	shards []string
}

var _ live.System = (*Deployment)(nil)

const (
	mostSelection = 3 * time.Second
	mostAttempt   = 5 * time.Second
	// mostLearning is how long a cluster that has just started may take to know its shards.
	mostLearning = 20 * time.Second
)

// Connect opens a deployment, which must have at least so many shards.
func Connect(ctx context.Context, uri string, shards int) (*Deployment, error) {
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetRetryWrites(false).
		SetRetryReads(false).SetServerSelectionTimeout(mostSelection).
		SetConnectTimeout(2 * time.Second).SetHeartbeatInterval(time.Second).
		SetAppName("shardproof attack"))
	if err != nil {
		return nil, fmt.Errorf("the connection string cannot be used: %w", err)
	}
	d := &Deployment{client: client}
	soon, cancel := context.WithTimeout(ctx, mostLearning)
	defer cancel()
	if err := d.insist(soon, func() error { return d.learn(soon, shards) }); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// learn asks for the shards.
func (d *Deployment) learn(ctx context.Context, want int) error {
	var reply struct {
		Shards []struct {
			ID string `bson:"_id"`
		}
	}
	err := d.client.Database("admin").RunCommand(ctx, bson.D{{Key: "listShards", Value: 1}}).
		Decode(&reply)
	if err != nil {
		return fmt.Errorf("the deployment does not list its shards (it must be a router of a "+
			"sharded cluster): %w", err)
	}
	if len(reply.Shards) < want {
		return fmt.Errorf("the deployment has %d shards, and the schedule is for %d; give --shards",
			len(reply.Shards), want)
	}
	d.shards = nil
	for _, s := range reply.Shards {
		d.shards = append(d.shards, s.ID)
	}
	return nil
}

// Close ends the connections.
func (d *Deployment) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return d.client.Disconnect(ctx)
}

// admin runs a command of operators.
func (d *Deployment) admin(ctx context.Context, name string, value any, more ...bson.E) error {
	command := append(bson.D{{Key: name, Value: value}}, more...)
	return d.client.Database("admin").RunCommand(ctx, command).Err()
}

// Create implements live.System.
func (d *Deployment) Create(ctx context.Context, c scenario.Collection) error {
	database, name := split(c.NS)
	coll := d.client.Database(database).Collection(name)
	if err := coll.Drop(ctx); err != nil {
		return fmt.Errorf("drop of what was there: %w", err)
	}
	if err := d.insist(ctx, func() error {
		return d.admin(ctx, "shardCollection", c.NS,
			bson.E{Key: "key", Value: bson.D{{Key: "k", Value: 1}}})
	}); err != nil {
		return fmt.Errorf("shardCollection: %w", err)
	}
	if err := d.cut(ctx, c); err != nil {
		return err
	}
	var documents []any
	for k := range int64(c.Preload) {
		documents = append(documents, document(k, histories.PreloadValue(k)))
	}
	if len(documents) == 0 {
		return nil
	}
	_, err := coll.InsertMany(ctx, documents)
	return err
}

// cut gives the collection its chunks, and then each to its shard: one that has left a shard could
// not come back before its orphans are deleted.
func (d *Deployment) cut(ctx context.Context, c scenario.Collection) error {
	for _, bound := range c.Bounds {
		if err := d.insist(ctx, func() error {
			err := d.admin(ctx, "split", c.NS, bson.E{Key: "middle", Value: key(bound)})
			if err != nil && strings.Contains(err.Error(), "is a boundary key of existing chunk") {
				return nil // an attempt that seemed to fail has done it
			}
			return err
		}); err != nil {
			return fmt.Errorf("split at %d: %w", bound, err)
		}
	}
	for i, bound := range c.Bounds {
		to := d.shards[(i+1)%len(d.shards)]
		if err := d.insist(ctx, func() error {
			return d.admin(ctx, "moveChunk", c.NS, bson.E{Key: "find", Value: key(bound)},
				bson.E{Key: "to", Value: to})
		}); err != nil {
			return fmt.Errorf("move of the chunk at %d to %s: %w", bound, to, err)
		}
	}
	return nil
}

// insist tries until it succeeds or ctx ends: a cluster that has just started refuses for a while.
func (d *Deployment) insist(ctx context.Context, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Move implements live.System. Every second movement is of the whole chunk that holds the lower end
// of the range, by moveChunk: chunks may have been split or merged since the schedule was drawn,
// and a range that lies in two of them is refused.
func (d *Deployment) Move(ctx context.Context, m scenario.Migration) error {
	if m.ID%2 == 0 {
		return d.admin(ctx, "moveChunk", m.NS, bson.E{Key: "find", Value: key(m.Min)},
			bson.E{Key: "to", Value: d.shards[m.To%len(d.shards)]},
			bson.E{Key: "_waitForDelete", Value: m.WaitDelete})
	}
	more := []bson.E{{Key: "toShard", Value: d.shards[m.To%len(d.shards)]},
		{Key: "min", Value: key(m.Min)}, {Key: "max", Value: key(m.Max)}}
	if m.WaitDelete {
		more = append(more, bson.E{Key: "_waitForDelete", Value: true})
	}
	return d.admin(ctx, "moveRange", m.NS, more...)
}

// Command implements live.System.
func (d *Deployment) Command(ctx context.Context, c scenario.Command) error {
	switch c.Do {
	case commandkind.SplitChunk:
		return d.admin(ctx, "split", c.Name, bson.E{Key: "middle", Value: key(c.Min)})
	case commandkind.MergeChunks:
		return d.admin(ctx, "mergeChunks", c.Name,
			bson.E{Key: "bounds", Value: bson.A{key(c.Min), key(c.Max)}})
	case commandkind.BalancerStart:
		return d.admin(ctx, "balancerStart", 1)
	case commandkind.BalancerStop:
		return d.admin(ctx, "balancerStop", 1)
	}
	return fmt.Errorf("there is no command of MongoDB's for %s", c.Do)
}

// StepDown implements live.System. The command is for routers of the store itself, which hand it on
// by the name of the set.
func (d *Deployment) StepDown(ctx context.Context, set string) error {
	return d.admin(ctx, "replSetStepDown", 60, bson.E{Key: "shard", Value: set})
}

// key is a value of the shard key, or one of its ends.
func key(k int64) bson.D {
	switch k {
	case scenario.MinKey:
		return bson.D{{Key: "k", Value: bson.MinKey{}}}
	case scenario.MaxKey:
		return bson.D{{Key: "k", Value: bson.MaxKey{}}}
	}
	return bson.D{{Key: "k", Value: k}}
}

func split(ns string) (database, collection string) {
	database, collection, _ = strings.Cut(ns, ".")
	return database, collection
}

// document is that of a key.
func document(k int64, value string) bson.D {
	return bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}, {Key: "v", Value: value}}
}

// classify says how an attempt ended that returned an error.
func classify(err error) (a attack.Answer, again bool) {
	var server mongo.ServerError
	switch {
	case err == nil:
		return attack.Done, false
	case isSelection(err):
		return attack.Unsent, true
	case errors.As(err, &server) && !mongo.IsNetworkError(err):
		return classifyServer(server)
	}
	return attack.Lost, true
}
