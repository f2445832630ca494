// Package timeline is the state of a cluster at one moment, for people who walk through a run: what
// the catalog says, what every server believes and holds, and what is in progress.
//
// Promise: a Frame is a copy. What is in it was true when it was taken, and looking has changed
// nothing.
//
// Refusal: it holds no history; debugger makes a Frame for each moment that is asked for.
package timeline

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// Frame is the state of a cluster after a step.
type Frame struct {
	Step uint64
	// At is virtual time in nanoseconds.
	At int64
	// Catalog is what the config server's primary has, of every collection of the scenario.
	Catalog []Placement
	Nodes   []Node
}

// Source is a system that can be looked into. Frame looks and changes nothing; it leaves Step and
// At to who asks.
type Source interface{ Frame() *Frame }

// Placement is the routing table of a collection.
type Placement struct {
	NS     string
	Hashed bool
	// Share is how many numbers in a row have the shard key of the first.
	Share  int
	Chunks []trace.Chunk
	// Wrong says why there is no table.
	Wrong string
}

// Node is a server.
type Node struct {
	// Name is the node's, Set that of its replica set or "router".
	Name, Set string
	// Up: its process runs and has recovered.
	Up bool
	// Of members: whether the node leads and accepts writes, in which term, and how far its log
	// goes.
	Leading, Writable  bool
	Term               uint64
	Applied, Committed string
	// Knows is what it believes of each collection; of routers and members of shards.
	Knows []Belief
	// Doing is what it has in progress, Records what it has on disk of migrations and range
	// deletions.
	Doing, Records []string
	Cursors        int
}

// Belief is what a node believes and holds of a collection.
type Belief struct {
	NS string
	// Known: it has metadata of it, of this version; Owned are the ranges that it owns by these, of
	// routers all chunks.
	Known   bool
	Version string
	Owned   []trace.Chunk
	// Sections are the critical sections that it holds.
	Sections []string
	// Documents are those it has, owned or not.
	Documents []bson.Raw
}

// Owner is the shard that the placement gives a key to, empty for none.
func (p *Placement) Owner(k key.Key) string { return ownerIn(p.Chunks, k) }

func ownerIn(chunks []trace.Chunk, k key.Key) string {
	for _, c := range chunks {
		if c.Min <= string(k) && string(k) < c.Max {
			return c.Shard
		}
	}
	return ""
}

// Shard is the encoded shard key of a document by its number.
func (p *Placement) Shard(number int64) key.Key {
	pattern := key.Pattern{Field: "k", Hashed: p.Hashed}
	if p.Share > 1 {
		number -= number % int64(p.Share)
	}
	doc, err := bson.Marshal(bson.D{{Key: "k", Value: number}})
	if err != nil {
		panic("frame: a number cannot be encoded: " + err.Error())
	}
	k, err := pattern.Of(doc)
	if err != nil {
		panic("frame: a number has no shard key: " + err.Error())
	}
	return k
}

// Of is what the node believes of a collection.
func (n *Node) Of(ns string) *Belief {
	if i := slices.IndexFunc(n.Knows, func(b Belief) bool { return b.NS == ns }); i >= 0 {
		return &n.Knows[i]
	}
	return &Belief{NS: ns}
}

// Document is the document with the number, nil for none.
func (b *Belief) Document(number int64) bson.Raw {
	for _, doc := range b.Documents {
		if numberOf(doc) == number {
			return doc
		}
	}
	return nil
}

// Node finds a node by name.
func (f *Frame) Node(name string) *Node {
	if i := slices.IndexFunc(f.Nodes, func(n Node) bool { return n.Name == name }); i >= 0 {
		return &f.Nodes[i]
	}
	return nil
}
