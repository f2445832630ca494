package protocoltest_test

import (
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
)

// reader is a change stream and the mark up to which it has delivered.
type reader struct {
	stream *client.Stream
	upto   command.Token
}

// watch opens a stream, from now on or behind a token.
func (r *rig) watch(l line) error {
	name, op, u := l.word(0), command.Watch{NS: sharded}, r.clients()[0]
	if after := l.arg("after", ""); after != "" {
		op.Resume, op.After = true, r.tokens[after]
	}
	r.send(u, func(t env.Task) {
		stream, batch, err := u.client.Watch(t, op)
		if err == nil {
			r.readers[name] = &reader{stream, batch.Upto}
		}
		r.answer("stream "+name, err)
	})
	return nil
}

// read asks a stream for changes for a while, and remembers where it is.
func (r *rig) read(l line) error {
	name, span, token := l.word(0), duration(l.arg("for", "200ms")), l.arg("token", "")
	at, u := r.readers[name], r.clients()[0]
	r.send(u, func(t env.Task) {
		n, open := 0, true
		for ends := r.world.Now().Add(span); r.world.Now() < ends && open; {
			batch, err := at.stream.Next(t, 0)
			if err == nil {
				n, open = n+len(batch.Changes), batch.Stream != ""
				err = errors.Join(r.deliver(at, batch), t.Sleep(span/20))
			}
			if err != nil {
				r.say("stream %s: %v", name, err)
				return
			}
		}
		r.tokens[token] = at.upto
		if open {
			r.say("stream %s: %d changes", name, n)
		} else {
			r.say("stream %s: %d changes, and the stream has ended", name, n)
		}
	})
	return nil
}

// deliver tells the changes of a batch. The mark never goes back.
func (r *rig) deliver(at *reader, batch *command.ChangeBatch) error {
	for _, c := range batch.Changes {
		if v, _ := c.Doc.Lookup("v").StringValueOK(); c.Key != nil {
			r.say("  %s: %s %d %s", c.Token.Shard, c.Kind, c.Key.Lookup("_id").Int64(), v)
		} else {
			r.say("  %s: %s", c.Token.Shard, strings.TrimSpace(string(c.Kind)+" "+c.To))
		}
		at.upto = c.Token
	}
	if batch.Upto.Compare(at.upto) < 0 {
		return fmt.Errorf("the mark %s is before %s", batch.Upto, at.upto)
	}
	at.upto = batch.Upto
	return nil
}

// writeDirectly asks a shard itself, without a version.
func (r *rig) writeDirectly(l line) error {
	set, k, v, u := l.word(0), number(l.word(1)), l.arg("v", "new"), r.operator()
	req := &command.Update{
		NS: sharded, Filter: raw(bson.D{{Key: "k", Value: k}}), Concern: command.Majority,
		Change: raw(bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: v}}}}),
	}
	r.send(u, func(t env.Task) {
		w, err := rpc.CallPrimary[command.Written](t, u.sets[set], req, 0)
		if err != nil {
			r.say("write of %d on %s: %v", k, set, err)
			return
		}
		r.say("write of %d on %s: %d", k, set, w.N)
		if table, err := r.cluster.Catalog(sharded); err == nil && table.OwnsKey(set, key.Int(k)) {
			r.wrote[k] = v
		}
	})
	return nil
}
