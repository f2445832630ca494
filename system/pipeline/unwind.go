package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/query"
)

// unwinding is what a $unwind does with each document.
type unwinding struct {
	path, index string
	// keep also makes a document where there are no elements.
	keep bool
}

// unwind makes a document for each element of an array.
func unwind(spec bson.RawValue, docs []bson.Raw) (made []bson.Raw, err error) {
	u, err := parseUnwind(spec)
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		some, err := u.apply(doc)
		if err != nil {
			return nil, err
		}
		made = append(made, some...)
	}
	return made, nil
}

// parseUnwind reads "$path" or {path, includeArrayIndex, preserveNullAndEmptyArrays}.
func parseUnwind(spec bson.RawValue) (u unwinding, err error) {
	path, _ := spec.StringValueOK()
	if fields, ok := spec.DocumentOK(); ok {
		if path, err = u.read(fields); err != nil {
			return u, err
		}
	}
	if len(path) < 2 || path[0] != '$' {
		return u, failure("$unwind takes a path like \"$field\", not %v", spec)
	}
	u.path = path[1:]
	return u, nil
}

func (u *unwinding) read(fields bson.Raw) (path string, err error) {
	elements, err := fields.Elements()
	for _, e := range elements {
		right := false
		switch v := e.Value(); e.Key() {
		case "path":
			path, right = v.StringValueOK()
		case "includeArrayIndex":
			u.index, _ = v.StringValueOK()
			right = u.index != "" && !strings.HasPrefix(u.index, "$")
		case "preserveNullAndEmptyArrays":
			u.keep, right = v.BooleanOK()
		}
		if !right {
			return "", failure("$unwind takes no %s: %v", e.Key(), e.Value())
		}
	}
	return path, err
}

func (u unwinding) apply(doc bson.Raw) (made []bson.Raw, err error) {
	v, err := key.Lookup(doc, u.path)
	if err != nil { // it leads through an array, into which an $unwind does not look
		v = null
	}
	array, ok := v.ArrayOK()
	if !ok {
		return u.whole(doc, v.Type != bson.TypeNull)
	}
	values, err := array.Values()
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		if doc, err = query.Unset(doc, u.path); err != nil {
			return nil, err
		}
		return u.whole(doc, false)
	}
	for i, v := range values {
		one, err := query.Set(doc, u.path, v)
		if err == nil {
			one, err = u.numbered(one, bson.RawValue{
				Type: bson.TypeInt64, Value: bsoncore.AppendInt64(nil, int64(i)),
			})
		}
		if err != nil {
			return nil, err
		}
		made = append(made, one)
	}
	return made, nil
}

// whole is a document that is not in an array, if it has a value there or it is kept without.
func (u unwinding) whole(doc bson.Raw, value bool) ([]bson.Raw, error) {
	if !value && !u.keep {
		return nil, nil
	}
	one, err := u.numbered(doc, null)
	return []bson.Raw{one}, err
}

func (u unwinding) numbered(doc bson.Raw, index bson.RawValue) (bson.Raw, error) {
	if u.index == "" {
		return doc, nil
	}
	return query.Set(doc, u.index, index)
}
