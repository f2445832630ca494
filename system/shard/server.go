// Package shard is the shard server: the way of a request from the network to the data and back,
// and what a shard knows of its collections meanwhile.
//
// Promise: a versioned request sees and changes only documents that the shard owns at a moment
// between its arrival and its answer, and a write that was let in under one placement is never
// committed under another (protocol 3.4, 8, 10.1). A statement of a retryable write is executed at
// most once (protocol 7).
//
// Reads that allow it are answered by secondaries, with what their primary knows of the placement;
// reads at a cluster time see the documents and the placement of that time, or fail (protocol 10.4,
// 11).
//
// Refusal: a shard never treats unknown metadata as unsharded, never writes on a member that is not
// primary, and never decides anything about a migration; the packages migration and rangedel do,
// with the objects of this one.
//
// There are no locks: between two waits a task runs alone on its node (see env). What must hold
// across a wait is an object: the critical section of a Collection, the Filter of a query, a
// checked-out Session.
package shard

import (
	"maps"
	"slices"
	"sort"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/serverstatus"
	"github.com/shardproof/shardproof/system/settings"
)

// ConfigSet is the name under which Config.Sets lists the members of the config server.
const ConfigSet = "config"

// Config is what a shard server is built from. All fields are needed.
type Config struct {
	Member   *replset.Member
	Endpoint *rpc.Endpoint
	Settings *settings.Settings
	// Sets finds every replica set of the cluster by its name: ConfigSet and the shards.
	Sets map[string]*rpc.Set
	// Profile is the version of the protocol that the cluster speaks.
	Profile protocol.Profile
}

// Server is one incarnation of a shard's member. Its memory ends with the node; what must survive
// is in the store.
type Server struct {
	cfg         Config
	name        string
	node        env.Node
	collections map[string]*Collection
	cursors     cursorRegistry
	checkouts   map[string]*sessionCheckout
	// sessionRecords are rows of SessionsNS: each is read several times by the next statement.
	sessionRecords document.Memo[bson.Raw, SessionRecord]
	// statements are those of each session that this process knows to be on record.
	statements map[string]*executedStatements
	drivers    driverSessions
	// How often the member's role or whole state has changed.
	stateEpoch int
	audits     []func(*command.AuditReply)
	statistics serverstatus.Sharding
	renames    []func(uuid, to string) []oplog.Op
	exclusions []func(ns string) error
	// An earlier primary may have moved a range of any namespace.
	undecided bool
	lookups   []func(*serverstatus.Sharding)
	// Databases whose unsharded collections refuse writes, and the move that has them do so.
	moving map[string]string
	// The order to join after which the shard is known to have been admitted, by its time; 0: none.
	admitted int64
}

// New builds the server over a member that has recovered, and starts to serve. It must be called
// before the node's other watchers of the member are added, so that these find metadata, critical
// sections and config time in order.
func New(cfg Config) *Server {
	s := &Server{
		cfg: cfg, name: cfg.Member.Name(), node: cfg.Endpoint.Node(),
		collections: make(map[string]*Collection),
		checkouts:   make(map[string]*sessionCheckout),
		statements:  make(map[string]*executedStatements),
		moving:      make(map[string]string),
	}
	s.cursors.init(s)
	s.drivers.recall(nil, 0)
	s.resume()
	cfg.Member.Watch(logWatcher{s})
	s.serve()
	return s
}

// Name is the shard's name.
func (s *Server) Name() string { return s.name }

// Node is the node the server runs on.
func (s *Server) Node() env.Node { return s.node }

// Member is the replica set member below.
func (s *Server) Member() *replset.Member { return s.cfg.Member }

// Endpoint is where other packages add their handlers.
func (s *Server) Endpoint() *rpc.Endpoint { return s.cfg.Endpoint }

// Settings are the cluster's settings; they may change while the cluster runs.
func (s *Server) Settings() *settings.Settings { return s.cfg.Settings }

// Profile is the version of the protocol that the cluster speaks.
func (s *Server) Profile() protocol.Profile { return s.cfg.Profile }

// Clock is the node's logical clock.
func (s *Server) Clock() *hlc.Clock { return s.cfg.Endpoint.Clock() }

// Set is the replica set of that name, for calls; nil for a name that Config.Sets does not have.
func (s *Server) Set(name string) *rpc.Set { return s.cfg.Sets[name] }

// Peers lists the other shards by name.
func (s *Server) Peers() []string {
	own := func(name string) bool { return name == ConfigSet || name == s.name }
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.cfg.Sets)), own)
}

// Collection returns the runtime of a namespace, which is made when missing.
func (s *Server) Collection(ns string) *Collection {
	c := s.collections[ns]
	if c == nil {
		c = newCollection(s, ns)
		s.collections[ns] = c
	}
	return c
}

// Collections lists the runtimes by namespace.
func (s *Server) Collections() []*Collection {
	all := make([]*Collection, 0, len(s.collections))
	for _, c := range s.collections {
		all = append(all, c)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].ns < all[j].ns })
	return all
}

// Statistics are the counters of this process, for the parts that do what they count.
func (s *Server) Statistics() *serverstatus.Sharding { return &s.statistics }

// AddAudit has fn contribute to every answer to command.Audit.
func (s *Server) AddAudit(fn func(*command.AuditReply)) { s.audits = append(s.audits, fn) }

// Busy says in a sentence each what the server has in progress for itself, as far as it is asked
// for by AddAudit.
func (s *Server) Busy() []string {
	var a command.AuditReply
	for _, contribute := range s.audits {
		contribute(&a)
	}
	return append(a.ActiveMigrations, a.OutstandingTasks...)
}

func (s *Server) serve() {
	e := s.cfg.Endpoint
	rpc.Handle(e, s.insert)
	rpc.Handle(e, s.update)
	rpc.Handle(e, s.remove)
	rpc.Handle(e, s.findAndModify)
	rpc.Handle(e, s.recall)
	rpc.Handle(e, s.find)
	rpc.Handle(e, s.getMore)
	rpc.Handle(e, s.killCursors)
	rpc.Handle(e, s.createUnsharded)
	rpc.Handle(e, s.dropUnsharded)
	rpc.Handle(e, s.renameUnsharded)
	rpc.Handle(e, s.indexUnsharded)
	rpc.Handle(e, s.listUnsharded)
	rpc.Handle(e, s.participate)
	rpc.Handle(e, s.describe)
	rpc.Handle(e, s.joinCluster)
	rpc.Handle(e, s.leaveCluster)
	rpc.Handle(e, s.splitChunk)
	rpc.Handle(e, s.mergeChunks)
	rpc.Handle(e, s.mergeAllChunks)
	rpc.Handle(e, s.splitVector)
	rpc.Handle(e, s.dataSize)
	rpc.Handle(e, s.collStats)
	rpc.Handle(e, s.flush)
	rpc.Handle(e, s.appendOplogNote)
	rpc.Handle(e, s.hello)
	rpc.Handle(e, s.stepDown)
	rpc.Handle(e, s.audit)
	rpc.Handle(e, s.shardingStatistics)
}
