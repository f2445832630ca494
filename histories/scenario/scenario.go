// Package scenario is a run as text: the cluster, its settings, every operation with its start
// time, the migrations, the faults and, for a replay, the answers at the choice gate. A scenario
// prints and parses back to itself; saving, replaying, shrinking and comparing all use this one
// artefact.
//
// Promise: Parse(s.String()) equals s for every valid scenario; a line that cannot be understood is
// an error that names the file, the line and what is expected.
//
// Refusal: it does not know which faults, settings or failpoints exist: Names are given by the
// caller.
package scenario

import (
	"time"

	"github.com/shardproof/shardproof/histories/opkind"
)

// Schema is the version of the text format that this build writes; it reads no other. Upgrade
// rewrites texts of schema 1.
const Schema = 2

// Scenario is one run.
type Scenario struct {
	// Name is a word for people, such as the profile it was drawn from.
	Name string
	// Seed answers every question at the choice gate that Decisions leave open.
	Seed uint64
	// Planned is true when faults of the network and disk happen only as Decisions say; otherwise
	// they are also drawn by the odds of the faults in force, and recorded.
	Planned bool
	// Target names the system under test; empty for the one that a program tests by default.
	Target string
	// Protocol is the version that the servers speak: "4.2", or "8.0", which is also what empty
	// means.
	Protocol string
	Topology Topology
	// Balancer is true when the balancer is on from the start; otherwise it is off until a command
	// switches it on.
	Balancer    bool
	Collections []Collection
	Settings    []Setting
	Ops         []Op
	Migrations  []Migration
	Commands    []Command
	Primaries   []MovePrimary
	Streams     []Stream
	Faults      []Fault
	Decisions   []Decision
	// FaultsEnd is when everything is repaired; Limit is how much virtual time the cluster then has
	// to converge.
	FaultsEnd time.Duration
	Limit     time.Duration
}

// Topology is the size of the cluster. All numbers but Spare are at least 1.
type Topology struct {
	Shards, Members, ConfigMembers, Routers, Clients int
	// Spare of the Shards, the last ones, are replica sets that are no shards at the start.
	Spare int
}

// Founders is how many shards the cluster starts with.
func (t Topology) Founders() int { return t.Shards - t.Spare }

// Collection is a collection, made before the run starts unless it is Absent. The document of key n
// is {_id: n, k: n, ...}; the shard key is k.
type Collection struct {
	NS     string
	Hashed bool
	// By is the shard key that an operation gives an unsharded collection: empty for _id, ByField
	// for k and, with Hashed, its hash.
	By string
	// Unsharded means that the collection lives on the primary shard of its database, at first
	// shard-a.
	Unsharded bool
	// Absent means that there is none until an operation makes it: until then the name is free. An
	// unsharded one is made by the first write, and its database, too, if there is none.
	Absent bool
	// Bounds are the inner chunk bounds: values of k, or for a hashed collection of the hash. Chunk
	// i starts on shard i modulo the number of Owners, which are the first shards; 0: all of them.
	Bounds []int64
	Owners int
	// Made is what an operation that makes the collection leaves to the config server: nothing when
	// it is empty, where the chunks between the bounds are (MadeDealt), or chunks and places
	// (MadePlaced).
	Made string
	// Initial is how many chunks an operation asks for that makes a hashed collection which is
	// MadePlaced; 0: as many as the config server likes.
	Initial int
	// Share is how many keys in a row have the shard key of the first, as documents {_id: n, k: n -
	// n%Share, ...}; 0 and 1: each has its own.
	Share int
	// IDs is how many different _ids the keys have between them: the document of key n is {_id: -1 -
	// n%IDs, k: n, ...}, and a shard holds one at most of those with one _id. 0: each key has its
	// own, which is n.
	IDs int
	// Keys is how many keys the workload uses: 0 to Keys-1. Preload of them exist at the start.
	Keys, Preload int
}

// The words of Collection.Made.
const (
	MadeDealt  = "dealt"
	MadePlaced = "placed"
)

// ByField is the word of Collection.By for the field k, ByHash that for its hash.
const (
	ByField = "k"
	ByHash  = "hashed"
)

// Setting sets a cluster setting (settings.Names) or one of the world's ("sim.net.latency", ...).
type Setting struct{ Name, Value string }

// Op is one operation of a client: it starts at At, or when the client's earlier ones have ended if
// that is later.
type Op struct {
	ID     int
	At     time.Duration
	Client int
	NS     string
	Kind   OpKind
	Key    int64
	To     int64  // scans: the end of the range, exclusive
	Value  string // the write's unique identity
	Expect string // CAS: the identity that must be there; empty: the document must be absent
	Batch  int    // scans: documents a batch
	// Rest is how long the client of a scan takes over a batch before it asks for the next; its
	// cursor stays open meanwhile.
	Rest time.Duration
	// Concern is the read concern; empty means linearizable for reads and majority for writes.
	Concern string
	// Prefer is which members may answer a read: empty for the primary, or Secondary.
	Prefer string
	// Into is the new name of a collection that is renamed, DropTarget drops the one that had it.
	Into       string
	DropTarget bool
	// Causal reads return nothing older than what their client has written or seen before.
	Causal bool
	// Batched writes go into one batch with the client's write before: they are statements under
	// one transaction number, and a retry sends again what precedes it. A store without sessions
	// takes them for any other.
	Batched bool
	// Together inserts are sent in one command with the insert before, if that is what their client
	// does before and of the same collection: they start with it. A store without such commands
	// takes them one by one.
	Together bool
	// W of a write to a document is on how many members it must be before it is acknowledged, no
	// fewer than a majority, which zero stands for; WTimeout is how long it waits for them, zero for
	// as long as the cluster's setting says. A store without replica sets takes it for any other.
	W        int
	WTimeout time.Duration
	// Age of a snapshot read is how far its time lies behind what its client knows; zero leaves the
	// time to the router.
	Age time.Duration
}

// Secondary is the read preference for members that are not primary.
const Secondary = "secondary"

// OpKind is what an operation does: see the table in package opkind.
type OpKind = opkind.Name

// The kinds of operations under short names.
const (
	Read        = opkind.Read
	Write       = opkind.Write
	CAS         = opkind.CAS
	Insert      = opkind.Insert
	Delete      = opkind.Delete
	DeleteOne   = opkind.DeleteOne
	Update      = opkind.Update
	Upsert      = opkind.Upsert
	Push        = opkind.Push
	Scan        = opkind.Scan
	Drop        = opkind.Drop
	Create      = opkind.Create
	Shard       = opkind.Shard
	CreateIndex = opkind.CreateIndex
	DropIndex   = opkind.DropIndex
	Rename      = opkind.Rename
	Watch       = opkind.Watch
)

// Migration asks the config server to move a range. Min and Max are values of k (or of the hash);
// Min equal to the smallest int64 is MinKey and Max equal to the largest is MaxKey.
type Migration struct {
	ID         int
	At         time.Duration
	NS         string
	Min, Max   int64
	To         int // number of the shard
	WaitDelete bool
	// Open is the end of the range that is left to the donor, which moves as much as makes a chunk:
	// "min", "max" or, with neither left to it, empty. 4.2 moves no such range. With OpenChunk the
	// chunk moves that has the key Min.
	Open string
	// ForceJumbo is what becomes of a chunk that is too big: empty refuses it, "manual" and
	// "balancer" move it.
	ForceJumbo string
	// Throttle is the write concern of each batch on the recipient: empty, a number of members, or
	// "majority".
	Throttle string
}

// OpenChunk is the word of Migration.Open for the chunk with a key.
const OpenChunk = "chunk"

// MovePrimary asks for another primary shard of a database, with which its unsharded collections
// go.
type MovePrimary struct {
	ID       int
	At       time.Duration
	Database string
	To       int // number of the shard
}

// Stream is a reader of a collection's changes: it opens a change stream at At, asks for changes
// every Poll, and goes on until everything is at rest and delivered.
type Stream struct {
	ID   int
	At   time.Duration
	NS   string
	Poll time.Duration
	// Batch bounds the changes of one answer; 0: no bound.
	Batch int
	// Resume is after how many answers the reader opens the stream again, in all cases behind a
	// change that it was delivered: the newest but Back. 0: only after a failure.
	Resume, Back int
}

// Trigger is when something happens: at a time, or when a site is passed for the Nth time by the
// node (any when empty).
type Trigger struct {
	At    time.Duration
	Site  string // a name of the point catalog; empty: use At
	Nth   int    // from 1
	After time.Duration
	Node  string // "", a node such as "shard-a.1", or a role such as "donor.primary"
}

// Fault is one planned fault.
type Fault struct {
	ID   int
	Kind string // a name of the fault catalog
	When Trigger
	// Target is a node ("shard-a.1"), a role ("shard-a.primary", "config.primary", "donor.primary",
	// "recipient.primary"), or a link ("shard-a.0>shard-b.1").
	Target string
	// For is how long it lasts, until it is repaired; zero: until FaultsEnd unless Until is set.
	For   time.Duration
	Until *Trigger
	// Args are the kind's own parameters, in the kind's order.
	Args []Setting
}

// Decision is an explicit answer at the choice gate.
type Decision struct {
	Kind       string
	Site       string
	Occurrence uint64
	Answer     int64
}
