package command

import (
	"cmp"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/hlc"
)

func init() {
	codec.Register[Change]()
	codec.Register[ChangeBatch]()
	codec.Register[NextChanges]()
	codec.Register[ReadChanges]()
	codec.Register[ChangesRead]()
	codec.Register[Token]()
	codec.Register[Watch]()
}

// Token is a place in the order of all changes of a collection: by cluster time, then by shard,
// then by place in the log entry. A client can resume after it, on any router. The zero Token is
// before every change.
type Token struct {
	TS    hlc.Timestamp
	Shard string
	N     int
}

// behindAll is a shard name that sorts behind those of all shards.
const behindAll = "\x7f"

// Mark is the token behind everything of a cluster time: a high-water mark.
func Mark(ts hlc.Timestamp) Token { return Token{TS: ts, Shard: behindAll} }

// Compare is negative when a is before b.
func (a Token) Compare(b Token) int {
	return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.N, b.N))
}

// String is "time/shard/n", or "time" for a mark.
func (a Token) String() string {
	if a.Shard == behindAll {
		return a.TS.String()
	}
	return fmt.Sprintf("%s/%s/%d", a.TS, a.Shard, a.N)
}

// ChangeKind says what a change did.
type ChangeKind string

// The kinds of changes.
const (
	ChangeInsert  ChangeKind = "insert"
	ChangeUpdate  ChangeKind = "update"
	ChangeReplace ChangeKind = "replace"
	ChangeDelete  ChangeKind = "delete"
	// ChangeDrop and ChangeRename say that the collection is gone, or has the name To now;
	// ChangeInvalidate follows, and ends the stream: what a later collection of the name sees is
	// another stream.
	ChangeDrop       ChangeKind = "drop"
	ChangeRename     ChangeKind = "rename"
	ChangeInvalidate ChangeKind = "invalidate"
	// ChangeNewShard is for routers only: a migration, begun in Token's shard, may give Shard its
	// first chunk.
	ChangeNewShard ChangeKind = "migrateChunkToNewShard"
)

// Change is one event of a change stream.
type Change struct {
	Token Token
	Kind  ChangeKind
	// Key is the document's {_id}, Doc the document after the change; nil for a deletion.
	Key bson.Raw
	Doc bson.Raw
	// Shard is set for ChangeNewShard, To for ChangeRename.
	Shard, To string
}

// Watch opens a change stream on a collection: behind After when Resume is set, else from now on.
type Watch struct {
	NS     string
	Resume bool
	After  Token
	// BatchSize bounds what is asked of a shard at once; 0: no bound.
	BatchSize int
	// Unsharded allows a collection that is not sharded, which may not exist yet. Without it such a
	// collection is NamespaceNotFound: who follows a sharded one learns that it is gone.
	Unsharded bool
}

// NextChanges asks a router to go on with a stream. It answers at once, with what is certain by
// now. BatchSize bounds the changes of the answer; 0: no bound.
type NextChanges struct {
	Stream    string
	BatchSize int
}

// Ends says whether the change is the last one but the ChangeInvalidate.
func (c *Change) Ends() bool { return c.Kind == ChangeDrop || c.Kind == ChangeRename }

// ChangeBatch is the response to Watch, then without changes, and to NextChanges. Everything up to
// Upto was delivered; Upto never goes back.
type ChangeBatch struct {
	Stream  string
	Changes []Change
	Upto    Token
}

// ReadChanges asks a shard for what its majority-committed log says about a collection after a
// time. It keeps no state there: the next request may go to another member.
type ReadChanges struct {
	NS    string
	After hlc.Timestamp
	// Reach is the time up to which the answer should go: an idle shard lets its log advance for
	// it.
	Reach hlc.Timestamp
	Limit int // of changes; entries are never cut. 0: no limit
	// Open has the shard check Place like that of a query and name the Receivers.
	Open  bool
	Place Placement
	// Unsharded says that the collection is not sharded: all of its changes are where its database
	// is.
	Unsharded bool
}

// ChangesRead is the response: all changes after ReadChanges.After up to Upto, in the order of the
// log. Nothing up to Upto will ever be added.
type ChangesRead struct {
	Changes []Change
	Upto    hlc.Timestamp
	// Receivers are the shards to which the shard is moving a range of the collection, announced
	// before or now.
	Receivers []string
}
