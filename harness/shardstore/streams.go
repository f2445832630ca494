package shardstore

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/harness/shardstore/reach"
	"github.com/shardproof/shardproof/harness/shardstore/replies"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/rpc"
)

// NewReader makes the node a client that watches a collection.
func (c *cluster) NewReader(node env.Node, ns string) target.Reader {
	r := &reader{client: c.Cluster.NewClient(node), ns: ns, oracle: c.oracle}
	for i := range c.scenario.Collections {
		if c.scenario.Collections[i].NS == ns {
			r.of = c.scenario.Collections[i]
		}
	}
	for i := range c.scenario.Ops {
		if op := &c.scenario.Ops[i]; op.NS == ns && op.Into != "" {
			r.names = append(r.names, op.Into)
		}
	}
	return r
}

// reader has one change stream open at a time.
type reader struct {
	client *client.Client
	ns     string
	stream *client.Stream
	// of is the collection, names what operations rename it to; what is wrong is told to the oracle.
	of     scenario.Collection
	names  []string
	oracle *oracle.Oracle
}

func (r *reader) Open(t env.Task, batch int, after *histories.Token) (histories.Token, error) {
	op := command.Watch{NS: r.ns, BatchSize: batch, Unsharded: r.of.Unsharded}
	if after != nil {
		op.Resume = true
		op.After = command.Token{TS: hlc.Timestamp(after.Time), Shard: after.Shard, N: after.N}
	}
	if !r.of.Unsharded { // a router that finds it unsharded looks again
		defer r.oracle.Asked()(false)
	}
	stream, first, err := r.client.Watch(t, op)
	if err != nil {
		return histories.Token{}, lost(err)
	}
	r.stream = stream
	return token(first.Upto), nil
}

func (r *reader) Next(t env.Task, batch int) (histories.ChangeBatch, error) {
	answer, err := r.stream.Next(t, batch)
	if err != nil {
		return histories.ChangeBatch{}, lost(err)
	}
	b := histories.ChangeBatch{Upto: token(answer.Upto)}
	for i := range answer.Changes {
		c := change(&answer.Changes[i])
		r.oracle.Delivered(r.ns, c.Key, replies.Change(r.of, r.names, &answer.Changes[i]))
		b.Changes = append(b.Changes, c)
	}
	return b, nil
}

func (r *reader) Advance(to uint64) { r.client.AdvanceClusterTime(hlc.Timestamp(to)) }

func (r *reader) Reached(at histories.Token, time uint64) bool {
	return at.Compare(token(command.Mark(hlc.Timestamp(time)))) >= 0
}

// historyLost is a server's answer that nobody can go on behind a token.
type historyLost struct{ error }

func (e historyLost) Is(other error) bool { return other == target.ErrHistoryLost }

func (e historyLost) Unwrap() error { return e.error }

func lost(err error) error {
	if errcode.Is(err, errcode.ChangeStreamHistoryLost) && !errors.Is(err, target.ErrHistoryLost) {
		return historyLost{err}
	}
	return err
}

func token(t command.Token) histories.Token {
	return histories.Token{Time: uint64(t.TS), Shard: t.Shard, N: t.N}
}

func change(c *command.Change) histories.Change {
	r := histories.Result{}
	if c.Doc != nil {
		r = found(c.Doc)
	}
	var key int64
	if c.Key != nil {
		key = numberOf(c.Key)
	}
	return histories.Change{
		Token: token(c.Token),
		Kind:  string(c.Kind),
		Key:   key,
		Value: r.Value,
		List:  r.List,
	}
}

// readBounds reads a collection as of just the times to which history and states reach back, and
// opens a stream from the first. They may be too long ago when the shards are asked: what comes of
// it is judged like any read, and a refusal by whether that is so.
func (p *prober) readBounds(t env.Task, ns string) {
	table, err := p.Catalog(ns)
	if err != nil || table.Collection().Unsharded {
		return
	}
	var members []reach.Member
	for _, name := range table.Shards() {
		if m := p.Member(p.Primary(name)); m != nil {
			members = append(members, m)
		}
	}
	router := p.Topology().RouterNodes()[0]
	bounds := reach.Bounds(table, members)
	for _, at := range bounds {
		_, _ = rpc.Call[command.Batch](t, p.ep, router, &command.Find{
			NS: ns, Filter: between(0, 1<<30), Concern: command.Snapshot, At: at,
		}, p.settings.AttemptTimeout)
	}
	_, _ = rpc.Call[command.ChangeBatch](t, p.ep, router, &command.Watch{
		NS: ns, Resume: true, After: command.Mark(bounds[0] + 1),
	}, p.settings.AttemptTimeout)
}

// readSecondaries reads the collection from every secondary of its owners: each can learn the
// placement from its primary, whatever failovers have left of the copy there.
func (p *prober) readSecondaries(t env.Task, c *scenario.Collection) {
	table, err := p.Catalog(c.NS)
	if err != nil {
		return // the survey has found that
	}
	for _, shard := range table.Shards() {
		for _, id := range p.Members(shard) {
			if m := p.Member(id); m == nil || m.Leading() {
				continue
			}
			all := between(0, 1<<30)
			if !p.try(t, c.NS, fmt.Sprintf("read %s from %s", c.NS, id), func() error {
				return p.readFrom(t, c.NS, all, shard, id)
			}) {
				p.trials.Made[len(p.trials.Made)-1].Ranges = p.unread(t, c, shard, id)
			}
		}
	}
}

// unread are the keys of a shard that cannot be read from one of its secondaries, and its chunks
// without any key if all of them can: then one of those is refused.
func (p *prober) unread(
	t env.Task, c *scenario.Collection, shard string, id env.NodeID,
) (keys []verdict.KeyRange) {
	table, err := p.Catalog(c.NS)
	if err != nil {
		return nil
	}
	has := map[string]bool{}
	for k := range int64(c.Keys) {
		name := nameOfKey(*c, k)
		at, err := table.Collection().Key.Of(documentOf(name, ""))
		if err != nil || table.Owner(at).Shard != shard {
			continue
		}
		has[string(table.Owner(at).Min)] = true
		if p.readFrom(t, c.NS, only(name), shard, id) != nil {
			keys = append(keys, verdict.KeyRange{Min: string(at), Max: string(at) + "\x00"})
		}
	}
	if len(keys) > 0 {
		return keys
	}
	for chunk := range table.Chunks() {
		if chunk.Shard == shard && !has[string(chunk.Min)] {
			keys = append(keys, verdict.KeyRange{Min: string(chunk.Min), Max: string(chunk.Max)})
		}
	}
	return keys
}

// readFrom reads as a router would that knows the newest table.
func (p *prober) readFrom(
	t env.Task, ns string, filter bson.Raw, shard string, id env.NodeID,
) error {
	table, err := p.Catalog(ns)
	if err != nil {
		return err
	}
	_, err = rpc.Call[command.Batch](t, p.ep, id, &command.Find{
		NS: ns, Filter: filter, Concern: command.MajorityRead, Secondary: true,
		Place: command.PlacementBy(table, shard),
	}, p.settings.AttemptTimeout)
	return err
}
