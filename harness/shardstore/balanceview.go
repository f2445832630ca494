package shardstore

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/balance"
	"github.com/shardproof/shardproof/harness/shardstore/held"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/moveprimary"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// A balanceView is what was read of a store, and when: it is read again after a change only.
type balanceView struct {
	store      *store.Store
	changes    uint64
	chunkBytes int64
	round      *balance.Round
}

// view is what a member of the config server has on disk of all that a round of the balancer goes
// by; nil when it is down. It reads the documents, and asks no server what it makes of them. The
// collections are shared with other views and not to be changed.
func (c *cluster) view(node string) *balance.Round {
	m, own := c.Member(env.NodeID(node)), c.SettingsOf(env.NodeID(node))
	if m == nil || own == nil {
		return nil
	}
	data, chunkBytes := m.Store(), int64(own.MaxChunkBytes)
	known := c.balanceViews[node]
	if known.store != data || known.changes != data.Changes() || known.chunkBytes != chunkBytes {
		known = balanceView{data, data.Changes(), chunkBytes, c.readRound(data, chunkBytes)}
		c.balanceViews[node] = known
	}
	r := *known.round
	r.AtRandom = own.BalancerRandom != 0
	r.Shards = slices.Clone(r.Shards)
	return &r
}

// readRound reads the documents of a config server; chunkBytes is how big a chunk gets unless they
// say so.
func (c *cluster) readRound(data *store.Store, chunkBytes int64) *balance.Round {
	p := protocolOf(c.scenario)
	r := &balance.Round{BySize: p.BalancesBySize()}
	readSwitches(r, nil)
	data.Scan(configsvr.Settings, store.Latest, func(_ string, doc bson.Raw) bool {
		switch id, _ := doc.Lookup("_id").StringValueOK(); id {
		case "chunksize":
			chunkBytes, _ = doc.Lookup("value").AsInt64OK()
		case configsvr.BalancerSetting:
			readSwitches(r, doc)
		}
		return true
	})
	r.ChunkBytes = chunkBytes
	data.Scan(configsvr.Shards, store.Latest, func(_ string, doc bson.Raw) bool {
		r.Shards = append(r.Shards, readShard(doc))
		return true
	})
	slices.SortFunc(r.Shards, func(a, b balance.Shard) int { return cmp.Compare(a.Name, b.Name) })
	data.Scan(configsvr.Collections, store.Latest, func(_ string, doc bson.Raw) bool {
		if coll := readCollection(c.Tables(), data, doc, chunkBytes); coll != nil {
			if coll.NS == catalog.Sessions && len(coll.Chunks) < c.settings.SessionChunks {
				coll.Bounds = sessionBounds(c.settings.SessionChunks)
			}
			coll.Defragment = coll.Defragment && p.MergesByItself()
			r.Collections = append(r.Collections, *coll)
		}
		return true
	})
	return r
}

// readSwitches reads the balancer's document of config.settings. A field that nobody has set has
// its default: the balancer is on, and waits for no secondary.
func readSwitches(r *balance.Round, doc bson.Raw) {
	mode, set := doc.Lookup("mode").StringValueOK()
	r.On = !set || mode == string(command.BalancerFull)
	r.Window = len(doc.Lookup("activeWindow").Value) > 0
	r.Forced, _ = doc.Lookup("attemptToBalanceJumboChunks").BooleanOK()
	r.WaitForDelete, _ = doc.Lookup("_waitForDelete").BooleanOK()
	r.Throttle = throttleText(command.WriteConcern{})
	switch v := doc.Lookup("_secondaryThrottle"); v.Type {
	case bson.TypeBoolean:
		if v.Boolean() {
			r.Throttle = throttleText(command.WriteConcern{W: 2})
		}
	case bson.TypeEmbeddedDocument:
		w := v.Document().Lookup("w")
		if n, isNumber := w.AsInt64OK(); isNumber {
			r.Throttle = throttleText(command.WriteConcern{W: int(n)})
		} else {
			r.Throttle = throttleText(command.Majority)
		}
	}
}

// sessionBounds are those of n chunks with equal shares of all UUIDs.
func sessionBounds(n int) (all []string) {
	for i := 1; i < n; i++ {
		var uuid [16]byte
		binary.BigEndian.PutUint32(uuid[:], uint32(uint64(i)<<32/uint64(n)))
		at, doc, err := bson.MarshalValue(bson.Binary{Subtype: 4, Data: uuid[:]})
		if err != nil {
			panic(fmt.Sprintf("shardstore: a UUID is no value: %v", err))
		}
		k, err := key.Encode(bson.RawValue{Type: at, Value: doc})
		if err != nil {
			panic(fmt.Sprintf("shardstore: a UUID is no key: %v", err))
		}
		all = append(all, string(k))
	}
	return all
}

func readShard(doc bson.Raw) balance.Shard {
	var s balance.Shard
	s.Name, _ = doc.Lookup("_id").StringValueOK()
	s.Draining, _ = doc.Lookup("draining").BooleanOK()
	s.MaxBytes, _ = doc.Lookup("maxSize").AsInt64OK()
	if zones, ok := doc.Lookup("tags").ArrayOK(); ok {
		values, _ := zones.Values()
		for _, v := range values {
			s.Zones = append(s.Zones, v.StringValue())
		}
	}
	return s
}

// readCollection reads a sharded collection; nil when it is not one.
func readCollection(
	tables *configsvr.TableReader, data *store.Store, doc bson.Raw, chunkBytes int64,
) *balance.Collection {
	coll, err := catalog.DecodeCollection(doc)
	if err != nil || coll.Unsharded {
		return nil
	}
	table, err := tables.Read(data, coll.NS, store.Latest)
	if err != nil {
		return nil
	}
	c := &balance.Collection{
		NS: coll.NS, Off: coll.NoBalance || !coll.AllowMigrations, Defragment: coll.Defragment,
		ChunkBytes: cmp.Or(coll.ChunkBytes, chunkBytes), OwnSize: coll.ChunkBytes > 0,
	}
	for at := range table.Chunks() {
		c.Chunks = append(c.Chunks, balance.Chunk{
			Min: string(at.Min), Max: string(at.Max), Shard: at.Shard, Jumbo: at.Jumbo,
		})
	}
	data.Scan(configsvr.Tags, store.Latest, func(_ string, doc bson.Raw) bool {
		if ns, _, zone, err := catalog.DecodeAnyZone(doc); err == nil && ns == coll.NS {
			c.Zones = append(c.Zones, balance.Zone{
				Min: string(zone.Min), Max: string(zone.Max), Name: zone.Name,
			})
		}
		return true
	})
	slices.SortFunc(c.Zones, func(a, b balance.Zone) int { return cmp.Compare(a.Min, b.Min) })
	return c
}

// extent is what a member has of a collection, counted document by document.
func (c *cluster) extent(node, ns string) (x balance.Extent, hashed, known bool) {
	m := c.Member(env.NodeID(node))
	if m == nil {
		return x, false, false
	}
	m.Store().ScanKey(ns, key.Everything, store.Latest, store.Place{},
		func(k key.Key, _ string, doc bson.Raw) bool {
			x.Keys = append(x.Keys, string(k))
			x.Bytes += int64(len(doc))
			return true
		})
	for i := range c.scenario.Collections {
		hashed = hashed || c.scenario.Collections[i].NS == ns && c.scenario.Collections[i].Hashed
	}
	return x, hashed, true
}

// identity is that under which a member has the collection of a name, "" when it has none.
func (c *cluster) identity(node, ns string) string {
	m := c.Member(env.NodeID(node))
	if m == nil {
		return ""
	}
	options, _ := m.Store().Options(ns)
	uuid, _, err := store.DecodeOptions(options)
	if err != nil {
		return ""
	}
	return uuid
}

// newestTime is the cluster time of the newest entry in a member's log.
func (c *cluster) newestTime(node string) uint64 {
	m := c.Member(env.NodeID(node))
	if m == nil {
		return 0
	}
	return uint64(m.AppliedTS())
}

// undefined is what one member has of the definition of a collection and another one lacks. Nothing
// counts if the member still has the definition of a sharded collection that is unsharded now.
func (c *cluster) undefined(has, other, ns string) []string {
	one, two := c.Member(env.NodeID(has)), c.Member(env.NodeID(other))
	if one == nil || two == nil {
		return nil
	}
	table, err := c.Catalog(ns)
	options, _ := one.Store().Options(ns)
	_, pattern, wrong := store.DecodeOptions(options)
	if err != nil || wrong != nil || pattern.Unsharded != table.Collection().Unsharded {
		return nil
	}
	return held.Lacking(held.Definition(one.Store(), ns), held.Definition(two.Store(), ns))
}

// isWholeChange reports whether an entry of a member's log drops or renames a collection.
func (c *cluster) isWholeChange(node string, index uint64) bool {
	m := c.Member(env.NodeID(node))
	if m == nil {
		return false
	}
	entry, _, there := m.Entry(index)
	return there && slices.ContainsFunc(entry.Ops, func(op oplog.Op) bool {
		return op.Kind == oplog.Drop || op.Kind == oplog.Rename
	})
}

// unfinishedMove is the movePrimary of a database that a member has on record, "" for none.
func (c *cluster) unfinishedMove(node, database string) (id string) {
	m := c.Member(env.NodeID(node))
	if m == nil {
		return ""
	}
	m.Store().Scan(moveprimary.Namespace, store.Latest, func(_ string, doc bson.Raw) bool {
		if of, _ := doc.Lookup("db").StringValueOK(); of == database {
			id, _ = doc.Lookup("_id").StringValueOK()
		}
		return id == ""
	})
	return id
}
