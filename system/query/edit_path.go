package query

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/document"
)

// maxPadding is the greatest array index that a path may create.
const maxPadding = 10_000

// removedValue as the new value of a field means that there is none. It has no type, as no value
// has.
var removedValue bson.RawValue

// editFunction makes the new value of a field: of null for one that does not exist, and
// removedValue to leave none.
type editFunction func(old bson.RawValue, exists bool) (bson.RawValue, error)

// editPath returns the document with the value at a dotted path replaced by what fn makes of it;
// documents that are missing on the way are created unless there is nothing to put into them.
func editPath(doc bson.Raw, path string, fn editFunction) (bson.Raw, error) {
	name, inner, nested := strings.Cut(path, ".")
	if !nested {
		return editField(doc, name, fn)
	}
	return editField(doc, name, func(old bson.RawValue, exists bool) (bson.RawValue, error) {
		return editInner(old, exists, path, inner, fn)
	})
}

// editField is editPath for a field of the document itself, whose name may contain dots.
func editField(doc bson.Raw, name string, fn editFunction) (bson.Raw, error) {
	b, found := beginDocument(), false
	_, err := everyElement(doc, func(field string, v bson.RawValue) (bool, error) {
		if field == name && !found {
			var err error
			if v, err = fn(v, true); err != nil {
				return false, err
			}
			found = true
		}
		if v.Type != removedValue.Type {
			b = appendElement(b, field, v)
		}
		return true, nil
	})
	if err == nil && !found {
		var v bson.RawValue
		if v, err = fn(nullValue, false); err == nil && v.Type != removedValue.Type {
			b = appendElement(b, name, v)
		}
	}
	return finishDocument(b, err)
}

// hasPath reports whether editPath would find a value at the path.
func hasPath(doc bson.Raw, path string) bool {
	name, inner, nested := strings.Cut(path, ".")
	v, found := document.Field(doc, name)
	if !nested || !found {
		return found
	}
	return isContainer(v) && hasPath(bson.Raw(v.Value), inner)
}

func editInner(
	old bson.RawValue, exists bool, path, inner string, fn editFunction,
) (bson.RawValue, error) {
	parent := emptyDoc
	if array, ok := old.ArrayOK(); exists && ok {
		return editElement(bson.Raw(array), path, inner, fn)
	}
	if exists {
		var ok bool
		if parent, ok = old.DocumentOK(); !ok {
			return removedValue, badValue("the path %s leads through %v, which is no document",
				path, old)
		}
	}
	next, err := editPath(parent, inner, fn)
	if err != nil || !exists && Same(next, emptyDoc) {
		return removedValue, err
	}
	return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: next}, nil
}

// editElement changes the array element whose index the path gives, or something inside it. An
// element that is made fills the places before it with null, and one that is removed leaves null in
// its place.
func editElement(
	array bson.Raw, path, inner string, fn editFunction,
) (bson.RawValue, error) {
	name, rest, nested := strings.Cut(inner, ".")
	index, err := strconv.Atoi(name)
	if err != nil || index < 0 || index > maxPadding || strconv.Itoa(index) != name {
		return removedValue, badValue("the path %s leads through the array %v", path, array)
	}
	values, err := bson.RawArray(array).Values()
	if err != nil {
		return removedValue, err
	}
	old, exists := nullValue, index < len(values)
	if exists {
		old = values[index]
	}
	var next bson.RawValue
	if nested {
		next, err = editInner(old, exists, inner, rest, fn)
	} else {
		next, err = fn(old, exists)
	}
	if err != nil {
		return removedValue, err
	}
	if next.Type == removedValue.Type {
		if !exists {
			return arrayOf(values), nil
		}
		next = nullValue
	}
	for len(values) <= index {
		values = append(values, nullValue)
	}
	values[index] = next
	return arrayOf(values), nil
}
