// Package dispatch routes a client's message to the command that answers it.
//
// Promise: every message gets one answer, even an unknown command; every answer carries the cluster
// time. Everything that commands keep (cursors, the fail point) is touched by tasks of the router's
// node only.
//
// Refusal: it knows no connections.
package dispatch

import (
	"maps"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/wire/collections"
	"github.com/shardproof/shardproof/system/wire/crud"
	"github.com/shardproof/shardproof/system/wire/cursor"
	"github.com/shardproof/shardproof/system/wire/deployment"
	"github.com/shardproof/shardproof/system/wire/failcommand"
	"github.com/shardproof/shardproof/system/wire/handshake"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
	"github.com/shardproof/shardproof/system/wire/sharding"
)

// Dispatcher has all commands of one router.
type Dispatcher struct {
	d        *deployment.Deployment
	commands map[string]request.Handler
	failures failcommand.Point
}

// New is the dispatcher of a deployment; authenticates says that clients must authenticate.
func New(d *deployment.Deployment, authenticates bool) *Dispatcher {
	p := &Dispatcher{d: d, commands: make(map[string]request.Handler)}
	idle := func() time.Duration { return d.Settings.CursorTimeout }
	cursors := cursor.NewRegistry(d.Endpoint.Node(), idle)
	for _, all := range []map[string]request.Handler{
		handshake.New(d, authenticates).Commands(), collections.Commands(d),
		crud.New(d, cursors).Commands(), sharding.Commands(d), p.failures.Commands(),
	} {
		maps.Copy(p.commands, all)
	}
	return p
}

// Meet is what the fail point does with a request.
func (p *Dispatcher) Meet(r *request.Request) failcommand.Fate { return p.failures.Meet(r) }

// Answer executes a request.
func (p *Dispatcher) Answer(t env.Task, r *request.Request, fate failcommand.Fate) bson.D {
	p.hear(r)
	doc, err := p.execute(t, r, fate)
	if err != nil {
		if r.Session.Numbered {
			err = reply.LabelWrite(err)
		}
		doc = reply.FailureOf(err).Document()
	} else {
		doc = fate.Amend(doc)
	}
	return p.timed(doc)
}

// hear advances the cluster time to the one that a client has from other routers.
func (p *Dispatcher) hear(r *request.Request) {
	gossip, err := r.Document("$clusterTime")
	if err != nil || gossip == nil {
		return
	}
	seconds, count, ok := gossip.Lookup("clusterTime").TimestampOK()
	at := catalog.Timestamp(bson.Timestamp{T: seconds, I: count})
	if ok && at <= p.d.FarAhead() {
		p.d.Endpoint.Clock().Advance(hlc.Vector{Cluster: at})
	}
}

func (p *Dispatcher) execute(
	t env.Task, r *request.Request, fate failcommand.Fate,
) (bson.D, error) {
	if fate.Failure != nil {
		return nil, fate.Failure
	}
	do := p.commands[r.Name]
	if do == nil {
		return nil, errcode.New(errcode.CommandNotFound, "no such command: '%s'", r.Name)
	}
	if r.Session.InTransaction {
		return nil, &reply.Failure{
			Number:  reply.Number(reply.CommandNotSupported),
			Message: "transactions of several statements are not supported",
		}
	}
	if err := supportsConcern(r); err != nil {
		return nil, err
	}
	if err := request.BinaryOrder(r.Body); err != nil {
		return nil, err
	}
	return limited(t, r, do)
}

// supportsConcern refuses snapshot reads by commands that read no collection.
func supportsConcern(r *request.Request) error {
	concern, err := r.Document("readConcern")
	if err != nil {
		return err
	}
	level, err := request.Text(concern, "level", "")
	if err != nil || level != string(command.Snapshot) {
		return err
	}
	switch r.Name {
	case "find", "aggregate", "distinct":
		return nil
	}
	return errcode.New(reply.InvalidOptions,
		"read concern snapshot is not supported by command %s", r.Name)
}

// timed adds what the router knows of the cluster time: a router that has sent no request yet knows
// none, and drivers reject a time of zero.
func (p *Dispatcher) timed(doc bson.D) bson.D {
	known := p.d.Endpoint.Clock().Now().Cluster
	if known == 0 {
		return doc
	}
	now := catalog.TimestampBSON(known)
	return append(doc,
		bson.E{Key: "$clusterTime", Value: bson.D{
			{Key: "clusterTime", Value: now},
			{Key: "signature", Value: bson.D{
				{Key: "hash", Value: bson.Binary{Data: make([]byte, 20)}},
				{Key: "keyId", Value: int64(0)},
			}},
		}},
		bson.E{Key: "operationTime", Value: now})
}
