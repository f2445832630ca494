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
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

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
	elements, err := fields.Elements()
	if err != nil {
		return nil, err
	}
	plain := bson.D{}
	var computed []bson.RawElement
	for _, e := range elements {
		v := e.Value()
		if _, text := v.StringValueOK(); text || v.Type == bson.TypeEmbeddedDocument {
			computed = append(computed, e)
			continue
		}
		plain = append(plain, bson.E{Key: e.Key(), Value: v})
	}
	shown, err := bson.Marshal(plain)
	if err != nil {
		return nil, err
	}
	p, err := query.ParseProjection(shown)
	if err != nil {
		return nil, err
	}
	named := slices.ContainsFunc(plain, func(e bson.E) bool { return e.Key != "_id" })
	if len(computed) > 0 && !named {
		p = query.OnlyID(!slices.ContainsFunc(plain, func(e bson.E) bool {
			v, ok := e.Value.(bson.RawValue)
			return ok && !query.IsTrue(v)
		}))
	}
	return each(docs, func(doc bson.Raw) (bson.Raw, error) {
		made, err := p.Apply(doc)
		if err != nil {
			return nil, err
		}
		return compute(computed, doc, made)
	})
}

// compute sets fields of made to the values of expressions on doc.
func compute(fields []bson.RawElement, doc, made bson.Raw) (bson.Raw, error) {
	for _, e := range fields {
		v, found, err := query.Evaluate(e.Value(), doc)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		if made, err = query.Set(made, e.Key(), v); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func addFields(spec bson.RawValue, docs []bson.Raw) ([]bson.Raw, error) {
	fields, ok := spec.DocumentOK()
	if !ok {
		return nil, failure("$addFields takes a document, not %v", spec)
	}
	elements, err := fields.Elements()
	if err != nil {
		return nil, err
	}
	return each(docs, func(doc bson.Raw) (bson.Raw, error) { return compute(elements, doc, doc) })
}

func unset(spec bson.RawValue, docs []bson.Raw) ([]bson.Raw, error) {
	paths := []bson.RawValue{spec}
	if array, ok := spec.ArrayOK(); ok {
		var err error
		if paths, err = array.Values(); err != nil {
			return nil, err
		}
	}
	return each(docs, func(doc bson.Raw) (bson.Raw, error) {
		for _, v := range paths {
			path, ok := v.StringValueOK()
			if !ok {
				return nil, failure("$unset takes names of fields, not %v", v)
			}
			var err error
			if doc, err = query.Unset(doc, path); err != nil {
				return nil, err
			}
		}
		return doc, nil
	})
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

func unwind(spec bson.RawValue, docs []bson.Raw) (made []bson.Raw, err error) {
	path, ok := spec.StringValueOK()
	keep := false
	if fields, isDoc := spec.DocumentOK(); isDoc {
		path, ok = fields.Lookup("path").StringValueOK()
		keep, _ = fields.Lookup("preserveNullAndEmptyArrays").BooleanOK()
	}
	if !ok || len(path) < 2 || path[0] != '$' {
		return nil, failure("$unwind takes a path like \"$field\", not %v", spec)
	}
	for _, doc := range docs {
		v, _ := query.Lookup(doc, path[1:])
		values := []bson.RawValue{v}
		if array, ok := v.ArrayOK(); ok {
			if values, err = array.Values(); err != nil {
				return nil, err
			}
		} else if v.Type == bson.TypeNull {
			values = nil
		}
		if len(values) == 0 && keep {
			made = append(made, doc)
		}
		for _, v := range values {
			one, err := query.Set(doc, path[1:], v)
			if err != nil {
				return nil, err
			}
			made = append(made, one)
		}
	}
	return made, nil
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

func integer(n int64) bson.RawValue {
	if int64(int32(n)) == n {
		return bson.RawValue{Type: bson.TypeInt32, Value: bsoncore.AppendInt32(nil, int32(n))}
	}
	return bson.RawValue{Type: bson.TypeInt64, Value: bsoncore.AppendInt64(nil, n)}
}
