package shardstore

import (
	"fmt"
	"strconv"

	"github.com/shardproof/shardproof/checkers/facts"
	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/rpc"
)

// Shards are removed and added until it is done, those of one shard in turn.
var (
	_ = obeys(commandkind.RemoveShard, inTurn(
		func(o operatorConnection, t env.Task, c *scenario.Command) { o.removeShard(t, c.Name) }))
	_ = obeys(commandkind.AddShard, inTurn(operatorConnection.addShard))
	_ = obeys(commandkind.ShardLimit, toConfig(func(c *scenario.Command) (env.Message, error) {
		bytes, err := strconv.ParseInt(c.Value, 10, 64)
		return &command.LimitShard{Name: c.Name, MaxBytes: bytes}, err
	}))
)

func inTurn(do func(o operatorConnection, t env.Task, c *scenario.Command)) adminCommand {
	return adminCommand{
		balances: true,
		check: func(c *scenario.Command) error {
			_, err := limitOf(c)
			return err
		},
		orders: func(o operatorConnection, c *scenario.Command, number int) []func(env.Task) {
			return []func(env.Task){func(t env.Task) {
				o.awaitTurn(t, number)
				do(o, t, c)
			}}
		},
	}
}

// retryUntil gives a command to the config server until it is carried out, or there is no such
// collection.
func (o operatorConnection) retryUntil(t env.Task, req env.Message) {
	for {
		err := o.once(t, req)
		if err == nil || errcode.Is(err, errcode.NamespaceNotFound) || t.Sleep(retryEvery) != nil {
			return
		}
	}
}

// awaitTurn waits for the end of what the scenario does to the same shard before.
func (o operatorConnection) awaitTurn(t env.Task, number int) {
	c := &o.scenario.Commands[number]
	earlier := func() bool {
		for i, other := range o.scenario.Commands {
			comes := other.At < c.At || other.At == c.At && i < number
			shards := other.Do == commandkind.RemoveShard || other.Do == commandkind.AddShard
			if shards && comes && other.Name == c.Name && !o.given[i] {
				return true
			}
		}
		return false
	}
	for earlier() && t.Sleep(retryEvery) == nil {
	}
}

// removeShard repeats the command until the shard is gone, and moves its databases to another one.
// It gives up when the config server refuses, as the last shard, and the last one of a zone that
// has ranges, have to stay.
func (o operatorConnection) removeShard(t env.Task, name string) {
	for {
		answered := o.oracle.Asked(facts.ShardExists(name, false))
		reply, err := rpc.CallPrimary[command.RemoveShardReply](t, o.sets[configsvr.Name],
			&command.RemoveShard{Name: name}, o.settings.CommandTimeout)
		answered(err == nil && reply.State == command.RemovalCompleted)
		switch {
		case errcode.Is(err, errcode.ShardNotFound, errcode.IllegalOperation,
			errcode.ZoneStillInUse):
			return
		case err == nil && reply.State == command.RemovalCompleted:
			t.Node().Sometimes("a shard is removed when it is empty")
			return
		case err == nil:
			o.relieve(t, name, reply)
		}
		if t.Sleep(retryEvery) != nil {
			return
		}
	}
}

// relieve does for a shard that is being removed what the balancer does not: it moves databases
// and, once the faults have healed, clears the marks of chunks when nothing else keeps the removal
// from ending: those the balancer skips, and it has to go on to the others by itself (protocol
// 14.2, SERVER-74982). In 4.2 it also drops what moves of a primary have left that ended half way,
// when nothing is in progress any more (invariants 20.1).
//
// One operator moves databases at once, another when nothing else is left.
func (o operatorConnection) relieve(t env.Task, name string, left *command.RemoveShardReply) {
	inTheWay := left.Unfinished != ""
	if left.Chunks > 0 && o.scenario.Seed%2 == 0 && !o.settling {
		return
	}
	for _, database := range left.Databases {
		if o.moveAway(t, database, name) {
			inTheWay = t.Sleep(retryEvery) == nil // what has been refused leaves nothing behind
		}
	}
	if left.Jumbo > 0 && left.Jumbo == left.Chunks && o.settling {
		o.clearMarks(t, name)
	}
	if inTheWay && o.settling && !protocolOf(o.scenario).CoordinatesMovePrimary() &&
		len(o.Unfinished()) == 0 {
		o.dropStale(t)
	}
}

// moveAway moves a database from a shard to the first of the others that takes it. It reports
// whether one of them has refused because it has such a collection already: the copy of a move that
// ended half way stays until an operator drops it (invariants 20.1).
func (o operatorConnection) moveAway(t env.Task, database, from string) (copied bool) {
	for _, to := range o.Topology().ShardNames() {
		if to == from {
			continue
		}
		err := o.movePrimary(t, database, to)
		if err == nil {
			break
		}
		copied = copied || errcode.Is(err, errcode.IncompatibleShardingMetadata)
	}
	return copied
}

func (o operatorConnection) movePrimary(t env.Task, database, to string) error {
	return o.routed(t, &command.MovePrimary{Database: database, To: to})
}

// clearMarks lets all chunks of a shard be moved again.
func (o operatorConnection) clearMarks(t env.Task, shard string) {
	for _, c := range o.scenario.Collections {
		table, err := o.Catalog(c.NS)
		if err != nil {
			continue
		}
		for chunk := range table.Chunks() {
			if chunk.Shard == shard && chunk.Jumbo {
				_ = o.once(t, &command.ClearJumboFlag{NS: c.NS, At: chunk.Min})
			}
		}
	}
}

// addShard repeats the command until the replica set is a shard: it is refused for as long as it
// has documents. It gives up when it is one that has another limit.
func (o operatorConnection) addShard(t env.Task, c *scenario.Command) {
	max, err := limitOf(c)
	if err != nil {
		panic("shardstore: a scenario that was validated: " + err.Error())
	}
	for {
		err := o.once(t, &command.AddShard{Name: c.Name, MaxBytes: max})
		if err == nil || errcode.Is(err, errcode.IllegalOperation, errcode.BadValue) ||
			t.Sleep(retryEvery) != nil {
			return
		}
		if !protocolOf(o.scenario).PersistsRangeDeletions() {
			o.emptyOut(t, c.Name)
		}
	}
}

// emptyOut deletes what a replica set of 4.2 that is no shard any more still has: deletions do not
// survive their primary there. What is left of a collection whose end it did not hear of, it drops.
func (o operatorConnection) emptyOut(t env.Task, set string) {
	for i := range o.scenario.Collections {
		c := &o.scenario.Collections[i]
		if o.unsharded(c) {
			continue
		}
		err := o.cleanUp(t, o.sets[set], c.NS, o.settings.MoveWait)
		switch cluster := o.oracle.Cluster(); {
		case !o.settling:
		case errcode.Is(err, errcode.StaleEpoch):
			if a := o.auditOf(t, c.NS, c.Keys); a.anotherOnAll(set) {
				o.dropOn(t, set, c.NS)
			}
		case errcode.Is(err, errcode.NamespaceNotFound) && cluster != nil && !cluster.Has(set):
			o.dropOn(t, set, c.NS)
		}
	}
}

// limitOf is the limit that an AddShard gives the shard; 0 is none.
func limitOf(c *scenario.Command) (max int64, err error) {
	for _, f := range c.Fields {
		if max, err = strconv.ParseInt(f.Value, 10, 64); err != nil || max < 0 {
			return 0, fmt.Errorf("max is a number of bytes such as 400, not %q", f.Value)
		}
	}
	return max, nil
}
