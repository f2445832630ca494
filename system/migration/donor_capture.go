package migration

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
)

// changeCapture records which documents of the range were written since the clone began (protocol
// 6.1): those to read again, and those that left the range. It is called inside the commit of each
// write.
type changeCapture struct {
	rng     key.Range
	pattern key.Pattern
	// deletes and reloads are encoded _ids in the order of the writes; an _id may come more than
	// once.
	deletes, reloads []string
	bytes            int
	sessions         *sessionSource
}

// OnWrite implements shard.Donor. A document that is in the range after the write is to be read
// again; one that was in the range and is not any more is to be deleted.
func (c *changeCapture) OnWrite(op *oplog.Op, before bson.Raw, at oplog.Time) {
	switch {
	case op.Kind == oplog.Noop:
	case c.covers(op.Doc):
		c.reloads = append(c.reloads, op.ID)
		c.bytes += len(op.ID)
	case c.covers(before):
		c.deletes = append(c.deletes, op.ID)
		c.bytes += len(op.ID)
	}
	if op.Stmt != nil {
		c.sessions.note(op.Stmt, at)
	}
}

func (c *changeCapture) covers(doc bson.Raw) bool {
	if doc == nil {
		return false
	}
	k, err := c.pattern.Of(doc)
	return err == nil && c.rng.Contains(k)
}

func (c *changeCapture) empty() bool { return len(c.deletes) == 0 && len(c.reloads) == 0 }

// splice takes both lists at one moment: a delete and a later reload of one document are never torn
// apart in the wrong order (protocol 6.4).
func (c *changeCapture) splice() (deletes, reloads []string) {
	deletes, reloads = c.deletes, c.reloads
	c.deletes, c.reloads, c.bytes = nil, nil, 0
	return deletes, reloads
}

// pushBack puts what was not handed over before what was captured since.
func (c *changeCapture) pushBack(deletes, reloads []string) {
	c.deletes = append(deletes[:len(deletes):len(deletes)], c.deletes...)
	c.reloads = append(reloads[:len(reloads):len(reloads)], c.reloads...)
	for _, list := range [][]string{deletes, reloads} {
		for _, id := range list {
			c.bytes += len(id)
		}
	}
}
