package shardstore

import (
	"slices"

	"github.com/shardproof/shardproof/histories/corpus"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// delivered is a lie about the answers to readers of change streams; change returns false if it
// does not fit.
func delivered(about, story string, change func(b *command.ChangeBatch) bool) lie {
	i := slices.IndexFunc(corpus.Stories(), func(s corpus.Story) bool { return s.Name == story })
	return lie{about: about, in: corpus.Stories()[i].Text, tell: func(_, said env.Message) any {
		b, is := said.(*command.ChangeBatch)
		if !is {
			return nil
		}
		other := *b
		other.Changes = slices.Clone(b.Changes)
		if !change(&other) {
			return nil
		}
		return &other
	}}
}

// ofFirst is a change of the first change that is delivered.
func ofFirst(about string, change func(c *command.Change)) lie {
	return delivered(about, "change-streams", func(b *command.ChangeBatch) bool {
		if len(b.Changes) == 0 || b.Changes[0].Doc == nil {
			return false
		}
		change(&b.Changes[0])
		return true
	})
}

var changeBatchLies = map[string][]lie{
	"Changes": {
		delivered("a change is left out", "change-streams", func(b *command.ChangeBatch) bool {
			there := len(b.Changes) > 0
			b.Changes = b.Changes[min(1, len(b.Changes)):]
			return there
		}),
		delivered("a change twice", "change-streams", func(b *command.ChangeBatch) bool {
			if len(b.Changes) > 0 {
				b.Changes = append(b.Changes, b.Changes[len(b.Changes)-1])
			}
			return len(b.Changes) > 0
		}),
	},
	"Upto": {
		delivered("more was delivered than that", "change-streams",
			func(b *command.ChangeBatch) bool {
				b.Upto.TS -= min(b.Upto.TS-1, 1<<40)
				return len(b.Changes) > 0
			}),
	},
}

var changeLies = map[string][]lie{
	"Token": {ofFirst("a later token", func(c *command.Change) { c.Token.TS += 1 << 40 })},
	"Kind":  {ofFirst("a deletion", func(c *command.Change) { c.Kind = command.ChangeDelete })},
	"Key": {ofFirst("another key", func(c *command.Change) {
		c.Key = edited(c.Key, with("_id", next))
	})},
	"Doc": {
		ofFirst("another id", func(c *command.Change) { c.Doc = edited(c.Doc, with("_id", next)) }),
		ofFirst("another shard key", func(c *command.Change) {
			c.Doc = edited(c.Doc, with("k", next))
		}),
		ofFirst("another field", func(c *command.Change) { c.Doc = edited(c.Doc, another) }),
		ofFirst("another value", func(c *command.Change) {
			c.Doc = edited(c.Doc, with("v", func(any) any { return "nonsense" }))
		}),
	},
	"Shard": {ofFirst("a shard", func(c *command.Change) { c.Shard = "shard-a" })},
	"To":    {ofFirst("another name", func(c *command.Change) { c.To = "test.more" })},
}
