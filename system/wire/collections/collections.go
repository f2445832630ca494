// Package collections answers the commands about databases, collections and indexes as wholes.
//
// Promise: it lists sharded and unsharded collections alike; what it creates and removes is
// majority-committed before the answer.
//
// Refusal: indexes have no effect on queries; a database without collections is not listed, but
// keeps its primary shard.
package collections

import (
	"cmp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/wire/deployment"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

type service struct{ d *deployment.Deployment }

// Commands are the commands that are answered for one router, by name.
func Commands(d *deployment.Deployment) map[string]request.Handler {
	s := service{d}
	return map[string]request.Handler{
		"create":           s.create,
		"drop":             s.drop,
		"dropDatabase":     s.dropDatabase,
		"listDatabases":    s.listDatabases,
		"listCollections":  s.listCollections,
		"listIndexes":      s.listIndexes,
		"createIndexes":    s.createIndexes,
		"dropIndexes":      s.dropIndexes,
		"renameCollection": s.rename,
		"collStats":        s.collStats,
		"dbStats":          s.dbStats,
		"collMod":          s.collMod,
	}
}

// generic are arguments that every command may have.
var generic = map[string]bool{
	"lsid": true, "$db": true, "$clusterTime": true, "writeConcern": true, "txnNumber": true,
	"$readPreference": true, "maxTimeMS": true, "comment": true, "apiVersion": true,
	"apiStrict": true, "apiDeprecationErrors": true, "readConcern": true,
}

func (s service) create(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := r.Collection()
	if err != nil {
		return nil, err
	}
	if r.Has("viewOn") || r.Has("timeseries") || r.Has("encryptedFields") {
		return nil, errcode.New(reply.CommandNotSupported,
			"views, time series and encrypted collections are not supported")
	}
	if err := unlimited(r); err != nil {
		return nil, err
	}
	elements, err := r.Body.Elements()
	if err != nil {
		return nil, err
	}
	var options bson.D
	for _, e := range elements[1:] {
		if !generic[e.Key()] {
			options = append(options, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	var raw bson.Raw
	if len(options) > 0 {
		if raw, err = bson.Marshal(options); err != nil {
			return nil, err
		}
	}
	made, err := s.d.Create(t, ns, raw, true)
	if errcode.Is(err, errcode.IllegalOperation) {
		err = errcode.New(errcode.NamespaceExists, "collection %s exists and is sharded", ns)
	}
	if err != nil {
		return nil, err
	}
	return confirmed(made), nil
}

// confirmed is the answer to what was done; it says so if no majority has that in time.
func confirmed(w *command.Written, fields ...bson.E) bson.D {
	if w.ConcernError != "" {
		fields = append(fields, reply.ConcernError(w.ConcernError))
	}
	return reply.Result(fields...)
}

// unlimited refuses options that limit what a collection has, because nothing would enforce them.
func unlimited(r *request.Request) error {
	if r.Bool("capped", false) || r.Has("validator") || r.Has("expireAfterSeconds") {
		return errcode.New(reply.CommandNotSupported,
			"capped collections, validators and expiring documents are not supported")
	}
	return nil
}

func (s service) drop(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := r.Collection()
	if err != nil {
		return nil, err
	}
	dropped, err := s.d.Drop(t, ns)
	if err != nil {
		return nil, err
	}
	return confirmed(dropped,
		bson.E{Key: "nIndexesWas", Value: int32(1)}, bson.E{Key: "ns", Value: ns}), nil
}

func (s service) dropDatabase(t env.Task, r *request.Request) (bson.D, error) {
	if r.DB == "admin" || r.DB == "config" || r.DB == "local" {
		return nil, errcode.New(errcode.IllegalOperation, "database %s cannot be dropped", r.DB)
	}
	all, err := s.d.Collections(t, r.DB)
	if err != nil {
		return nil, err
	}
	dropped := &command.Written{}
	for _, c := range all {
		one, err := s.d.Drop(t, c.NS)
		if err != nil {
			return nil, err
		}
		dropped.ConcernError = cmp.Or(one.ConcernError, dropped.ConcernError)
	}
	return confirmed(dropped, bson.E{Key: "dropped", Value: r.DB}), nil
}

func (s service) listDatabases(t env.Task, r *request.Request) (bson.D, error) {
	docs, err := s.d.Catalog(t, configsvr.Databases)
	if err != nil {
		return nil, err
	}
	filter, err := r.Document("filter")
	if err != nil {
		return nil, err
	}
	names := []string{"admin", "config"}
	for _, doc := range docs {
		name, _ := doc.Lookup("_id").StringValueOK()
		all, err := s.d.Collections(t, name)
		if err != nil {
			return nil, err
		}
		if len(all) > 0 {
			names = append(names, name)
		}
	}
	list := bson.A{}
	for _, name := range names {
		doc, err := bson.Marshal(bson.D{
			{Key: "name", Value: name}, {Key: "sizeOnDisk", Value: int64(0)},
			{Key: "empty", Value: false},
		})
		if err != nil {
			return nil, err
		}
		ok, err := query.Match(filter, doc)
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, bson.Raw(doc))
		}
	}
	return reply.Result(
		bson.E{Key: "databases", Value: list}, bson.E{Key: "totalSize", Value: int64(0)}), nil
}

// inCatalog are the namespaces that can be read in the database config.
var inCatalog = []string{
	"config.actionlog", configsvr.Changelog, configsvr.Chunks, configsvr.Collections,
	configsvr.Databases, configsvr.Locks, configsvr.Migrations, configsvr.Settings,
	configsvr.Shards, configsvr.Tags, "config.version",
}

func (s service) namespaces(t env.Task, db string) ([]command.ListedCollection, error) {
	if db != "config" {
		return s.d.Collections(t, db)
	}
	var all []command.ListedCollection
	for _, ns := range inCatalog {
		all = append(all, command.ListedCollection{NS: ns})
	}
	return all, nil
}

func (s service) listCollections(t env.Task, r *request.Request) (bson.D, error) {
	all, err := s.namespaces(t, r.DB)
	if err != nil {
		return nil, err
	}
	filter, err := r.Document("filter")
	if err != nil {
		return nil, err
	}
	var docs []bson.Raw
	for _, c := range all {
		doc, err := listed(&c, r.Bool("nameOnly", false))
		if err != nil {
			return nil, err
		}
		ok, err := query.Match(filter, doc)
		if err != nil {
			return nil, err
		}
		if ok {
			docs = append(docs, doc)
		}
	}
	return whole(r.DB+".$cmd.listCollections", docs), nil
}

func listed(c *command.ListedCollection, nameOnly bool) (bson.Raw, error) {
	_, name, _ := strings.Cut(c.NS, ".")
	doc := bson.D{{Key: "name", Value: name}, {Key: "type", Value: "collection"}}
	if !nameOnly {
		options, _ := c.Options.Lookup("options").DocumentOK()
		if options == nil {
			options, _ = bson.Marshal(bson.D{})
		}
		doc = append(doc,
			bson.E{Key: "options", Value: options},
			bson.E{Key: "info", Value: bson.D{{Key: "readOnly", Value: false}}},
			bson.E{Key: "idIndex", Value: idIndex},
		)
	}
	return bson.Marshal(doc)
}

var idIndex = bson.D{
	{Key: "v", Value: int32(2)}, {Key: "key", Value: bson.D{{Key: "_id", Value: int32(1)}}},
	{Key: "name", Value: "_id_"},
}

// whole is a cursor that is exhausted with its first batch.
func whole(ns string, docs []bson.Raw) bson.D {
	batch := make(bson.A, len(docs))
	for i, doc := range docs {
		batch[i] = doc
	}
	return reply.Result(bson.E{Key: "cursor", Value: bson.D{
		{Key: "firstBatch", Value: batch}, {Key: "id", Value: int64(0)}, {Key: "ns", Value: ns},
	}})
}

func (s service) rename(t env.Task, r *request.Request) (bson.D, error) {
	from, err := r.Namespace(r.Name)
	if err != nil {
		return nil, err
	}
	to, err := r.Namespace("to")
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(deployment.Changeable(from), deployment.Changeable(to)); err != nil {
		return nil, err
	}
	drop := r.Bool("dropTarget", false)
	renamed, err := s.d.Alter(t, &command.RenameUnsharded{
		NS: from, To: to, DropTarget: drop, Concern: command.Majority,
	}, &command.RenameCollection{NS: from, To: to, DropTarget: drop})
	if err != nil {
		return nil, err
	}
	return confirmed(renamed), nil
}

func (s service) collStats(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := r.Collection()
	if err != nil {
		return nil, err
	}
	stats, err := deployment.Ask[command.CollStatsReply](t, s.d, &command.CollStats{NS: ns})
	if errcode.Is(err, errcode.NamespaceNotFound) {
		stats, err = &command.CollStatsReply{}, nil
	}
	if err != nil {
		return nil, err
	}
	var all command.ShardExtent
	shards := bson.D{}
	for _, x := range stats.Shards {
		all.Chunks += x.Chunks
		all.Documents += x.Documents
		all.Bytes += x.Bytes
		shards = append(shards, bson.E{Key: x.Shard, Value: append(
			bson.D{{Key: "ns", Value: ns}}, sizes(x)...)})
	}
	doc := append(bson.D{
		{Key: "ns", Value: ns}, {Key: "sharded", Value: stats.Sharded},
	}, sizes(all)...)
	return reply.Result(append(doc,
		bson.E{Key: "nchunks", Value: int64(all.Chunks)},
		bson.E{Key: "shards", Value: shards})...), nil
}

// sizes are the fields of statistics about documents.
func sizes(x command.ShardExtent) bson.D {
	return bson.D{
		{Key: "count", Value: x.Documents}, {Key: "size", Value: x.Bytes},
		{Key: "avgObjSize", Value: x.AvgObjSize()},
	}
}

func (s service) dbStats(t env.Task, r *request.Request) (bson.D, error) {
	all, err := s.namespaces(t, r.DB)
	return reply.Result(bson.E{Key: "db", Value: r.DB},
		bson.E{Key: "collections", Value: int32(len(all))}), err
}

// collMod changes nothing: collections have no options that have an effect.
func (s service) collMod(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := r.Collection()
	if err != nil {
		return nil, err
	}
	if err := unlimited(r); err != nil {
		return nil, err
	}
	if _, err := s.find(t, ns); err != nil {
		return nil, err
	}
	return reply.OK(), nil
}

func (s service) find(t env.Task, ns string) (*command.ListedCollection, error) {
	db, _, _ := strings.Cut(ns, ".")
	all, err := s.namespaces(t, db)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if c.NS == ns {
			return &c, nil
		}
	}
	return nil, errcode.New(errcode.NamespaceNotFound, "ns does not exist: %s", ns)
}
