package runner

import (
	"fmt"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
)

// administrator is the node from which servers are given commands past the routers.
const administrator env.NodeID = "admin.0"

// startCommands gives every command at its time, to each server that it is for from a task of its own. A server that is
// down, or whose answer gets lost, is not asked again: what comes of it may be half of the cluster, as in life.
func (r *run) startCommands() {
	if len(r.scenario.Commands) == 0 {
		return
	}
	r.world.AddNode(administrator, func(t env.Task) {
		ep, sets := r.cluster.Operator(t.Node())
		for i, c := range r.scenario.Commands {
			for n, give := range r.orders(i, ep, sets) {
				name := orderName(i, n)
				t.Spawn(name, func(t env.Task) {
					defer delete(r.busy, name)
					if t.Sleep(r.base.Add(c.At).Sub(r.world.Now())) == nil {
						give(t)
					}
				})
			}
		}
	})
	for i := range r.scenario.Commands {
		for n := range r.orders(i, nil, nil) {
			r.busy[orderName(i, n)] = true
		}
	}
}

// orderName names what the nth server is asked by a command.
func orderName(command, n int) string { return fmt.Sprintf("command %d/%d", command+1, n+1) }

// orders are what a command means, one for each server or shard.
func (r *run) orders(number int, ep *rpc.Endpoint, sets map[string]*rpc.Set) (all []func(env.Task)) {
	c := r.scenario.Commands[number]
	if c.Do == scenario.SetParameter {
		for _, id := range r.cluster.Servers() {
			all = append(all, func(t env.Task) {
				_, _ = rpc.Call[command.Done](t, ep, id, &command.SetParameter{Name: c.Name, Value: c.Value}, r.settings.CommandTimeout)
			})
		}
		return all
	}
	if forConfig(c.Do) {
		return []func(env.Task){func(t env.Task) { operatorConnection{r, ep, sets}.administer(t, number) }}
	}
	if do := reshaping(c); do != nil {
		return []func(env.Task){func(t env.Task) {
			_, _ = rpc.Call[command.Done](t, ep, r.cluster.Topology().RouterNodes()[0], do, r.settings.MoveWait)
		}}
	}
	for _, name := range r.cluster.Topology().ShardNames() {
		all = append(all, func(t env.Task) {
			if c.Do == scenario.CleanupOrphaned {
				_ = r.cleanUp(t, sets[name], c.Name)
			} else {
				_, _ = rpc.CallPrimary[command.Done](t, sets[name], &command.JoinMigrations{NS: c.Name}, r.settings.MoveWait)
			}
		})
	}
	return all
}

// reshaping is what a router is asked to do to chunks; nil for a command that is for others.
func reshaping(c scenario.Command) env.Message {
	switch c.Do {
	case scenario.SplitChunk:
		return &command.SplitChunk{NS: c.Name, At: bound(c.Min)}
	case scenario.MergeChunks:
		return &command.MergeChunks{NS: c.Name, Min: bound(c.Min), Max: bound(c.Max)}
	}
	return nil
}

// cleanUp has a shard delete its orphans of a namespace. In 4.2 one command deletes one range and says where to go on.
func (r *run) cleanUp(t env.Task, set *rpc.Set, ns string) error {
	for from := key.Min; ; {
		done, err := rpc.CallPrimary[command.CleanedUp](t, set, &command.CleanupOrphaned{NS: ns, From: from}, r.settings.MoveWait)
		if err != nil || done.StoppedAt == "" || done.StoppedAt == key.Max {
			return err
		}
		from = done.StoppedAt
	}
}

// checkCommand says what keeps a command from being given.
func checkCommand(c scenario.Command) error {
	if c.Do != scenario.SetParameter {
		_, err := administrative(&c)
		return err
	}
	var any settings.Settings
	return any.Set(c.Name, c.Value)
}

// countStatistics asks every member of every shard for its counters.
func (r *run) countStatistics(t env.Task, ep *rpc.Endpoint) {
	for _, name := range r.cluster.Topology().ShardNames() {
		for _, id := range r.cluster.Topology().MembersOf(name) {
			reply, err := rpc.Call[command.ShardingStatisticsReply](t, ep, id, &command.ShardingStatistics{}, r.settings.CommandTimeout)
			if err != nil {
				continue
			}
			for _, v := range reply.Values {
				r.tally.Statistics[v.Name] += v.Count
			}
		}
	}
}
