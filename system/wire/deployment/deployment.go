// Package deployment is the cluster as commands of clients see it: the router that they are sent
// to, and behind it the config server and the shards for what no router serves.
//
// Promise: collections and databases are created by the first write to them, as clients expect; a
// request is answered in bounded time.
//
// Refusal: it knows nothing of the wire protocol.
package deployment

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/router"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/store"
)

// Deployment is a cluster behind one router, for tasks of the router's node.
type Deployment struct {
	Endpoint *rpc.Endpoint
	Config   *rpc.Set
	Shards   map[string]*rpc.Set
	Settings *settings.Settings
}

// Behind is the cluster that a router serves.
func Behind(r *router.Router) *Deployment {
	return &Deployment{r.Endpoint(), r.ConfigSet(), r.ShardSets(), r.Settings()}
}

// Ask sends a command to the router.
func Ask[Resp any](t env.Task, d *Deployment, req env.Message) (*Resp, error) {
	return rpc.Call[Resp](t, d.Endpoint, d.Endpoint.Node().ID(), req, d.patience())
}

// Move sends the router a command that moves data, or that waits until others have moved some, as
// an operation on a whole sharded collection does: it takes long.
func Move(t env.Task, d *Deployment, req env.Message) error {
	_, err := rpc.Call[command.Done](t, d.Endpoint, d.Endpoint.Node().ID(), req,
		2*d.Settings.MoveWait)
	return err
}

// ledTries is how often it is asked in all for what only a primary answers, and ledPause how long
// the next one has to be elected before.
const (
	ledTries = 10
	ledPause = time.Second
)

// MoveOn is Move for a command that may be repeated, as what has moved already is where it should
// be: a primary that ends meanwhile is no reason to fail. Its successor goes on with what it has
// begun, or begins again.
func MoveOn(t env.Task, d *Deployment, req env.Message) error {
	return untilLed(t, func() error { return Move(t, d, req) }, errcode.HostUnreachable,
		errcode.NotWritablePrimary, errcode.PrimarySteppedDown,
		errcode.InterruptedDueToReplStateChange)
}

// untilLed asks again as long as one of the failures is the answer, by which there is no primary
// just now.
func untilLed(t env.Task, ask func() error, failures ...errcode.Code) error {
	for tries := 1; ; tries++ {
		err := ask()
		if !errcode.Is(err, failures...) || tries == ledTries {
			return err
		}
		if err := t.Sleep(ledPause); err != nil {
			return err
		}
	}
}

// patience is how long the router may take; its own retries end earlier.
func (d *Deployment) patience() time.Duration {
	return d.Settings.AttemptTimeout + d.Settings.CommandTimeout + d.Settings.WriteConcernTimeout
}

// AskConfig sends a command to the primary of the config server. One that a member has refused
// because it is not the primary, any more, it sends again.
func AskConfig[Resp any](t env.Task, d *Deployment, req env.Message) (resp *Resp, err error) {
	err = untilLed(t, func() error {
		resp, err = rpc.CallPrimary[Resp](t, d.Config, req, d.Settings.MoveWait)
		return err
	}, errcode.NotWritablePrimary)
	return resp, err
}

// Catalog reads a namespace of the database config.
func (d *Deployment) Catalog(t env.Task, ns string) ([]bson.Raw, error) {
	batch, err := Ask[command.Batch](t, d, &command.ReadCatalog{NS: ns})
	if err != nil {
		return nil, err
	}
	return batch.Docs, nil
}

// farAhead is by how much a client's cluster time may be ahead of the node's clock: the time is not
// signed, and a wrong one could never be corrected.
const farAhead = time.Minute

// FarAhead is the latest cluster time that is taken from a client.
func (d *Deployment) FarAhead() hlc.Timestamp {
	return hlc.At(int64(d.Endpoint.Node().Now().Add(farAhead)) / int64(time.Millisecond))
}

// Changeable refuses a namespace in which servers keep what they know. What clients read of it is
// the config server's; a write would get to a shard, which has records of its own under such names,
// or change nothing and be acknowledged.
func Changeable(ns string) error {
	if !catalog.IsInternal(ns) {
		return nil
	}
	return errcode.New(errcode.BadValue,
		"%s belongs to the servers: use their commands to change what it says", ns)
}

// Table reads the routing table of a collection.
func (d *Deployment) Table(t env.Task, ns string) (*catalog.Table, error) {
	req := &command.GetRoutingTable{NS: ns, After: d.Endpoint.Clock().Now().Config}
	update, err := rpc.CallSure[command.RoutingUpdate](t, d.Config, req, d.Settings.CommandTimeout)
	if err != nil {
		return nil, err
	}
	return catalog.NewTable(update.Collection, update.Chunks)
}

// Database reads a database and the names of its sharded collections.
func (d *Deployment) Database(t env.Task, name string) (*command.DatabaseReply, error) {
	req := &command.GetDatabase{Name: name, After: d.Endpoint.Clock().Now().Config}
	return rpc.CallSure[command.DatabaseReply](t, d.Config, req, d.Settings.CommandTimeout)
}

// Collections lists the collections of a database, by namespace: those of the primary shard, and
// the sharded ones as their first owner has them.
func (d *Deployment) Collections(t env.Task, name string) ([]command.ListedCollection, error) {
	db, all, err := d.onPrimary(t, name)
	if errcode.Is(err, errcode.NamespaceNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c command.ListedCollection) bool {
		return slices.Contains(db.Sharded, c.NS)
	})
	for _, ns := range db.Sharded {
		one, err := d.sharded(t, ns)
		if errcode.Is(err, errcode.NamespaceNotFound) {
			continue // it was dropped since the catalog named it
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b command.ListedCollection) int {
		if a.NS < b.NS {
			return -1
		}
		return 1
	})
	return all, nil
}

// onPrimary is a database, and what its primary shard has of it. Nothing in the question says which
// version of the database is meant: a shard that has given it away answers all the same, and with
// the config time from which on the catalog says so.
func (d *Deployment) onPrimary(
	t env.Task, name string,
) (*command.DatabaseReply, []command.ListedCollection, error) {
	known, err := d.Database(t, name)
	for range mostTries {
		if err != nil {
			return nil, nil, err
		}
		all, err := d.listOn(t, known.Database.Primary, name)
		if err != nil {
			return nil, nil, err
		}
		asked := known.Database.Version
		if known, err = d.Database(t, name); err != nil || known.Database.Version == asked {
			return known, all, err
		}
	}
	return nil, nil, errcode.New(errcode.StaleDbVersion, "the primary of %s keeps moving", name)
}

func (d *Deployment) listOn(
	t env.Task, shard, database string,
) ([]command.ListedCollection, error) {
	set := d.Shards[shard]
	if set == nil {
		return nil, errcode.New(errcode.ShardNotFound, "there is no shard %q", shard)
	}
	list, err := rpc.AskPrimary[command.UnshardedList](t, set,
		&command.ListUnsharded{Database: database}, d.Settings.CommandTimeout)
	if err != nil {
		return nil, err
	}
	return list.Collections, nil
}

func (d *Deployment) sharded(t env.Task, ns string) (one command.ListedCollection, err error) {
	one.NS = ns
	table, err := d.Table(t, ns)
	if err == nil && table.Collection().Unsharded {
		err = errcode.New(errcode.NamespaceNotFound, "collection %s is not sharded any more", ns)
	}
	if err != nil {
		return one, err
	}
	list, err := d.listOn(t, table.Shards()[0], catalog.DatabaseOf(ns))
	for _, c := range list {
		if c.NS == ns {
			one = c
		}
	}
	return one, err
}

// Identity is the UUID of the collection that has the name now, which no other collection with that
// name has had or will have; it is empty if there is none.
func (d *Deployment) Identity(t env.Task, ns string) (uuid string, err error) {
	table, err := d.Table(t, ns)
	if err == nil && !table.Collection().Unsharded {
		return table.Collection().UUID, nil
	}
	var all []command.ListedCollection
	if err == nil {
		_, all, err = d.onPrimary(t, catalog.DatabaseOf(ns))
	}
	for _, c := range all {
		if c.NS == ns && err == nil {
			uuid, _, err = store.DecodeOptions(c.Options)
		}
	}
	if errcode.Is(err, errcode.NamespaceNotFound) {
		err = nil
	}
	return uuid, err
}

// Create makes sure that the database and the collection exist. Options are the client's; exclusive
// refuses a collection that exists. A ConcernError says that no majority has it in time.
func (d *Deployment) Create(
	t env.Task, ns string, options bson.Raw, exclusive bool,
) (*command.Written, error) {
	if err := Changeable(ns); err != nil {
		return nil, err
	}
	return Ask[command.Written](t, d, &command.CreateUnsharded{
		NS: ns, Options: options, Exclusive: exclusive, Concern: command.Majority,
	})
}

// Drop removes a collection, sharded or not, if there is one. A ConcernError is as Create has it.
func (d *Deployment) Drop(t env.Task, ns string) (*command.Written, error) {
	if err := Changeable(ns); err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		req := &command.DropUnsharded{NS: ns, Concern: command.Majority}
		dropped, err := Ask[command.Written](t, d, req)
		switch {
		case err == nil:
			return dropped, nil
		case errcode.Is(err, errcode.NamespaceNotFound):
			return &command.Written{}, nil
		case !errcode.Is(err, errcode.IllegalOperation):
			return nil, err
		}
		// The router may have been told so before the collection was dropped and made again.
		err = Move(t, d, &command.DropCollection{NS: ns, Sharded: true})
		if !errcode.Is(err, errcode.NamespaceNotFound) || tries == mostTries {
			return &command.Written{N: 1}, err
		}
	}
}

// Alter sends one command if the collection is unsharded, and the other if it is sharded. That it
// is neither means that it has become the other meanwhile or, by the first refusal, that another
// collection is in the way which is sharded.
func (d *Deployment) Alter(t env.Task, unsharded, sharded env.Message) (*command.Written, error) {
	for tries := 1; ; tries++ {
		altered, refused := Ask[command.Written](t, d, unsharded)
		if !errcode.Is(refused, errcode.IllegalOperation) {
			return altered, refused
		}
		err := Move(t, d, sharded)
		if !errcode.Is(err, errcode.NamespaceNotFound) {
			return &command.Written{}, err
		}
		if tries == mostTries {
			return nil, refused
		}
	}
}

// mostTries is how often a collection is taken for sharded, or not, that has become the other.
const mostTries = 5
