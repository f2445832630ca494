// Package pipeline evaluates the stages of an aggregation on documents. It is pure.
//
// Promise: the result depends on stages and documents alone, in the order in which they are given.
//
// Refusal: everything is in memory; what is not supported is an error that names the stage or the
// operator.
package pipeline

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/query"
)

// stage makes documents from documents.
type stage func(spec bson.RawValue, docs []bson.Raw) ([]bson.Raw, error)

var stages = map[string]stage{
	"$match":       match,
	"$project":     project,
	"$addFields":   addFields,
	"$set":         addFields,
	"$unset":       unset,
	"$sort":        sort,
	"$limit":       limit,
	"$skip":        skip,
	"$count":       count,
	"$group":       group,
	"$unwind":      unwind,
	"$replaceRoot": replaceRoot,
	"$replaceWith": replaceWith,
	"$sortByCount": sortByCount,
	"$sample":      sample,
	"$documents":   documents,
	// These lists are empty: no server lists its operations or sessions.
	"$currentOp":         nothing,
	"$listLocalSessions": nothing,
	"$listSessions":      nothing,
}

var null = bson.RawValue{Type: bson.TypeNull}

func failure(format string, args ...any) error {
	return errcode.New(errcode.BadValue, format, args...)
}

// Run passes the documents through the stages, one after the other.
func Run(list []bson.Raw, docs []bson.Raw) ([]bson.Raw, error) {
	for _, s := range list {
		elements, err := s.Elements()
		if err != nil {
			return nil, err
		}
		if len(elements) != 1 {
			return nil, errcode.New("Location40323",
				"a pipeline stage has exactly one field, not %v", s)
		}
		run := stages[elements[0].Key()]
		if run == nil {
			return nil, errcode.New("Location40324", "Unrecognized pipeline stage name: '%s'",
				elements[0].Key())
		}
		if docs, err = run(elements[0].Value(), docs); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

func nothing(bson.RawValue, []bson.Raw) ([]bson.Raw, error) { return nil, nil }

func match(spec bson.RawValue, docs []bson.Raw) (kept []bson.Raw, err error) {
	filter, ok := spec.DocumentOK()
	if !ok {
		return nil, failure("$match takes a filter, not %v", spec)
	}
	for _, doc := range docs {
		ok, err := query.Match(filter, doc)
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, doc)
		}
	}
	return kept, nil
}

// each makes one document of each.
func each(docs []bson.Raw, fn func(bson.Raw) (bson.Raw, error)) ([]bson.Raw, error) {
	made := make([]bson.Raw, len(docs))
	for i, doc := range docs {
		var err error
		if made[i], err = fn(doc); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// project shows fields, and computes those that are expressions.
func project(spec bson.RawValue, docs []bson.Raw) ([]bson.Raw, error) {
	fields, ok := spec.DocumentOK()
	if !ok {
		return nil, failure("$project takes a document, not %v", spec)
	}
	p, err := query.ParseProjection(fields)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, failure("$project must name at least one field")
	}
	return each(docs, p.Apply)
}

func addFields(spec bson.RawValue, docs []bson.Raw) ([]bson.Raw, error) {
	fields, ok := spec.DocumentOK()
	if !ok {
		return nil, failure("$addFields takes a document, not %v", spec)
	}
	computed, err := query.ParseComputed(fields)
	if err != nil {
		return nil, err
	}
	return each(docs, func(doc bson.Raw) (bson.Raw, error) { return computed.Apply(doc, doc) })
}

// unset is a $project that hides the paths.
func unset(spec bson.RawValue, docs []bson.Raw) ([]bson.Raw, error) {
	paths := []bson.RawValue{spec}
	if array, ok := spec.ArrayOK(); ok {
		var err error
		if paths, err = array.Values(); err != nil {
			return nil, err
		}
	}
	if len(paths) == 0 {
		return nil, failure("$unset must name at least one field")
	}
	hidden := bson.D{}
	for _, v := range paths {
		path, ok := v.StringValueOK()
		if !ok {
			return nil, failure("$unset takes names of fields, not %v", v)
		}
		hidden = append(hidden, bson.E{Key: path, Value: false})
	}
	raw, err := bson.Marshal(hidden)
	if err != nil {
		return nil, err
	}
	return project(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw}, docs)
}

func sort(spec bson.RawValue, docs []bson.Raw) ([]bson.Raw, error) {
	by, ok := spec.DocumentOK()
	if !ok {
		return nil, failure("$sort takes a document, not %v", spec)
	}
	order, err := query.ParseOrder(by)
	if err != nil {
		return nil, err
	}
	docs = slices.Clone(docs)
	slices.SortStableFunc(docs, order.Compare)
	return docs, nil
}

func number(name string, spec bson.RawValue) (int, error) {
	n, ok := spec.AsInt64OK()
	if !ok || n < 0 {
		return 0, failure("%s takes a whole number from 0 on, not %v", name, spec)
	}
	return int(n), nil
}

func limit(spec bson.RawValue, docs []bson.Raw) ([]bson.Raw, error) {
	n, err := number("$limit", spec)
	return docs[:min(n, len(docs))], err
}

func skip(spec bson.RawValue, docs []bson.Raw) ([]bson.Raw, error) {
	n, err := number("$skip", spec)
	return docs[min(n, len(docs)):], err
}

// sample returns the first documents: which ones it returns is unspecified.
func sample(spec bson.RawValue, docs []bson.Raw) ([]bson.Raw, error) {
	fields, _ := spec.DocumentOK()
	n, err := number("$sample", fields.Lookup("size"))
	return docs[:min(n, len(docs))], err
}

func count(spec bson.RawValue, docs []bson.Raw) ([]bson.Raw, error) {
	name, ok := spec.StringValueOK()
	if !ok || name == "" {
		return nil, failure("$count takes the name of a field, not %v", spec)
	}
	if len(docs) == 0 {
		return nil, nil
	}
	doc, err := bson.Marshal(bson.D{{Key: name, Value: int32(len(docs))}})
	return []bson.Raw{doc}, err
}

func documents(spec bson.RawValue, _ []bson.Raw) (docs []bson.Raw, err error) {
	array, ok := spec.ArrayOK()
	if !ok {
		return nil, failure("$documents takes an array, not %v", spec)
	}
	values, err := array.Values()
	for _, v := range values {
		doc, ok := v.DocumentOK()
		if !ok {
			return nil, failure("$documents takes an array of documents, not %v", v)
		}
		docs = append(docs, doc)
	}
	return docs, err
}

func replaceRoot(spec bson.RawValue, docs []bson.Raw) ([]bson.Raw, error) {
	fields, ok := spec.DocumentOK()
	if !ok {
		return nil, failure("$replaceRoot takes {newRoot: expression}, not %v", spec)
	}
	return replaceWith(fields.Lookup("newRoot"), docs)
}

func replaceWith(spec bson.RawValue, docs []bson.Raw) ([]bson.Raw, error) {
	return each(docs, func(doc bson.Raw) (bson.Raw, error) {
		v, _, err := query.Evaluate(spec, doc)
		if err != nil {
			return nil, err
		}
		root, ok := v.DocumentOK()
		if !ok {
			return nil, failure("a new root must be a document, not %v", v)
		}
		return root, nil
	})
}

func sortByCount(spec bson.RawValue, docs []bson.Raw) ([]bson.Raw, error) {
	doc, err := bson.Marshal(bson.D{
		{Key: "_id", Value: spec},
		{Key: "count", Value: bson.D{{Key: "$sum", Value: int32(1)}}},
	})
	if err != nil {
		return nil, err
	}
	groups, err := group(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}, docs)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(groups, query.Order{{Path: "count", Descending: true}}.Compare)
	return groups, nil
}
