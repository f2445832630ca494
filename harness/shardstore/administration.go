package shardstore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/rpc"
)

// forConfig says whether a command is one for the config server.
func forConfig(k scenario.CommandKind) bool {
	switch k {
	case scenario.SetParameter, scenario.CleanupOrphaned, scenario.JoinMigrations,
		scenario.SplitChunk, scenario.MergeChunks:
		return false
	}
	return true
}

// administer carries out the scenario's command of that number. Most are given once, and their
// answer may be lost like any other. Shards are removed and added until it is done, those of one
// shard in turn.
func (o operatorConnection) administer(t env.Task, number int) {
	c := &o.scenario.Commands[number]
	switch c.Do {
	case scenario.RemoveShard:
		o.awaitTurn(t, number)
		o.removeShard(t, c.Name)
	case scenario.AddShard:
		o.awaitTurn(t, number)
		o.addShard(t, c.Name)
	default:
		req, err := administrative(c)
		if err != nil {
			panic("shardstore: a scenario that was validated: " + err.Error())
		}
		_ = o.once(t, req)
	}
}

// once gives a command to the config server once.
func (o operatorConnection) once(t env.Task, req env.Message) error {
	_, err := rpc.CallPrimary[command.Done](t, o.sets[configsvr.Name], req, o.settings.MoveWait)
	return err
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
			shards := other.Do == scenario.RemoveShard || other.Do == scenario.AddShard
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
		reply, err := rpc.CallPrimary[command.RemoveShardReply](t, o.sets[configsvr.Name],
			&command.RemoveShard{Name: name}, o.settings.CommandTimeout)
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
// when nothing is under way any more (invariants 20.1).
func (o operatorConnection) relieve(t env.Task, name string, left *command.RemoveShardReply) {
	for _, database := range left.Databases {
		for _, to := range o.Topology().ShardNames() {
			if to != name && o.movePrimary(t, database, to) == nil {
				break
			}
		}
	}
	if left.Jumbo > 0 && left.Jumbo == left.Chunks && o.settling {
		o.clearMarks(t, name)
	}
	if left.Unfinished != "" && o.settling && !protocolOf(o.scenario).CoordinatesMovePrimary() &&
		len(o.Outstanding()) == 0 {
		o.dropStale(t)
	}
}

func (o operatorConnection) movePrimary(t env.Task, database, to string) error {
	_, err := rpc.Call[command.Done](t, o.ep, o.Topology().RouterNodes()[0],
		&command.MovePrimary{Database: database, To: to}, o.settings.MoveWait)
	return err
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
// has documents. In 4.2, whose deletions do not survive their primary, somebody has to delete them.
func (o operatorConnection) addShard(t env.Task, name string) {
	for o.once(t, &command.AddShard{Name: name}) != nil && t.Sleep(retryEvery) == nil {
		for _, c := range o.scenario.Collections {
			if !c.Unsharded && !protocolOf(o.scenario).PersistsRangeDeletions() {
				_ = o.cleanUp(t, o.sets[name], c.NS)
			}
		}
	}
}

// administrative is what a command asks of the config server; an error tells of a value that it
// cannot have.
func administrative(c *scenario.Command) (env.Message, error) {
	switch c.Do {
	case scenario.PutSetting:
		doc, err := settingsDocument(c)
		return &command.PutSetting{ID: c.Name, Doc: doc}, err
	case scenario.BalancerStart:
		return &command.BalancerStart{}, nil
	case scenario.BalancerStop:
		return &command.BalancerStop{}, nil
	case scenario.ZoneAdd:
		return &command.AddShardToZone{Shard: c.Name, Zone: c.Value}, nil
	case scenario.ZoneRemove:
		return &command.RemoveShardFromZone{Shard: c.Name, Zone: c.Value}, nil
	case scenario.ZoneRange:
		zone := c.Value
		if zone == scenario.NoZone {
			zone = ""
		}
		return &command.UpdateZoneKeyRange{
			NS:   c.Name,
			Min:  bound(c.Min),
			Max:  bound(c.Max),
			Zone: zone,
		}, nil
	case scenario.Balance:
		on := c.Value == "on"
		return &command.ConfigureCollectionBalancing{NS: c.Name, Enabled: &on}, nil
	case scenario.ChunkSize:
		bytes, err := strconv.ParseInt(c.Value, 10, 64)
		return &command.ConfigureCollectionBalancing{NS: c.Name, ChunkBytes: &bytes}, err
	case scenario.Defragment:
		on := c.Value == "on"
		return &command.ConfigureCollectionBalancing{NS: c.Name, Defragment: &on}, nil
	case scenario.ClearJumboFlag:
		return &command.ClearJumboFlag{NS: c.Name, At: bound(c.Min)}, nil
	}
	return nil, nil
}

// settingsDocument is a document of config.settings as the command writes it.
func settingsDocument(c *scenario.Command) (bson.Raw, error) {
	doc := bson.D{}
	for _, f := range c.Fields {
		name, value, err := settingsField(f)
		if err != nil {
			return nil, err
		}
		doc = append(doc, bson.E{Key: name, Value: value})
	}
	return raw(doc), nil
}

func settingsField(f scenario.Setting) (name string, value any, err error) {
	switch f.Name {
	case "mode":
		if !slices.Contains([]command.BalancerMode{
			command.BalancerFull, command.BalancerAutoSplitOnly, command.BalancerOff,
		}, command.BalancerMode(f.Value)) {
			return "", nil, fmt.Errorf("mode is full, autoSplitOnly or off, not %q", f.Value)
		}
		return "mode", f.Value, nil
	case "activeWindow":
		start, stop, ok := strings.Cut(f.Value, "-")
		if !ok {
			return "", nil, fmt.Errorf(
				"activeWindow is two times of a day such as 23:00-7:00, not %q", f.Value,
			)
		}
		return "activeWindow", bson.D{{Key: "start", Value: start}, {Key: "stop", Value: stop}}, nil
	case "throttle":
		value, err := throttling(f.Value)
		return "_secondaryThrottle", value, err
	case "bytes":
		value, err := strconv.ParseInt(f.Value, 10, 64)
		return "value", value, err
	}
	on, err := strconv.ParseBool(f.Value)
	return map[string]string{
		"waitForDelete": "_waitForDelete",
		"jumbo":         "attemptToBalanceJumboChunks",
		"enabled":       "enabled",
	}[f.Name], on, err
}

// throttling is true or false, or the write concern of each batch.
func throttling(word string) (any, error) {
	if on, err := strconv.ParseBool(word); err == nil && word != "0" && word != "1" {
		return on, nil
	}
	if word == "majority" {
		return bson.D{{Key: "w", Value: word}}, nil
	}
	n, err := strconv.ParseInt(word, 10, 32)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("throttle is true, false, majority or a number of members, not %q",
			word)
	}
	return bson.D{{Key: "w", Value: n}}, nil
}
