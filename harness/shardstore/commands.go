package shardstore

import (
	"fmt"

	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// adminCommand is how one kind of command is carried out.
type adminCommand struct {
	// orders are what it means, one for each server or shard that is given it. Number is that of
	// the command in the scenario.
	orders func(o operatorConnection, c *scenario.Command, number int) []func(env.Task)
	// check says what keeps it from being given; nil for nothing.
	check func(c *scenario.Command) error
	// balances: the config server is given it, and what follows from it is the balancer's work.
	balances bool
}

// adminCommands are the kinds of commands that this store carries out. A kind that is added to
// package scenario gets a file here that declares how.
var adminCommands = map[commandkind.Name]adminCommand{}

// obeys declares how a kind is carried out. It is called from package-level variables only.
func obeys(kind commandkind.Name, how adminCommand) commandkind.Name {
	adminCommands[kind] = how
	return kind
}

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

func (o operatorConnection) orders(number int) []func(env.Task) {
	c := &o.scenario.Commands[number]
	return adminCommands[c.Do].orders(o, c, number)
}

// checkCommand says what keeps a command from being given.
func checkCommand(c *scenario.Command) error {
	how, known := adminCommands[c.Do]
	switch {
	case !known:
		return fmt.Errorf("the store does not carry out the command %s", c.Do)
	case how.check == nil:
		return nil
	}
	return how.check(c)
}

// once gives a command to the config server once.
func (o operatorConnection) once(t env.Task, req env.Message) error {
	answered := o.oracle.Asked(append(o.recorded(req), factOf(req))...)
	_, err := rpc.CallPrimary[command.Done](t, o.sets[configsvr.Name], req, o.settings.MoveWait)
	answered(err == nil)
	return err
}

// routed gives a command to the first router once.
func (o operatorConnection) routed(t env.Task, req env.Message) error {
	answered := o.oracle.Asked(append(o.recorded(req), factOf(req))...)
	_, err := rpc.Call[command.Done](t, o.ep, o.Topology().RouterNodes()[0], req,
		o.settings.MoveWait)
	answered(err == nil)
	return err
}

// toConfig is a command that the config server is given once, and its answer may be lost like any
// other. An error of message says which value the command cannot have.
func toConfig(message func(c *scenario.Command) (env.Message, error)) adminCommand {
	return adminCommand{
		balances: true,
		check: func(c *scenario.Command) error {
			_, err := message(c)
			return err
		},
		orders: func(o operatorConnection, c *scenario.Command, _ int) []func(env.Task) {
			return []func(env.Task){func(t env.Task) {
				req, err := message(c)
				if err != nil {
					panic("shardstore: a scenario that was validated: " + err.Error())
				}
				_ = o.once(t, req)
			}}
		},
	}
}

// toRouter is a command that the first router is given once.
func toRouter(message func(c *scenario.Command) env.Message) adminCommand {
	return adminCommand{
		orders: func(o operatorConnection, c *scenario.Command, _ int) []func(env.Task) {
			return []func(env.Task){func(t env.Task) {
				_ = o.routed(t, message(c))
			}}
		},
	}
}

// toShards is a command that every shard is given.
func toShards(
	do func(o operatorConnection, t env.Task, shard *rpc.Set, c *scenario.Command),
) adminCommand {
	return adminCommand{
		orders: func(o operatorConnection, c *scenario.Command, _ int) (all []func(env.Task)) {
			for _, name := range o.Topology().ShardNames() {
				all = append(all, func(t env.Task) { do(o, t, o.sets[name], c) })
			}
			return all
		},
	}
}

// toServers is a command that every server is given.
func toServers(
	message func(c *scenario.Command) env.Message, check func(c *scenario.Command) error,
) adminCommand {
	return adminCommand{
		check: check,
		orders: func(o operatorConnection, c *scenario.Command, _ int) (all []func(env.Task)) {
			for _, id := range o.Servers() {
				all = append(all, func(t env.Task) {
					_, _ = rpc.Call[command.Done](t, o.ep, id, message(c),
						o.settings.CommandTimeout)
				})
			}
			return all
		},
	}
}
