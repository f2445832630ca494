package query

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// maxPadding is the greatest array index that a path may create.
const maxPadding = 10_000

// removedValue as the new value of a field means that there is none. It has no type, as no value
// has.
var removedValue bson.RawValue

// editPath returns the document with the value at a dotted path replaced by what fn makes of it;
// documents that are missing on the way are created unless there is nothing to put into them. fn
// gets null for a field that does not exist.
func editPath(
	doc bson.Raw, path string, fn func(old bson.RawValue, exists bool) (bson.RawValue, error),
) (bson.Raw, error) {
	name, inner, nested := strings.Cut(path, ".")
	change := fn
	if nested {
		change = func(old bson.RawValue, exists bool) (bson.RawValue, error) {
			return editInner(old, exists, path, inner, fn)
		}
	}
	b, found := beginDocument(), false
	_, err := everyElement(doc, func(field string, v bson.RawValue) (bool, error) {
		if field == name && !found {
			var err error
			if v, err = change(v, true); err != nil {
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
		if v, err = change(nullValue, false); err == nil && v.Type != removedValue.Type {
			b = appendElement(b, name, v)
		}
	}
	return finishDocument(b, err)
}

func editInner(
	old bson.RawValue, exists bool, path, inner string,
	fn func(bson.RawValue, bool) (bson.RawValue, error),
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
	array bson.Raw, path, inner string, fn func(bson.RawValue, bool) (bson.RawValue, error),
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

// incrementValue adds integers. A sum of two int32 that does not fit becomes an int64; doubles are
// refused, as their sums are not associative.
func incrementValue(
	old bson.RawValue, exists bool, by bson.RawValue, path string,
) (bson.RawValue, error) {
	if !isInteger(by) || exists && !isInteger(old) {
		return removedValue, badValue("$inc adds whole numbers only, not %v to %v in %s",
			by, old, path)
	}
	if !exists {
		return by, nil
	}
	a, b := old.AsInt64(), by.AsInt64()
	sum := a + b
	if (a < 0) == (b < 0) && (sum < 0) != (a < 0) {
		return removedValue, badValue("$inc of %s from %d by %d overflows", path, a, b)
	}
	if old.Type == bson.TypeInt32 && by.Type == bson.TypeInt32 && int64(int32(sum)) == sum {
		return bson.RawValue{
			Type:  bson.TypeInt32,
			Value: bsoncore.AppendInt32(nil, int32(sum)),
		}, nil
	}
	return bson.RawValue{Type: bson.TypeInt64, Value: bsoncore.AppendInt64(nil, sum)}, nil
}

func isInteger(v bson.RawValue) bool { return v.Type == bson.TypeInt32 || v.Type == bson.TypeInt64 }
