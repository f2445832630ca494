package runner

import (
	"fmt"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
)

// OperatorNode is the node from which migrations are asked for.
const OperatorNode env.NodeID = "operator.0"

// startMoves asks for every migration and movePrimary at its time, each from a task of its own.
func (r *run) startMoves() {
	s := r.scenario
	if len(s.Migrations)+len(s.Primaries) == 0 {
		return
	}
	for _, m := range s.Migrations {
		r.busy[moveName(m.ID)] = true
	}
	for _, m := range s.Primaries {
		r.busy[primaryName(m.ID)] = true
	}
	r.world.AddNode(OperatorNode, func(t env.Task) {
		// What came of a move is told by the cluster's events; the answer may be lost like any other.
		client := r.cluster.NewClient(t.Node())
		for _, m := range s.Migrations {
			r.ask(t, moveName(m.ID), m.At, func(t env.Task) { _ = client.MoveRange(t, moveRange(m), r.settings.MoveWait) })
		}
		for _, m := range s.Primaries {
			to := command.MovePrimary{Database: m.Database, To: system.ShardName(m.To)}
			r.ask(t, primaryName(m.ID), m.At, func(t env.Task) { _ = client.MovePrimary(t, to, r.settings.MoveWait) })
		}
	})
}

func moveName(id int) string    { return fmt.Sprintf("move %d", id) }
func primaryName(id int) string { return fmt.Sprintf("move-primary %d", id) }

// ask does something at its time.
func (r *run) ask(t env.Task, name string, at time.Duration, do func(env.Task)) {
	t.Spawn(name, func(t env.Task) {
		defer delete(r.busy, name)
		if t.Sleep(r.base.Add(at).Sub(r.world.Now())) == nil {
			do(t)
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
		if !c.Absent {
			all = append(all, founded(c))
		}
	}
	return all
}

func founded(c scenario.Collection) system.Collection {
	coll := system.Collection{NS: c.NS}
	if !c.Unsharded {
		coll.Key = key.Pattern{Field: "k", Hashed: c.Hashed}
	}
	for n := range c.Owners {
		coll.Shards = append(coll.Shards, system.ShardName(n))
	}
	for _, b := range c.Bounds {
		coll.Bounds = append(coll.Bounds, key.Int(b))
	}
	for k := range int64(c.Preload) {
		coll.Docs = append(coll.Docs, document(k, histories.PreloadValue(k)))
	}
	return coll
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
