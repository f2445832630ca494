package command

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
)

// CreateDatabase makes sure that a database exists: the config server gives a new one to the shard
// that is the primary of the fewest. It is answered with the database as it is then.
type CreateDatabase struct{ Name string }

// CreateUnsharded makes sure that an unsharded collection exists, on the primary shard of its
// database, which is made as well if there is none. It is answered with Written, and N of 0 when
// the collection was there. With Exclusive that is an errcode.NamespaceExists.
type CreateUnsharded struct {
	NS        string
	Options   bson.Raw // of the client, kept as they are
	Exclusive bool
	Session   Session
	Concern   WriteConcern
	Place     Placement
}

// DropUnsharded removes an unsharded collection; Written.N is 0 when there was none.
type DropUnsharded struct {
	NS      string
	Session Session
	Concern WriteConcern
	Place   Placement
}

// RenameUnsharded gives an unsharded collection another name in its database. DropTarget removes a
// collection that has the name; otherwise that is an errcode.NamespaceExists. Unchanged refuses it
// with errcode.OperationFailed if the collection that has the name, if any, has not exactly these
// Options of a client and these Indexes.
type RenameUnsharded struct {
	NS, To     string
	DropTarget bool
	Unchanged  bool
	Options    bson.Raw
	Indexes    []IndexSpec
	Session    Session
	Concern    WriteConcern
	Place      Placement
}

// IndexUnsharded makes an index of an unsharded collection, or with a nil Spec removes it;
// Written.N is 0 when there was nothing to do.
type IndexUnsharded struct {
	NS       string
	Name     string
	Spec     bson.Raw
	Implicit bool // as of an Insert; only with a Spec
	Session  Session
	Concern  WriteConcern
	Place    Placement
}

// OnUnsharded is a command about a whole unsharded collection: the namespace of that, the statement
// of a session by which it is executed once, if any, and a copy of the command for the place where
// a router believes it to be.
type OnUnsharded interface {
	Collection() string
	Statement() Session
	// Makes says that the collection is made if there is none, and its database, too.
	Makes() bool
	At(Placement) env.Message
}

// Collection implements OnUnsharded.
func (c CreateUnsharded) Collection() string { return c.NS }

// Statement implements OnUnsharded.
func (c CreateUnsharded) Statement() Session { return c.Session }

// Makes implements OnUnsharded.
func (c CreateUnsharded) Makes() bool { return true }

// At implements OnUnsharded.
func (c CreateUnsharded) At(p Placement) env.Message {
	c.Place = p
	return &c
}

// Collection implements OnUnsharded.
func (c DropUnsharded) Collection() string { return c.NS }

// Statement implements OnUnsharded.
func (c DropUnsharded) Statement() Session { return c.Session }

// Makes implements OnUnsharded.
func (c DropUnsharded) Makes() bool { return false }

// At implements OnUnsharded.
func (c DropUnsharded) At(p Placement) env.Message {
	c.Place = p
	return &c
}

// Collection implements OnUnsharded.
func (c RenameUnsharded) Collection() string { return c.NS }

// Statement implements OnUnsharded.
func (c RenameUnsharded) Statement() Session { return c.Session }

// Makes implements OnUnsharded.
func (c RenameUnsharded) Makes() bool { return false }

// At implements OnUnsharded.
func (c RenameUnsharded) At(p Placement) env.Message {
	c.Place = p
	return &c
}

// Collection implements OnUnsharded.
func (c IndexUnsharded) Collection() string { return c.NS }

// Statement implements OnUnsharded.
func (c IndexUnsharded) Statement() Session { return c.Session }

// Makes implements OnUnsharded.
func (c IndexUnsharded) Makes() bool { return c.Implicit }

// At implements OnUnsharded.
func (c IndexUnsharded) At(p Placement) env.Message {
	c.Place = p
	return &c
}

// ListUnsharded asks the primary of a shard for the collections of a database that it has.
type ListUnsharded struct{ Database string }

// UnshardedList answers ListUnsharded. Copies of sharded collections are among them.
type UnshardedList struct{ Collections []ListedCollection }

// ListedCollection is a collection of a shard: its namespace, how it was made ({uuid, key,
// options}) and its indexes besides that of the shard key.
type ListedCollection struct {
	NS      string
	Options bson.Raw
	Indexes []IndexSpec
}

// ReadCatalog reads all documents of a namespace of the database config with majority read concern
// at or after After, in the order of their _id. Any member of the config server may answer, with a
// Batch.
type ReadCatalog struct {
	NS    string
	After hlc.Timestamp
}

func init() {
	codec.Register[CreateDatabase]()
	codec.Register[CreateUnsharded]()
	codec.Register[DropUnsharded]()
	codec.Register[RenameUnsharded]()
	codec.Register[IndexUnsharded]()
	codec.Register[ListUnsharded]()
	codec.Register[UnshardedList]()
	codec.Register[ListedCollection]()
	codec.Register[ReadCatalog]()
}
