package harness

import (
	"fmt"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
)

// operator is the node from which migrations are asked for.
const operator env.NodeID = "operator.0"

// startMoves asks for every migration at its time, each from a task of its own.
func (r *run) startMoves() {
	if len(r.scenario.Migrations) == 0 {
		return
	}
	r.busy += len(r.scenario.Migrations)
	r.world.AddNode(operator, func(t env.Task) {
		client := r.cluster.NewClient(t.Node())
		for _, m := range r.scenario.Migrations {
			t.Spawn(fmt.Sprintf("move %d", m.ID), func(t env.Task) {
				defer func() { r.busy-- }()
				if t.Sleep(r.base.Add(m.At).Sub(r.world.Now())) != nil {
					return
				}
				// What came of it is told by the cluster's events; the answer may be lost like any other.
				_ = client.MoveRange(t, moveRange(m), r.settings.MoveWait)
			})
		}
	})
}

func moveRange(m scenario.Migration) command.MoveRange {
	return command.MoveRange{
		NS: m.NS, Min: bound(m.Min), Max: bound(m.Max), To: system.ShardName(m.To), WaitDelete: m.WaitDelete,
		ForceJumbo: command.ForceJumbo(m.ForceJumbo), Throttle: throttle(m.Throttle), Name: fmt.Sprint(m.ID),
	}
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
	case smallest:
		return key.Min
	case largest:
		return key.Max
	}
	return key.Int(n)
}

// collections are the scenario's collections as the cluster founds them.
func collections(s *scenario.Scenario) []system.Collection {
	var all []system.Collection
	for _, c := range s.Collections {
		coll := system.Collection{NS: c.NS, Key: key.Pattern{Field: "k", Hashed: c.Hashed}}
		for _, b := range c.Bounds {
			coll.Bounds = append(coll.Bounds, key.Int(b))
		}
		for k := range int64(c.Preload) {
			coll.Docs = append(coll.Docs, document(k, histories.PreloadValue(k)))
		}
		all = append(all, coll)
	}
	return all
}

func hashed(s *scenario.Scenario) map[string]bool {
	of := make(map[string]bool)
	for _, c := range s.Collections {
		of[c.NS] = c.Hashed
	}
	return of
}

// numberOf is the key that clients use of a stored document.
func numberOf(doc bson.Raw) int64 {
	n, _ := doc.Lookup("k").AsInt64OK()
	return n
}
