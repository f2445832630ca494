package held

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// Every shard knows that a name has been given up, and which name a collection had before.
func TestLacksEnd(t *testing.T) {
	const ns, to = "test.docs", "test.other"
	raw := func(d bson.D) bson.Raw {
		doc, err := bson.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	blocked := oplog.Op{Kind: oplog.Insert, NS: shard.SectionsNS, ID: string(key.String(ns)),
		Doc: raw(bson.D{{Key: "_id", Value: ns}})}
	ended := oplog.Op{Kind: oplog.Noop, NS: ns,
		Doc: raw(bson.D{{Key: "type", Value: "endShardedCollection"}})}
	knows := func(names ...string) oplog.Op {
		return oplog.Op{Kind: oplog.Insert, NS: shard.ParticipationsNS, ID: string(key.String(to)),
			Doc: raw(bson.D{{Key: "_id", Value: to}, {Key: "formerly", Value: names}})}
	}
	for name, c := range map[string]struct {
		step    command.ParticipantStep
		log     []oplog.Op
		cut     uint64 // the index up to which no entry is kept
		lacking string
	}{
		"dropped":             {command.ParticipantDrop, []oplog.Op{blocked, ended}, 0, ""},
		"dropped, not noted":  {command.ParticipantDrop, []oplog.Op{blocked}, 0, "marks the end"},
		"noted at another":    {command.ParticipantDrop, []oplog.Op{ended, blocked}, 0, "marks the end"},
		"a log that is short": {command.ParticipantDrop, []oplog.Op{blocked, knows()}, 1, ""},
		"renamed":             {command.ParticipantRename, []oplog.Op{blocked, ended, knows(ns)}, 0, ""},
		"renamed, not noted":  {command.ParticipantRename, []oplog.Op{blocked, knows(ns)}, 0, "marks the end"},
		"renamed, forgotten": {command.ParticipantRename, []oplog.Op{blocked, ended, knows("test.old")},
			0, "formerly named test.docs"},
		"another step": {command.ParticipantCreate, []oplog.Op{blocked}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := &Log{Store: store.New(), Committed: uint64(len(c.log))}
			h.Entry = func(index uint64) (*oplog.Entry, uint64, bool) {
				if index <= c.cut {
					return nil, 0, false
				}
				return &oplog.Entry{Ops: c.log[index-1 : index]}, 1, true
			}
			for i, op := range c.log {
				if err := h.Store.Apply(uint64(i+1), []oplog.Op{op}); err != nil {
					t.Fatal(err)
				}
			}
			_, lacking := h.Lacks(&command.ShardsvrParticipate{
				Operation: 7, Step: c.step, Collection: catalog.Collection{NS: ns}, To: to,
			})
			if lacking == "" != (c.lacking == "") || !strings.Contains(lacking, c.lacking) {
				t.Errorf("%q, not %q", lacking, c.lacking)
			}
		})
	}
}
