// Package sharding answers the commands by which operators distribute data over shards.
//
// Promise: each is the store's own command of the same name, with the arguments that MongoDB's
// shell sends; shardCollection makes the database as well.
//
// Refusal: shard keys have one field.
package sharding

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/wire/deployment"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

type service struct{ d *deployment.Deployment }

// Commands are the commands that are answered for one router, by name.
func Commands(d *deployment.Deployment) map[string]request.Handler {
	s := service{d}
	return map[string]request.Handler{
		"enableSharding":           s.enableSharding,
		"shardCollection":          s.shardCollection,
		"moveChunk":                s.onChunks(moveChunk, millis),
		"moveRange":                s.onChunks(moveRange),
		"split":                    s.split,
		"mergeChunks":              s.onChunks(mergeChunks),
		"movePrimary":              s.movePrimary,
		"balancerStart":            s.balancerStart,
		"balancerStop":             s.balancerStop,
		"balancerStatus":           s.balancerStatus,
		"balancerCollectionStatus": s.balancerCollectionStatus,
		"listShards":               s.listShards,
		"addShard":                 s.addShard,
		"removeShard":              s.removeShard,
		"addShardToZone":           s.addShardToZone,
		"removeShardFromZone":      s.removeShardFromZone,
		"updateZoneKeyRange":       s.updateZoneKeyRange,
		"flushRouterConfig":        done,
		"replSetStepDown":          s.stepDown,
	}
}

func done(env.Task, *request.Request) (bson.D, error) { return reply.OK(), nil }

// namespace is the first argument of a command about a collection, "database.collection".
func namespace(r *request.Request) (string, error) { return r.Namespace(r.Name) }

func (s service) enableSharding(t env.Task, r *request.Request) (bson.D, error) {
	name, err := r.Text(r.Name, "")
	if err != nil {
		return nil, err
	}
	return reply.OK(), s.createDatabase(t, name)
}

func (s service) createDatabase(t env.Task, name string) error {
	_, err := deployment.AskConfig[command.DatabaseReply](t, s.d,
		&command.CreateDatabase{Name: name})
	return err
}

// shardCollection makes a sharded collection in place of an empty one, and its database if there is
// none: only a collection whose database has an entry in the catalog is listed.
func (s service) shardCollection(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := namespace(r)
	if err != nil {
		return nil, err
	}
	spec, err := r.Document("key")
	if err != nil {
		return nil, err
	}
	pattern, err := key.PatternOf(spec)
	if err != nil {
		return nil, err
	}
	if !isPath(pattern.Field) {
		return nil, errcode.New(errcode.BadValue,
			"the shard key %v leads through a name that is empty or begins with $", spec)
	}
	if r.Bool("unique", false) && (pattern.Field != "_id" || pattern.Hashed) {
		return nil, errcode.New(reply.CommandNotSupported,
			"only the index on _id can be unique: shard key %v would let duplicates in", spec)
	}
	chunks, err := r.Int("numInitialChunks", 0)
	if err != nil {
		return nil, err
	}
	db := catalog.DatabaseOf(ns)
	if db == "admin" || db == "config" || db == "local" {
		return nil, errcode.New(errcode.IllegalOperation,
			"collections of database %s cannot be sharded", db)
	}
	if err := s.createDatabase(t, db); err != nil {
		return nil, err
	}
	err = deployment.Move(t, s.d, &command.ShardCollection{
		NS: ns, Key: pattern, InitialChunks: int(chunks),
	})
	return reply.Result(bson.E{Key: "collectionsharded", Value: ns}), err
}

// isPath reports whether filters can ask for the field: the router finds documents by its value.
func isPath(field string) bool {
	for name := range strings.SplitSeq(field, ".") {
		if name == "" || strings.HasPrefix(name, "$") {
			return false
		}
	}
	return true
}

// pattern is the shard key of a sharded collection.
func (s service) pattern(t env.Task, ns string) (key.Pattern, error) {
	table, err := s.table(t, ns)
	if err != nil {
		return key.Pattern{}, err
	}
	return table.Collection().Key, nil
}

// table is the routing table of a sharded collection.
func (s service) table(t env.Task, ns string) (*catalog.Table, error) {
	table, err := s.d.Table(t, ns)
	if err == nil && table.Collection().Unsharded {
		err = errcode.New(errcode.NamespaceNotFound, "collection %s is not sharded", ns)
	}
	return table, err
}

// bound is a bound of chunks, as documents of config.chunks have it.
func bound(p key.Pattern, doc bson.Raw) (key.Key, error) {
	v, err := doc.LookupErr(p.Field)
	if err != nil {
		return "", errcode.New(errcode.ShardKeyNotFound, "%v has no value of the shard key %s",
			doc, p.Field)
	}
	return key.Encode(v)
}

// bounds reads the argument of that name: the two bounds of a range.
func bounds(r *request.Request, p key.Pattern) (rng key.Range, err error) {
	docs, err := r.Documents("bounds")
	if err != nil {
		return rng, err
	}
	if len(docs) != 2 {
		return rng, errcode.New(errcode.BadValue, "bounds are two documents, not %d", len(docs))
	}
	if rng.Min, err = bound(p, docs[0]); err != nil {
		return rng, err
	}
	rng.Max, err = bound(p, docs[1])
	return rng, err
}

// onChunks is the handler of a command that moves or merges chunks of a sharded collection:
// read makes of its arguments what the router is sent. More is what a success answers besides.
func (s service) onChunks(
	read func(r *request.Request, ns string, p key.Pattern) (env.Message, error), more ...bson.E,
) request.Handler {
	return func(t env.Task, r *request.Request) (bson.D, error) {
		ns, err := namespace(r)
		if err != nil {
			return nil, err
		}
		p, err := s.pattern(t, ns)
		if err != nil {
			return nil, err
		}
		req, err := read(r, ns, p)
		if err != nil {
			return nil, err
		}
		return reply.Result(more...), deployment.MoveOn(t, s.d, req)
	}
}

// millis is how long a move took, which nobody measures here.
var millis = bson.E{Key: "millis", Value: int64(0)}

// moving is what moveChunk and moveRange have in common.
func moving(r *request.Request, ns string) (move *command.MoveRange, err error) {
	move = &command.MoveRange{
		NS: ns, WaitDelete: r.Bool("_waitForDelete", r.Bool("waitForDelete", false)),
	}
	if r.Bool("forceJumbo", false) {
		move.ForceJumbo = command.ForceManual
	}
	move.Throttle, err = throttle(r)
	return move, err
}

// throttle is what the recipient waits for after each batch: with secondaryThrottle for one
// secondary, unless writeConcern asks for others, and without it for none (protocol 16).
func throttle(r *request.Request) (wc command.WriteConcern, err error) {
	const primaryAndSecondary = 2
	doc, err := r.Document("writeConcern")
	if err != nil || !r.Bool("_secondaryThrottle", r.Bool("secondaryThrottle", false)) {
		return wc, err
	}
	if !request.Has(doc, "w") {
		return command.WriteConcern{W: primaryAndSecondary}, nil
	}
	return request.WriteConcern(doc)
}

func moveChunk(r *request.Request, ns string, p key.Pattern) (_ env.Message, err error) {
	move, err := moving(r, ns)
	if err != nil {
		return nil, err
	}
	if move.To, err = r.Text("to", ""); err != nil {
		return nil, err
	}
	if !r.Has("bounds") {
		move.Find, err = found(r, p, "find")
		return move, err
	}
	rng, err := bounds(r, p)
	move.Min, move.Max = rng.Min, rng.Max
	return move, err
}

// found is the shard key of the document that an argument describes.
func found(r *request.Request, p key.Pattern, name string) (key.Key, error) {
	doc, err := r.Document(name)
	if err != nil {
		return "", err
	}
	v, err := doc.LookupErr(p.Field)
	if err != nil {
		return "", errcode.New(errcode.ShardKeyNotFound, "%s %v has no value of the shard key %s",
			name, doc, p.Field)
	}
	return p.OfValue(v)
}

func moveRange(r *request.Request, ns string, p key.Pattern) (_ env.Message, err error) {
	move, err := moving(r, ns)
	if err != nil {
		return nil, err
	}
	if move.To, err = r.Text("toShard", ""); err != nil {
		return nil, err
	}
	if move.Min, err = optionalBound(r, p, "min"); err != nil {
		return nil, err
	}
	move.Max, err = optionalBound(r, p, "max")
	return move, err
}

func optionalBound(r *request.Request, p key.Pattern, name string) (key.Key, error) {
	doc, err := r.Document(name)
	if err != nil || doc == nil {
		return "", err
	}
	return bound(p, doc)
}

// split cuts a chunk. Where one begins already, nothing would be cut: tools that repeat a split
// know that by the words of the refusal.
func (s service) split(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := namespace(r)
	if err != nil {
		return nil, err
	}
	table, err := s.table(t, ns)
	if err != nil {
		return nil, err
	}
	middle, err := r.Document("middle")
	if err != nil {
		return nil, err
	}
	if middle == nil {
		return nil, errcode.New(errcode.BadValue, "say by middle where to split")
	}
	at, err := bound(table.Collection().Key, middle)
	if err != nil {
		return nil, err
	}
	if chunk := table.Owner(at); chunk.Min == at {
		return nil, errcode.New(errcode.BadValue,
			"new split key %v is a boundary key of existing chunk %v", middle, chunk.Range)
	}
	return reply.OK(), deployment.Move(t, s.d, &command.SplitChunk{NS: ns, At: at})
}

func mergeChunks(r *request.Request, ns string, p key.Pattern) (env.Message, error) {
	rng, err := bounds(r, p)
	return &command.MergeChunks{NS: ns, Min: rng.Min, Max: rng.Max}, err
}

func (s service) movePrimary(t env.Task, r *request.Request) (bson.D, error) {
	name, err := r.Text(r.Name, "")
	if err != nil {
		return nil, err
	}
	to, err := r.Text("to", "")
	if err != nil {
		return nil, err
	}
	return reply.OK(), deployment.MoveOn(t, s.d, &command.MovePrimary{Database: name, To: to})
}

func (s service) listShards(t env.Task, _ *request.Request) (bson.D, error) {
	docs, err := s.d.Catalog(t, configsvr.Shards)
	if err != nil {
		return nil, err
	}
	list := bson.A{}
	for _, doc := range docs {
		list = append(list, doc)
	}
	return reply.Result(bson.E{Key: "shards", Value: list}), nil
}
