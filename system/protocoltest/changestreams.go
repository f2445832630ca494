package protocoltest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// stream is a change stream, and the mark up to which it has delivered.
type stream struct {
	from *client.Stream
	upto command.Token
}

// tokens are marks of change streams, by the names that a script gives them.
type tokens map[string]command.Token

func (r *Rig) watch(l Line) error {
	name, op, u := l.Word(0), command.Watch{NS: l.Arg("in", Sharded)}, r.Clients()[0]
	op.Unsharded = op.NS != Sharded
	if after := l.Arg("after", ""); after != "" {
		op.Resume, op.After = true, r.tokens[after]
	}
	r.Request(u, func(t env.Task) {
		from, batch, err := u.Client.Watch(t, op)
		if err == nil {
			r.streams[name] = &stream{from, batch.Upto}
		}
		r.answer("stream "+name, err)
	})
	return nil
}

// read asks a stream for changes for a while, and remembers where it is.
func (r *Rig) read(l Line) error {
	name, span, token := l.Word(0), duration(l.Arg("for", "200ms")), l.Arg("token", "")
	at, u := r.streams[name], r.Clients()[0]
	if at == nil {
		return fmt.Errorf("there is no stream %s: was it refused?", name)
	}
	r.Request(u, func(t env.Task) {
		n, open := 0, true
		for ends := r.World.Now().Add(span); r.World.Now() < ends && open; {
			batch, err := at.from.Next(t, 0)
			if err == nil {
				n, open = n+len(batch.Changes), batch.Stream != ""
				err = errors.Join(r.deliver(at, batch), t.Sleep(span/20))
			}
			if err != nil {
				r.Say("stream %s: %v", name, err)
				return
			}
		}
		r.tokens[token] = at.upto
		if open {
			r.Say("stream %s: %d changes", name, n)
		} else {
			r.Say("stream %s: %d changes, and the stream has ended", name, n)
		}
	})
	return nil
}

// deliver shows the changes of a batch. The mark never goes back.
func (r *Rig) deliver(at *stream, batch *command.ChangeBatch) error {
	for _, c := range batch.Changes {
		if v, _ := c.Doc.Lookup("v").StringValueOK(); c.Key != nil {
			r.Say("  %s: %s %d %s", c.Token.Shard, c.Kind, c.Key.Lookup("_id").Int64(), v)
		} else {
			r.Say("  %s: %s", c.Token.Shard, strings.TrimSpace(string(c.Kind)+" "+c.To))
		}
		at.upto = c.Token
	}
	if batch.Upto.Compare(at.upto) < 0 {
		return fmt.Errorf("the mark %s is before %s", batch.Upto, at.upto)
	}
	at.upto = batch.Upto
	return nil
}
