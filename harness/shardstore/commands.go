package shardstore

import (
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
)

// Addressees is one for a command that one server is given, and all servers or shards for the
// others.
func (c *cluster) Addressees(number int) int {
	return len(operatorConnection{cluster: c}.orders(number))
}

// NewCommands makes the node one of an operator.
func (c *cluster) NewCommands(node env.Node) target.Commands { return c.operator(node) }

// Give gives a command to one of its addressees. A server that is down, or whose answer gets lost,
// is not asked again: what comes of it may be half of the cluster, as in life.
func (o operatorConnection) Give(t env.Task, number, addressee int) {
	o.orders(number)[addressee](t)
	o.given[number] = true
}

// orders are what a command means, one for each server or shard.
func (o operatorConnection) orders(number int) (all []func(env.Task)) {
	c := o.scenario.Commands[number]
	if c.Do == scenario.SetParameter {
		for _, id := range o.Servers() {
			all = append(all, func(t env.Task) {
				req := &command.SetParameter{Name: c.Name, Value: c.Value}
				_, _ = rpc.Call[command.Done](t, o.ep, id, req, o.settings.CommandTimeout)
			})
		}
		return all
	}
	if forConfig(c.Do) {
		return []func(env.Task){func(t env.Task) { o.administer(t, number) }}
	}
	if do := reshaping(&c); do != nil {
		return []func(env.Task){func(t env.Task) {
			_, _ = rpc.Call[command.Done](t, o.ep, o.Topology().RouterNodes()[0], do,
				o.settings.MoveWait)
		}}
	}
	for _, name := range o.Topology().ShardNames() {
		all = append(all, func(t env.Task) {
			if c.Do == scenario.CleanupOrphaned {
				_ = o.cleanUp(t, o.sets[name], c.Name)
			} else {
				_, _ = rpc.CallPrimary[command.Done](t, o.sets[name],
					&command.JoinMigrations{NS: c.Name}, o.settings.MoveWait)
			}
		})
	}
	return all
}

// reshaping is what a router is asked to do to chunks; nil for a command that is for others.
func reshaping(c *scenario.Command) env.Message {
	switch c.Do {
	case scenario.SplitChunk:
		return &command.SplitChunk{NS: c.Name, At: bound(c.Min)}
	case scenario.MergeChunks:
		return &command.MergeChunks{NS: c.Name, Min: bound(c.Min), Max: bound(c.Max)}
	}
	return nil
}

// cleanUp has a shard delete its orphans of a namespace. In 4.2 one command deletes one range and
// says where to go on.
func (o operatorConnection) cleanUp(t env.Task, set *rpc.Set, ns string) error {
	for from := key.Min; ; {
		done, err := rpc.CallPrimary[command.CleanedUp](t, set,
			&command.CleanupOrphaned{NS: ns, From: from}, o.settings.MoveWait)
		if err != nil || done.StoppedAt == "" || done.StoppedAt == key.Max {
			return err
		}
		from = done.StoppedAt
	}
}

// checkCommand says what keeps a command from being given.
func checkCommand(c *scenario.Command) error {
	if c.Do != scenario.SetParameter {
		_, err := administrative(c)
		return err
	}
	var any settings.Settings
	return any.Set(c.Name, c.Value)
}
