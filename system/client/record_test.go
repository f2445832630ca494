package client_test

import (
	"testing"

	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/settings"
)

// TestNoRecordOfTheUnchanged: a document that was found as it is asked for leaves no record, so
// that an attempt that got lost may yet change it; and as part of a batch it is not sent again.
func TestNoRecordOfTheUnchanged(t *testing.T) {
	update := func(t env.Task, c *client.Client) client.Answer {
		return c.Update(t, command.Update{})
	}
	modify := func(remove bool) func(env.Task, *client.Client) client.Answer {
		return func(t env.Task, c *client.Client) client.Answer {
			return c.FindAndModify(t, command.FindAndModify{Remove: remove})
		}
	}
	same, lost := writes(1), fails(errcode.NetworkTimeout)
	for name, c := range map[string]struct {
		send   func(env.Task, *client.Client) client.Answer
		answer reply
		leaves bool // a record
	}{
		"update of the same":    {update, same, false},
		"update":                {update, reply{written: command.Written{N: 1, Modified: 1}}, true},
		"upsert":                {update, reply{written: command.Written{N: 1, Upserted: true}}, true},
		"findAndModify, same":   {modify(false), same, false},
		"findAndModify, remove": {modify(true), same, true},
		"delete": {func(t env.Task, c *client.Client) client.Answer {
			return c.Delete(t, command.Delete{})
		}, same, true},
	} {
		want, again := client.Unknown, []reply{}
		if c.leaves {
			want, again = client.OK, []reply{c.answer}
		}
		answering(t, settings.Default80(), []reply{lost, c.answer},
			func(task env.Task, cl *client.Client) {
				if a := c.send(task, cl); a.Certainty != want {
					t.Errorf("%s, lost and then answered: %v, want %v", name, a.Certainty, want)
				}
			})
		answering(t, settings.Default80(), append([]reply{c.answer, lost, c.answer}, again...),
			func(task env.Task, cl *client.Client) {
				for range 2 {
					cl.Join()
					c.send(task, cl)
				}
			})
	}
}
