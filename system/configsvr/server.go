// Package configsvr is the config server: the catalog of which shard owns what, kept by a replica
// set of its own, and the commands that read and change it.
//
// Promise: chunks change under one lock, one atomic log entry for each change, and only after every
// check that protocol 3.3 asks for; an answer that states something is given when a majority holds
// that state. What a term began ends with it: no check made in one term is followed by a write in
// another. In 8.0 a commit is idempotent, and once EnsureChunkVersionIsGreaterThan has answered, no
// commit that was prepared before can succeed. In 4.2 it is neither, but a migration that was asked
// for is taken over by the next primary together with the lock of its collection. An operation on a
// whole collection, once begun, is carried out to its end, by later primaries if necessary, and at
// most once for each request of a session.
//
// Refusal: it does not know data and moves none; a migration is the donor's work, which the config
// server asks for and records.
package configsvr

import (
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
)

// Name is the name of the config server's replica set.
const Name = "config"

// Config is what a config server is built from. All fields are needed.
type Config struct {
	Member   *replset.Member
	Endpoint *rpc.Endpoint
	Settings *settings.Settings
	// Shards finds the replica set of every shard by its name.
	Shards map[string]*rpc.Set
	// Profile is the version of the protocol that the cluster speaks.
	Profile protocol.Profile
}

// Server is one incarnation of a member of the config server.
type Server struct {
	member   *replset.Member
	ep       *rpc.Endpoint
	node     env.Node
	settings *settings.Settings
	profile  protocol.Profile
	shards   map[string]*rpc.Set
	catalog  *catalogReader
	chunkOps *chunkOps         // of the current term; nil on a member that is not primary
	manager  *migrationManager // of the current term, in 4.2; nil on a member that is not primary
	changes  int               // entries of the changelog written by this incarnation
	ddl      ddlCoordinator
	// collections are the documents of that namespace.
	collections document.Memo[bson.Raw, catalog.Collection]
}

// New starts to serve over a member that has recovered.
func New(cfg Config) *Server {
	s := &Server{
		member:   cfg.Member,
		ep:       cfg.Endpoint,
		node:     cfg.Endpoint.Node(),
		settings: cfg.Settings,
		profile:  cfg.Profile,
		shards:   cfg.Shards,
	}
	s.catalog, s.ddl = newCatalogReader(s.member), newDDL(s.member)
	s.member.Watch(logWatcher{s})
	s.gossip()
	rpc.Handle(s.ep, s.getRoutingTable)
	rpc.Handle(s.ep, s.commitChunkMigration)
	if s.profile.CoordinatesMigrations() {
		rpc.Handle(s.ep, s.ensureChunkVersionIsGreaterThan)
	}
	rpc.Handle(s.ep, s.commitChunkSplit)
	rpc.Handle(s.ep, s.commitChunksMerge)
	rpc.Handle(s.ep, s.commitMergeAllChunks)
	rpc.Handle(s.ep, s.moveRange)
	rpc.Handle(s.ep, s.shardCollection)
	rpc.Handle(s.ep, s.drop)
	rpc.Handle(s.ep, s.rename)
	rpc.Handle(s.ep, s.createIndex)
	rpc.Handle(s.ep, s.dropIndex)
	rpc.Handle(s.ep, s.logChange)
	rpc.Handle(s.ep, s.getDatabase)
	rpc.Handle(s.ep, s.createDatabase)
	rpc.Handle(s.ep, s.readCatalog)
	rpc.Handle(s.ep, s.commitMovePrimary)
	if !s.profile.CoordinatesMovePrimary() {
		rpc.Handle(s.ep, s.orderMovePrimary)
	}
	return s
}

// InTerm runs fn in a task of the primary's term and waits for its end. When the term ends, so does
// fn, at its next wait: a stale primary never acts on what it read.
func (s *Server) InTerm(t env.Task, name string, fn func(env.Task) error) error {
	if err := s.member.NeedPrimary(); err != nil {
		return err
	}
	var ended bool
	var result error
	var done env.Cond
	s.node.Spawn(s.member.TermScope(), name, func(own env.Task) {
		if result = own.Err(); result == nil {
			result = fn(own)
		}
		ended = true
		done.Broadcast()
	})
	if err := done.WaitFor(t, 0, func() bool { return ended }); err != nil {
		return err
	}
	return result
}

// Majority waits until a majority holds everything that an answer rests on, which was read or
// written before: see replset.Member.AwaitMajority.
func (s *Server) Majority(t env.Task) error { return s.member.AwaitMajority(t) }

// Settled is Majority before an answer that may be a refusal. That, too, rests on what was read,
// which a later primary may never have had, or have changed already.
func (s *Server) Settled(t env.Task, refused error) error {
	if refused != nil && t.Err() != nil {
		return refused // it says that the term is over, and what that leaves open
	}
	return cmp.Or(s.Majority(t), refused)
}
