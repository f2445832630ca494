// Package sharding answers the commands by which operators distribute data over shards.
//
// Promise: each is the store's own command of the same name, with the arguments that MongoDB's
// shell sends.
//
// Refusal: shard keys have one field.
package sharding

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/wire/deployment"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

// Service answers for one router.
type Service struct{ d *deployment.Deployment }

// New is the service over a deployment.
func New(d *deployment.Deployment) *Service { return &Service{d} }

// Commands are the commands that the service answers, by name.
func (s *Service) Commands() map[string]request.Handler {
	return map[string]request.Handler{
		"enableSharding":           s.enableSharding,
		"shardCollection":          s.shardCollection,
		"moveChunk":                s.moveChunk,
		"moveRange":                s.moveRange,
		"split":                    s.split,
		"mergeChunks":              s.mergeChunks,
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
func namespace(r *request.Request) (string, error) {
	ns, err := r.Text(r.Name, "")
	if err == nil && ns == "" {
		err = errcode.New(reply.InvalidNamespace, "%s takes a namespace", r.Name)
	}
	return ns, err
}

func (s *Service) enableSharding(t env.Task, r *request.Request) (bson.D, error) {
	name, err := r.Text(r.Name, "")
	if err != nil {
		return nil, err
	}
	_, err = deployment.AskConfig[command.DatabaseReply](t, s.d,
		&command.CreateDatabase{Name: name})
	return reply.OK(), err
}

// shardCollection makes a sharded collection in place of an empty one.
func (s *Service) shardCollection(t env.Task, r *request.Request) (bson.D, error) {
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
	chunks, err := r.Int("numInitialChunks", 0)
	if err != nil {
		return nil, err
	}
	if err := s.makeRoom(t, ns); err != nil {
		return nil, err
	}
	_, err = deployment.Ask[command.Done](t, s.d, &command.ShardCollection{
		NS: ns, Key: pattern, InitialChunks: int(chunks),
	})
	return reply.Result(bson.E{Key: "collectionsharded", Value: ns}), err
}

// makeRoom removes an unsharded collection of the name, which must be empty.
func (s *Service) makeRoom(t env.Task, ns string) error {
	table, err := s.d.Table(t, ns)
	if errcode.Is(err, errcode.NamespaceNotFound) {
		return nil
	}
	if err != nil || !table.Collection().Unsharded {
		return err
	}
	found, err := deployment.Ask[command.Batch](t, s.d,
		&command.Find{NS: ns, BatchSize: 1, Concern: command.Local})
	if err != nil {
		return err
	}
	if len(found.Docs) > 0 {
		return errcode.New(errcode.IllegalOperation,
			"collection %s has documents: only an empty collection can be sharded", ns)
	}
	_, err = s.d.Drop(t, ns)
	return err
}

// pattern is the shard key of a sharded collection.
func (s *Service) pattern(t env.Task, ns string) (key.Pattern, error) {
	table, err := s.d.Table(t, ns)
	if err != nil {
		return key.Pattern{}, err
	}
	if table.Collection().Unsharded {
		return key.Pattern{}, errcode.New(errcode.NamespaceNotFound,
			"collection %s is not sharded", ns)
	}
	return table.Collection().Key, nil
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

func bounds(p key.Pattern, docs []bson.Raw) (r key.Range, err error) {
	if len(docs) != 2 {
		return r, errcode.New(errcode.BadValue, "bounds are two documents, not %d", len(docs))
	}
	if r.Min, err = bound(p, docs[0]); err != nil {
		return r, err
	}
	r.Max, err = bound(p, docs[1])
	return r, err
}

func (s *Service) moveChunk(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := namespace(r)
	if err != nil {
		return nil, err
	}
	p, err := s.pattern(t, ns)
	if err != nil {
		return nil, err
	}
	move := &command.MoveRange{NS: ns, WaitDelete: r.Bool("_waitForDelete", false)}
	if move.To, err = r.Text("to", ""); err != nil {
		return nil, err
	}
	if r.Bool("forceJumbo", false) {
		move.ForceJumbo = command.ForceManual
	}
	if r.Has("bounds") {
		docs, err := r.Documents("bounds")
		if err != nil {
			return nil, err
		}
		rng, err := bounds(p, docs)
		if err != nil {
			return nil, err
		}
		move.Min, move.Max = rng.Min, rng.Max
	} else if move.Find, err = s.found(r, p, "find"); err != nil {
		return nil, err
	}
	return reply.Result(bson.E{Key: "millis", Value: int64(0)}), deployment.Move(t, s.d, move)
}

// found is the shard key of the document that an argument describes.
func (s *Service) found(r *request.Request, p key.Pattern, name string) (key.Key, error) {
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

func (s *Service) moveRange(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := namespace(r)
	if err != nil {
		return nil, err
	}
	p, err := s.pattern(t, ns)
	if err != nil {
		return nil, err
	}
	move := &command.MoveRange{NS: ns, WaitDelete: r.Bool("_waitForDelete", false)}
	if move.To, err = r.Text("toShard", ""); err != nil {
		return nil, err
	}
	if move.Min, err = optionalBound(r, p, "min"); err != nil {
		return nil, err
	}
	if move.Max, err = optionalBound(r, p, "max"); err != nil {
		return nil, err
	}
	if move.Max == "" && r.Has("min") {
		move.Find, move.Min = move.Min, ""
	}
	return reply.OK(), deployment.Move(t, s.d, move)
}

func optionalBound(r *request.Request, p key.Pattern, name string) (key.Key, error) {
	doc, err := r.Document(name)
	if err != nil || doc == nil {
		return "", err
	}
	return bound(p, doc)
}

func (s *Service) split(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := namespace(r)
	if err != nil {
		return nil, err
	}
	p, err := s.pattern(t, ns)
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
	at, err := bound(p, middle)
	if err != nil {
		return nil, err
	}
	return reply.OK(), deployment.Move(t, s.d, &command.SplitChunk{NS: ns, At: at})
}

func (s *Service) mergeChunks(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := namespace(r)
	if err != nil {
		return nil, err
	}
	p, err := s.pattern(t, ns)
	if err != nil {
		return nil, err
	}
	docs, err := r.Documents("bounds")
	if err != nil {
		return nil, err
	}
	rng, err := bounds(p, docs)
	if err != nil {
		return nil, err
	}
	merge := &command.MergeChunks{NS: ns, Min: rng.Min, Max: rng.Max}
	return reply.OK(), deployment.Move(t, s.d, merge)
}

func (s *Service) movePrimary(t env.Task, r *request.Request) (bson.D, error) {
	name, err := r.Text(r.Name, "")
	if err != nil {
		return nil, err
	}
	to, err := r.Text("to", "")
	if err != nil {
		return nil, err
	}
	return reply.OK(), deployment.Move(t, s.d, &command.MovePrimary{Database: name, To: to})
}

func (s *Service) listShards(t env.Task, _ *request.Request) (bson.D, error) {
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
