// Package router is the front door of a sharded cluster: it knows which shard owns what, as far as
// its cached routing tables go, and sends every operation there with the version of the table it
// was targeted by.
//
// Promise: no request leaves without a version, so a shard that disagrees refuses it and the router
// learns. A write is sent again only when the earlier attempt certainly did not execute, or when it
// is a retryable statement whose earlier attempt was answered; a write that got lost in the network
// is left to the client, who owns the session. An error that says that the table is stale is never
// hidden by another shard's error (H-49).
//
// Refusal: a router keeps nothing durable and decides nothing: it may be wrong about the placement
// at any time.
package router

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
)

// Router is one incarnation of a router.
type Router struct {
	ep       *rpc.Endpoint
	settings *settings.Settings
	profile  protocol.Profile
	config   *rpc.Set
	shards   map[string]*rpc.Set
	routes   map[string]*routingCache
	named    []string // whose routes are kept, in the order in which they were asked for
	cursors  *cursorRegistry[*mergedScan]
	streams  *cursorRegistry[*changeStream]
	// operations are for requests about whole collections that name no session.
	operations operationSessions
}

// New starts a router on the endpoint. Config and shards say where the servers are, the profile
// which protocol they speak; the settings are read at every use.
func New(
	ep *rpc.Endpoint, config *rpc.Set, shards map[string]*rpc.Set, s *settings.Settings,
	p protocol.Profile,
) *Router {
	r := &Router{
		ep:       ep,
		settings: s,
		profile:  p,
		config:   config,
		shards:   shards,
		routes:   make(map[string]*routingCache),
	}
	r.cursors, r.streams = newCursors[*mergedScan](ep.Node(), s),
		newCursors[*changeStream](ep.Node(), s)
	rpc.Handle(ep, r.insert)
	rpc.Handle(ep, r.update)
	rpc.Handle(ep, r.remove)
	rpc.Handle(ep, r.findAndModify)
	rpc.Handle(ep, r.recall)
	rpc.Handle(ep, r.find)
	rpc.Handle(ep, r.getMore)
	rpc.Handle(ep, r.killCursors)
	rpc.Handle(ep, r.watch)
	rpc.Handle(ep, r.nextChanges)
	rpc.Handle(ep, r.moveRange)
	rpc.Handle(ep, r.movePrimary)
	rpc.Handle(ep, passOn(r, func(q *command.ShardCollection) *command.Session { return &q.Session }))
	rpc.Handle(ep, passOn(r, func(q *command.DropCollection) *command.Session { return &q.Session }))
	rpc.Handle(ep, passOn(r, func(q *command.RenameCollection) *command.Session { return &q.Session }))
	rpc.Handle(ep, passOn(r, func(q *command.CreateIndex) *command.Session { return &q.Session }))
	rpc.Handle(ep, passOn(r, func(q *command.DropIndex) *command.Session { return &q.Session }))
	rpc.Handle(ep, alterUnsharded[command.CreateUnsharded](r))
	rpc.Handle(ep, alterUnsharded[command.DropUnsharded](r))
	rpc.Handle(ep, alterUnsharded[command.RenameUnsharded](r))
	rpc.Handle(ep, alterUnsharded[command.IndexUnsharded](r))
	rpc.Handle(ep, r.readCatalog)
	rpc.Handle(ep, r.collStats)
	rpc.Handle(ep, r.splitChunk)
	rpc.Handle(ep, r.mergeChunks)
	return r
}

// Table returns the routing table that the router has cached for a collection, or nil.
func (r *Router) Table(ns string) *Table {
	if known := r.routes[ns]; known != nil {
		return known.table
	}
	return nil
}

// Endpoint is the router's own, for what else its node serves.
func (r *Router) Endpoint() *rpc.Endpoint { return r.ep }

// Settings are those of the router's process.
func (r *Router) Settings() *settings.Settings { return r.settings }

// ConfigSet and ShardSets are the router's views of the replica sets.
func (r *Router) ConfigSet() *rpc.Set { return r.config }

// ShardSets is described with ConfigSet.
func (r *Router) ShardSets() map[string]*rpc.Set { return r.shards }

// mostRoutes is of how many collections a router keeps the tables (it is the same number in
// MongoDB). Clients may ask for any number of names.
const mostRoutes = 10_000

// routesOf are the routes of a collection. Those that are forgotten for it are read again when they
// are asked for; who goes by them may go on.
func (r *Router) routesOf(ns string) *routingCache {
	known := r.routes[ns]
	if known != nil {
		return known
	}
	known = &routingCache{router: r, ns: ns}
	r.routes[ns], r.named = known, append(r.named, ns)
	if len(r.named) > mostRoutes {
		delete(r.routes, r.named[0])
		r.named = r.named[1:]
	}
	return known
}

func (r *Router) shard(name string) (*rpc.Set, error) {
	if set := r.shards[name]; set != nil {
		return set, nil
	}
	return nil, errcode.New(errcode.ShardNotFound, "there is no shard %q", name)
}

func (r *Router) moveRange(
	t env.Task, _ env.NodeID, req *command.MoveRange,
) (*command.Done, error) {
	return rpc.CallPrimary[command.Done](t, r.config, req, r.settings.MoveWait)
}

// movePrimary asks the shard that is the primary according to the catalog, not to what is cached
// here; in 4.2 it leaves that to the config server.
func (r *Router) movePrimary(
	t env.Task, _ env.NodeID, req *command.MovePrimary,
) (*command.Done, error) {
	if !r.profile.CoordinatesMovePrimary() {
		return rpc.CallPrimary[command.Done](t, r.config, req, r.settings.MoveWait)
	}
	ask := &command.GetDatabase{Name: req.Database, After: r.ep.Clock().Now().Config}
	now, err := rpc.CallSure[command.DatabaseReply](t, r.config, ask, r.settings.CommandTimeout)
	if err != nil {
		return nil, err
	}
	primary, err := r.shard(now.Database.Primary)
	if err != nil {
		return nil, err
	}
	return rpc.CallPrimary[command.Done](t, primary,
		&command.ShardsvrMovePrimary{Database: req.Database, To: req.To}, r.settings.MoveWait)
}
