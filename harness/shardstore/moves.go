package shardstore

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/harness/shardstore/held"
	"github.com/shardproof/shardproof/harness/shardstore/logs"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/changestream"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/replset"
)

// NewMovements makes the node a client that asks for migrations.
func (c *cluster) NewMovements(node env.Node) target.Movements {
	return movements{c.Cluster.NewClient(node), c.settings.MoveWait, c.oracle}
}

// movements has the cluster move data: it goes through the steps by itself.
type movements struct {
	client *client.Client
	wait   time.Duration
	oracle *oracle.Oracle
}

func (m movements) MoveRange(what scenario.Migration) []target.Step {
	req := moveRange(what)
	return oneStep(func(t env.Task) error {
		m.oracle.MovesRange(wishOf(&req))
		answered := m.oracle.Asked(factOf(&req))
		deleted := func(bool) {}
		if req.WaitDelete {
			deleted = m.oracle.AwaitsDeletion(req.Name, req.NS, string(cmp.Or(req.Min, key.Min)),
				string(cmp.Or(req.Max, key.Max)), req.To)
		}
		err := m.client.MoveRange(t, req, m.wait)
		answered(err == nil)
		deleted(err == nil)
		return err
	})
}

func (m movements) MovePrimary(what scenario.MovePrimary) []target.Step {
	to := command.MovePrimary{Database: what.Database, To: system.ShardName(what.To)}
	return oneStep(func(t env.Task) error {
		answered := m.oracle.Asked(factOf(&to))
		err := m.client.MovePrimary(t, to, m.wait)
		answered(err == nil)
		return err
	})
}

func oneStep(do func(env.Task) error) []target.Step { return []target.Step{do} }

func moveRange(m scenario.Migration) command.MoveRange {
	req := command.MoveRange{
		NS:         m.NS,
		Min:        bound(m.Min),
		Max:        bound(m.Max),
		To:         system.ShardName(m.To),
		WaitDelete: m.WaitDelete,
		ForceJumbo: command.ForceJumbo(m.ForceJumbo),
		Throttle:   throttle(m.Throttle),
		Name:       fmt.Sprint(m.ID),
	}
	switch m.Open {
	case "min":
		req.Min = ""
	case "max":
		req.Max = ""
	case scenario.OpenChunk:
		req.Find, req.Min, req.Max = req.Min, "", ""
	}
	return req
}

// throttle is the write concern that a scenario writes as a word.
func throttle(word string) (wc command.WriteConcern) {
	wc.Majority = word == "majority"
	wc.W, _ = strconv.Atoi(word)
	return wc
}

// bound is a chunk bound: the key itself, or for hashed collections its hash.
func bound(n int64) key.Key {
	switch n {
	case scenario.MinKey:
		return key.Min
	case scenario.MaxKey:
		return key.Max
	}
	return key.Int(n)
}

// collections are the scenario's collections as the cluster founds them.
func collections(s *scenario.Scenario) []system.Collection {
	var all []system.Collection
	for _, c := range s.Collections {
		if !c.Absent {
			all = append(all, founded(c))
		}
	}
	return all
}

// shardKeyField is that of every collection which is, or is to be, sharded.
const shardKeyField = "k"

// shardKey is the pattern of a collection, zero of one that is not sharded.
func shardKey(c scenario.Collection) key.Pattern {
	if c.Unsharded {
		return key.Pattern{}
	}
	return key.Pattern{Field: shardKeyField, Hashed: c.Hashed}
}

// shardedBy is the pattern that an operation gives a collection which is not sharded.
func shardedBy(c scenario.Collection) key.Pattern {
	if c.By == "" {
		return byID
	}
	return key.Pattern{Field: shardKeyField, Hashed: c.Hashed}
}

// lastingKeys are the shard keys that collections have whenever they are sharded. Names that a
// rename takes from a collection or gives to one are left out.
func lastingKeys(s *scenario.Scenario) map[string]key.Pattern {
	keys := map[string]key.Pattern{}
	for _, c := range s.Collections {
		if keys[c.NS] = shardKey(c); c.Unsharded {
			keys[c.NS] = shardedBy(c)
		}
	}
	for i := range s.Ops {
		if o := &s.Ops[i]; o.Kind == scenario.Rename {
			delete(keys, o.NS)
			delete(keys, o.Into)
		}
	}
	return keys
}

// unsharded reports whether the collection is not sharded: an operation may have changed that.
func (o operatorConnection) unsharded(c *scenario.Collection) bool {
	if !c.Unsharded {
		return false
	}
	table, err := o.Catalog(c.NS)
	return err != nil || table.Collection().Unsharded
}

func founded(c scenario.Collection) system.Collection {
	coll := system.Collection{NS: c.NS, Key: shardKey(c), Options: chosenFor(c.NS)}
	for n := range c.Owners {
		coll.Shards = append(coll.Shards, system.ShardName(n))
	}
	for _, b := range c.Bounds {
		coll.Bounds = append(coll.Bounds, key.Int(b))
	}
	for k := range int64(c.Preload) {
		coll.Docs = append(coll.Docs, documentOf(nameOfKey(c, k), histories.PreloadValue(k)))
	}
	return coll
}

func byName(s *scenario.Scenario) map[string]scenario.Collection {
	of := make(map[string]scenario.Collection)
	for _, c := range s.Collections {
		of[c.NS] = c
	}
	return of
}

// numberOf is the key that clients use of a stored document.
func numberOf(doc bson.Raw) int64 {
	return scenario.KeyOf(integer(doc, "_id"), integer(doc, shardKeyField))
}

// integer is the value of a field; 0 if it has none.
func integer(doc bson.Raw, field string) int64 {
	v, _ := document.Field(doc, field)
	n, _ := v.AsInt64OK()
	return n
}

// showRecordsOf42 has the oracle see what 4.2 has on record of migrations, and remembers of them.
func (c *cluster) showRecordsOf42() {
	c.oracle.CommitsOnRecord(c.commitsOnRecord)
	c.oracle.ReceivedRanges(c.receives)
	c.oracle.MigrationsOnRecord(func(node string) []string {
		m := c.Member(env.NodeID(node))
		if m == nil {
			return nil
		}
		return logs.Migrations(m.Store())
	})
}

// lacksForSuccessor says what a server should have on record when it sends a request, so that its
// successor goes on from there, and no majority of its set has.
func (c *cluster) lacksForSuccessor(m *replset.Member, asked env.Message) string {
	h := &held.Log{Store: m.Store(), Committed: m.Committed().Index}
	switch req := asked.(type) {
	case *command.CommitChunkMigration:
		return cmp.Or(unannounced(m, req),
			h.LacksForCommit(req.Migration, protocolOf(c.scenario).CoordinatesMigrations()))
	case *command.CommitMovePrimary:
		if !protocolOf(c.scenario).CoordinatesMovePrimary() {
			return h.LacksForCommit(req.Move, false)
		}
	case *command.RangeTaskOp:
		if !c.oracle.CollectionGone(req.Migration) {
			return h.LacksForTaskOp(req)
		}
	case *command.ShardsvrMoveRange:
		return c.lacksLock(h, m, req.NS, true)
	case *command.ShardsvrParticipate:
		return c.lacksLock(h, m, req.Collection.NS, false)
	}
	return ""
}

// unannounced says why change streams may never hear of a shard that gets its first chunk: the
// entry that announces it must be majority-committed before the migration is (protocol 12).
func unannounced(m *replset.Member, commit *command.CommitChunkMigration) string {
	for i := m.Committed().Index + 1; i <= m.Applied().Index; i++ {
		e, _, ok := m.Entry(i)
		if ok && slices.ContainsFunc(e.Ops, func(op oplog.Op) bool {
			to, told := changestream.Announced(&op)
			return told && op.NS == commit.NS && to == commit.To
		}) {
			return fmt.Sprintf("entry %d, which announces %s to change streams, may be undone", i,
				commit.To)
		}
	}
	return ""
}

// lacksLock says what a primary of the config server of 4.2 lacks that asks a shard for something
// which needs the lock of a collection; empty for nothing.
func (c *cluster) lacksLock(h *held.Log, m *replset.Member, ns string, migrates bool) string {
	if !protocolOf(c.scenario).LocksCollections() {
		return ""
	}
	return h.LacksLock(ns, m.Term(), migrates)
}
