package shard

import (
	"bytes"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// A shard keeps a copy of the routing table among its own documents, where its secondaries read it
// (protocol 2.2, 3.4 step 5). The primary updates it to what it knows when it is needed: a
// migration that has changed the placement, or a secondary that asks. Nobody waits for a majority
// to have the copy; the reader does.

// The namespaces of the copy: CacheNS has one document for each collection, and each collection its
// chunks in another.
const (
	CacheNS       = "config.cache.collections"
	cacheChunksNS = "config.cache.chunks."
)

// CacheChunks is the namespace of the chunks of a collection's copy.
func CacheChunks(ns string) string { return cacheChunksNS + ns }

// cacheDoc is a document of CacheNS.
type cacheDoc struct {
	NS string `bson:"_id"`
	// Collection is that of config.collections; it is missing before the first flush.
	Collection bson.Raw `bson:"collection,omitempty"`
	Unsharded  bool     `bson:"unsharded,omitempty"`
	// Refreshing: the chunks are being replaced in several entries, and are no table meanwhile.
	Refreshing bool `bson:"refreshing,omitempty"`
	// Last is the version of the copy.
	Last bson.Timestamp `bson:"lastRefreshedCollectionVersion"`
	// Entered counts the critical sections of donors; see SignalSecondaries.
	Entered int64 `bson:"enterCriticalSectionCounter,omitempty"`
	// Refreshed is the shard's version as its primary knows it, in 4.2: there nothing else informs
	// secondaries of a recipient that a range has arrived.
	Refreshed string `bson:"lastRefreshedShardVersion,omitempty"`
}

func (c *Collection) cacheDoc(at uint64) cacheDoc {
	doc := cacheDoc{NS: c.ns}
	if raw := c.server.cfg.Member.Store().Get(CacheNS, string(key.String(c.ns)), at); raw != nil {
		read, err := c.copied.Read(raw, func(raw bson.Raw) (of cacheDoc, err error) {
			err = bson.Unmarshal(raw, &of)
			return of, err
		})
		c.server.node.Assert(err == nil, "%s holds a copy of %s that cannot be read: %v: %v",
			c.server.node.ID(), c.ns, raw, err)
		return read
	}
	return doc
}

// covers reports whether the copy is complete and no older than the table. Where a collection is
// that is not sharded follows from its database, which may be older than a sharded one of the name
// that was dropped since: between the two, age says nothing, and what the primary knows is right.
func (d *cacheDoc) covers(table *catalog.Table) bool {
	if d.Collection == nil || d.Refreshing || d.Unsharded != table.Collection().Unsharded {
		return false
	}
	coll, err := catalog.DecodeCollection(d.Collection)
	kept := coll.Version()
	kept.Major, kept.Minor = d.Last.T, d.Last.I
	return err == nil && !supersedes(table.Version(), kept)
}

// copy reads the copy as of an index of the log: errcode.Interrupted when there is none, or only
// half of one.
func (c *Collection) copy(at uint64) (*catalog.Table, error) {
	doc := c.cacheDoc(at)
	if doc.Collection == nil || doc.Refreshing {
		return nil, errcode.New(errcode.Interrupted,
			"%s has no complete copy of the routing table of %s", c.server.node.ID(), c.ns)
	}
	coll, err := catalog.DecodeCollection(doc.Collection)
	if err != nil {
		return nil, err
	}
	if doc.Unsharded {
		coll.Unsharded, coll.Key = true, catalog.Unsharded
	}
	var chunks []catalog.Chunk
	c.server.cfg.Member.Store().Scan(cacheChunksNS+c.ns, at, func(_ string, raw bson.Raw) bool {
		var chunk catalog.Chunk
		chunk, err = catalog.DecodeChunk(coll, raw)
		chunks = append(chunks, chunk)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	return catalog.NewTable(coll, chunks)
}

// Flush writes what this primary knows of the placement to the copy, unless that is as new; one
// flush after the other. It does nothing while the placement is unknown.
func (c *Collection) Flush(t env.Task) error {
	if err := c.flushed.WaitFor(t, 0, func() bool { return !c.flushing }); err != nil {
		return err
	}
	if c.known == nil {
		return nil
	}
	c.flushing = true
	err := c.flush(t, c.known.Table)
	c.flushing = false
	c.flushed.Broadcast()
	return err
}

func (c *Collection) clearedError() error {
	return errcode.New(errcode.Interrupted, "the metadata of %s was cleared meanwhile", c.ns)
}

func (c *Collection) flush(t env.Task, table *catalog.Table) error {
	clears := c.clears
	if doc := c.cacheDoc(store.Latest); doc.covers(table) {
		return nil
	}
	for {
		ops, err := c.difference(table)
		if err != nil {
			return err
		}
		most := c.server.cfg.Settings.CacheBatch
		if most == 0 || len(ops) <= most {
			return c.writeCopy(t, table, ops, false)
		}
		if err := c.writeCopy(t, table, ops[:most], true); err != nil {
			return err
		}
		if err := t.Yield(failpoint.RequestCacheBatch); err != nil {
			return err
		}
		if c.clears != clears { // another primary may have written a newer copy
			return c.clearedError()
		}
	}
}

// difference is what makes the chunks of the copy those of the table, from any state in which an
// earlier primary left them.
func (c *Collection) difference(table *catalog.Table) (ops []oplog.Op, err error) {
	encoded, wanted := map[key.Key]encodedChunk{}, map[string]bool{}
	for chunk := range table.Chunks() {
		e, err := c.encode(table.Collection(), chunk)
		if err != nil {
			return nil, err
		}
		encoded[chunk.Min], wanted[e.id] = e, true
		op := oplog.Op{
			Kind:  oplog.Update,
			NS:    cacheChunksNS + c.ns,
			ID:    e.id,
			Doc:   e.doc,
			Actor: uint8(trace.System),
		}
		if !bytes.Equal(op.Doc, c.server.cfg.Member.Store().Get(op.NS, op.ID, store.Latest)) {
			ops = append(ops, op)
		}
	}
	c.encoded = encoded
	c.server.cfg.Member.Store().Scan(cacheChunksNS+c.ns, store.Latest,
		func(id string, _ bson.Raw) bool {
			if !wanted[id] {
				ops = append(ops, oplog.Op{
					Kind:  oplog.Delete,
					NS:    cacheChunksNS + c.ns,
					ID:    id,
					Actor: uint8(trace.System),
				})
			}
			return true
		})
	return ops, nil
}

// encodedChunk is a chunk of a collection and its document in the copy.
type encodedChunk struct {
	uuid  string
	chunk catalog.Chunk
	id    string
	doc   bson.Raw
}

// encode is a chunk's document: most chunks are what they were at the last flush, and need not be
// encoded again.
func (c *Collection) encode(coll catalog.Collection, chunk catalog.Chunk) (encodedChunk, error) {
	if e, ok := c.encoded[chunk.Min]; ok && e.uuid == coll.UUID && e.chunk.Equal(chunk) {
		return e, nil
	}
	doc, err := catalog.EncodeChunk(coll, chunk)
	return encodedChunk{
		coll.UUID, chunk, string(key.String(catalog.ChunkID(coll.UUID, chunk.Min))), doc,
	}, err
}

// writeCopy writes a part of the chunks, and what the copy is with it, as one entry.
func (c *Collection) writeCopy(t env.Task, table *catalog.Table, ops []oplog.Op, more bool) error {
	doc, v := c.cacheDoc(store.Latest), table.Version()
	doc.Unsharded, doc.Refreshing, doc.Last = table.Collection().Unsharded, more,
		bson.Timestamp{T: v.Major, I: v.Minor}
	var err error
	if doc.Collection, err = catalog.EncodeCollection(table.Collection()); err != nil {
		return err
	}
	_, err = c.server.cfg.Member.Write(t,
		append(slices.Clone(ops), documentOp(oplog.Update, CacheNS, c.ns, doc))...)
	return err
}
