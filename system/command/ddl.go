package command

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/key"
)

// DropCollection removes a sharded collection with everything in it; it succeeds when there is
// none. A session's request is executed at most once, however often it arrives.
type DropCollection struct {
	NS string
	// Sharded says that the sender was told that the collection is sharded: if there is no such
	// one, any more, that is an errcode.NamespaceNotFound.
	Sharded bool
	Session Session
}

// CreateIndex makes an index of a sharded collection, on all its shards; it succeeds when there is
// one of that name. It is the index that Name and Spec say or, without a name, one on the field.
type CreateIndex struct {
	NS, Field string
	Name      string
	Spec      bson.Raw
	Session   Session
}

// DropIndex removes the index of that name or, without a name, the one on the field; it succeeds
// when there is none.
type DropIndex struct {
	NS, Field string
	Name      string
	Session   Session
}

// RenameCollection gives a sharded collection another name; its UUID, documents and indexes stay. A
// collection that has the name is dropped with DropTarget, and an errcode.NamespaceExists without.
type RenameCollection struct {
	NS, To     string
	DropTarget bool
	Session    Session
}

// ShardsvrParticipate has a shard take one step of an operation on a whole collection. A shard that
// has taken ParticipantRelease of an operation takes no step of it any more, nor of an earlier one
// of the same collection.
type ShardsvrParticipate struct {
	// Operation numbers the operations on a collection, increasing.
	Operation  int64
	Step       ParticipantStep
	Collection catalog.Collection
	// Founded is the UUID that the collection was to have before it took over that of an unsharded
	// one, empty if it did not.
	Founded string
	// Creates says that the operation makes the collection: of an unsharded one, if there is one.
	Creates bool
	// To is what the collection is renamed to, empty for another operation; Target is the UUID of
	// the collection that had that name before, empty for none.
	To, Target string
	// Home is the shard whose unsharded collection becomes this one, empty for none. Options,
	// Indexes and Formerly are what that has, and how it was called: the others get them with it.
	// They are for ParticipantCreate.
	Home     string
	Options  bson.Raw
	Indexes  []IndexSpec
	Formerly []string
	// Index is the name of the index to make or drop, Spec what to make.
	Index string
	Spec  bson.Raw
}

// ShardsvrDescribe asks the primary shard of a database, while an operation holds the critical
// section of the namespace, for the unsharded collection that is to be sharded by the pattern. An
// errcode.InvalidOptions says that it has documents and no index on the field, an errcode.BadValue
// that a document cannot have such a shard key.
type ShardsvrDescribe struct {
	NS  string
	Key key.Pattern
}

// UnshardedDescription answers ShardsvrDescribe; the UUID is empty when there is no unsharded
// collection. Options are as a shard keeps them, with the UUID. Formerly are the names by which
// statements on the collection may be known.
type UnshardedDescription struct {
	UUID     string
	Empty    bool
	Options  bson.Raw
	Indexes  []IndexSpec
	Formerly []string
}

// ParticipantStep is what a participant does.
type ParticipantStep string

// The steps. Each succeeds when it is taken already.
const (
	// Reads and writes wait, also under later primaries.
	ParticipantBlock ParticipantStep = "block"
	// The collection exists and is sharded.
	ParticipantCreate ParticipantStep = "create"
	// An unsharded collection of the name is gone: the shard gets no chunk of the new one, and has
	// what a move of the database has left here.
	ParticipantClear ParticipantStep = "clear"
	// The incarnation is gone, and what was known of it.
	ParticipantDrop ParticipantStep = "drop"
	// The incarnation has the index if it is here at all.
	ParticipantCreateIndex ParticipantStep = "create-index"
	// It does not have it.
	ParticipantDropIndex ParticipantStep = "drop-index"
	// The incarnation has the name To, and Target is gone.
	ParticipantRename ParticipantStep = "rename"
	// Reads and writes go on; the operation is over here.
	ParticipantRelease ParticipantStep = "release"
)

func init() {
	codec.Register[CreateIndex]()
	codec.Register[DropCollection]()
	codec.Register[DropIndex]()
	codec.Register[RenameCollection]()
	codec.Register[ShardsvrDescribe]()
	codec.Register[UnshardedDescription]()
	codec.Register[ShardsvrParticipate]()
}
