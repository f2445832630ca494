package query

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/document"
)

// field is what a dotted path leads to in a document: nothing, one value, or through arrays many.
type field struct {
	doc  bson.Raw
	path string
}

func fieldAt(doc bson.Raw, path string) field { return field{doc, path} }

// any reports whether a value, or an element of an array, satisfies the condition; a missing value
// counts as null.
func (f field) any(condition func(bson.RawValue) bool) bool {
	return eachAt(f.doc, f.path, func(v bson.RawValue, exists bool) bool {
		if !exists {
			return condition(nullValue)
		}
		return condition(v) || anyElement(v, condition)
	})
}

// whole is like any, but for the values themselves, without the elements of arrays.
func (f field) whole(condition func(bson.RawValue) bool) bool {
	return eachAt(f.doc, f.path, func(v bson.RawValue, exists bool) bool {
		return exists && condition(v)
	})
}

func (f field) exists() bool {
	return f.whole(func(bson.RawValue) bool { return true })
}

// eachAt calls fn for the values that the path leads to, until fn returns true, and reports whether
// it did. For an array on the way it follows each of its documents, and the element whose index the
// path gives.
func eachAt(doc bson.Raw, path string, fn func(v bson.RawValue, exists bool) bool) bool {
	name, inner, nested := strings.Cut(path, ".")
	v, found := document.Field(doc, name)
	if !found {
		return fn(nullValue, false)
	}
	if !nested {
		return fn(v, true)
	}
	return eachInside(v, inner, fn)
}

func eachInside(v bson.RawValue, path string, fn func(bson.RawValue, bool) bool) bool {
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		return eachAt(v.Document(), path, fn)
	case bson.TypeArray:
		return eachInArray(bson.Raw(v.Array()), path, fn)
	}
	return fn(nullValue, false)
}

func eachInArray(array bson.Raw, path string, fn func(bson.RawValue, bool) bool) bool {
	name, _, _ := strings.Cut(path, ".")
	if _, err := strconv.ParseUint(name, 10, 31); err == nil {
		if _, found := document.Field(array, name); found && eachAt(array, path, fn) {
			return true
		}
	}
	return anyIn(array, func(e bson.RawValue) bool {
		inner, ok := e.DocumentOK()
		return ok && eachAt(inner, path, fn)
	})
}

// anyElement reports whether an element fulfils the condition, if the value is an array.
func anyElement(v bson.RawValue, condition func(bson.RawValue) bool) bool {
	array, ok := v.ArrayOK()
	return ok && anyIn(bson.Raw(array), condition)
}

func anyIn(array bson.Raw, condition func(bson.RawValue) bool) bool {
	none, err := document.Fields(array, func(_ []byte, e bson.RawValue) bool {
		return !condition(e)
	})
	return err == nil && !none
}

func isContainer(v bson.RawValue) bool {
	return v.Type == bson.TypeEmbeddedDocument || v.Type == bson.TypeArray
}
