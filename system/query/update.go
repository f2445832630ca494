package query

import (
	"bytes"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/shardproof/shardproof/system/errcode"
)

// Apply returns the document after a change: a replacement, which keeps the _id, or the operators
// $set, $unset, $inc, $mul, $min, $max, $rename, $push, $addToSet, $pop, $pull and $pullAll;
// $setOnInsert does nothing. Changing the _id is an errcode.ImmutableField.
func Apply(change, doc bson.Raw) (bson.Raw, error) {
	return applyChange(change, doc, false)
}

// NewFrom returns the document that an upsert inserts when nothing matches: the fields that the
// filter fixes, changed. If it then has no _id, it gets the one of newID, which must have one.
func NewFrom(filter, change, newID bson.Raw) (bson.Raw, error) {
	doc, err := fixedBy(filter)
	if err != nil {
		return nil, err
	}
	if doc, err = applyChange(change, doc, true); err != nil {
		return nil, err
	}
	if _, err := doc.LookupErr("_id"); err == nil {
		return idFirst(doc)
	}
	id, err := newID.LookupErr("_id")
	if err != nil {
		return nil,
			badValue("neither the filter %v nor the change %v gives the new document an _id",
				filter, change)
	}
	return idFirst(finishElement(doc, "_id", id))
}

// fixedBy is the document of the fields that a filter fixes, also those in the filters of its $and.
func fixedBy(filter bson.Raw) (bson.Raw, error) {
	doc, set := emptyDoc, pathSet{}
	err := eachFixed(filter, func(path string, v bson.RawValue) error {
		if err := checkLevels(path); err != nil {
			return err
		}
		if other, free := set.add(path); !free {
			return errcode.New(errcode.NotSingleValueField,
				"the filter %v says twice what a new document has: at %s and at %s",
				filter, other, path)
		}
		var err error
		doc, err = editPath(doc, path, func(bson.RawValue, bool) (bson.RawValue, error) {
			return v, nil
		})
		return err
	})
	return doc, err
}

// eachFixed calls fn for the paths that a filter fixes.
func eachFixed(filter bson.Raw, fn func(path string, v bson.RawValue) error) error {
	_, err := everyElement(filter, func(name string, want bson.RawValue) (bool, error) {
		if list, ok := want.ArrayOK(); ok && name == "$and" {
			return everyElement(bson.Raw(list), func(_ string, f bson.RawValue) (bool, error) {
				inner, _ := f.DocumentOK()
				return true, eachFixed(inner, fn)
			})
		}
		if v, fixed := Equality(filter, name); fixed && !strings.HasPrefix(name, "$") {
			return true, fn(name, v)
		}
		return true, nil
	})
	return err
}

var emptyDoc = bson.Raw(bsoncore.BuildDocument(nil))

func applyChange(change, doc bson.Raw, inserting bool) (bson.Raw, error) {
	next, err := changeDocument(change, doc, inserting)
	if err != nil {
		return nil, err
	}
	before, errBefore := doc.LookupErr("_id")
	after, errAfter := next.LookupErr("_id")
	if errBefore == nil && (errAfter != nil || !equalValues(before, after)) {
		return nil, errcode.New(errcode.ImmutableField, "the change %v would alter the _id %v",
			change, before)
	}
	return next, nil
}

// Replaces reports whether a change is a replacement rather than operators.
func Replaces(change bson.Raw) bool {
	first, err := change.IndexErr(0)
	return err != nil || !strings.HasPrefix(first.Key(), "$")
}

func changeDocument(change, doc bson.Raw, inserting bool) (bson.Raw, error) {
	if Replaces(change) {
		return replaceDocument(change, doc)
	}
	set := pathSet{}
	_, err := everyElement(change, func(op string, fields bson.RawValue) (bool, error) {
		if op == ArrayFiltersField {
			return true, nil
		}
		named, ok := fields.DocumentOK()
		if !ok {
			return false, badValue("%s takes a document of fields, not %v", op, fields)
		}
		if op == "$setOnInsert" && !inserting {
			return true, set.changeAll(named)
		}
		return everyElement(named, func(path string, operand bson.RawValue) (bool, error) {
			var err error
			if strings.Contains(path, ".$[") {
				doc, err = applyToElements(change, op, doc, path, operand, set)
			} else {
				doc, err = applyOperator(op, doc, path, operand, set)
			}
			return true, err
		})
	})
	return doc, err
}

// applyOperator changes what is at a path that no operator has changed before.
func applyOperator(
	op string, doc bson.Raw, path string, operand bson.RawValue, set pathSet,
) (bson.Raw, error) {
	if path == "" || strings.HasPrefix(path, "$") {
		return nil, badValue("%s cannot change the field %q", op, path)
	}
	if err := set.change(path); err != nil {
		return nil, err
	}
	if op == "$rename" {
		return renameField(doc, path, operand, set)
	}
	edit, known := edits[op]
	if !known {
		return nil, badValue("unknown modifier: %s", op)
	}
	if slices.Contains(removals, op) && !hasPath(doc, path) {
		_, err := edit(nullValue, false, operand, path)
		return doc, err
	}
	return editPath(doc, path, func(old bson.RawValue, exists bool) (bson.RawValue, error) {
		return edit(old, exists, operand, path)
	})
}

// removals are the operators for which a path may lead anywhere: where it leads to nothing, there
// is nothing to be removed.
var removals = []string{"$unset", "$pop", "$pull", "$pullAll"}

func replaceDocument(replacement, doc bson.Raw) (bson.Raw, error) {
	b, out := beginDocument(), 0
	if id, err := doc.LookupErr("_id"); err == nil {
		if own, err := replacement.LookupErr("_id"); err == nil && !equalValues(id, own) {
			return nil, errcode.New(errcode.ImmutableField,
				"the replacement %v has another _id than %v", replacement, id)
		}
		b, out = appendElement(b, "_id", id), 1
	}
	_, err := everyElement(replacement, func(name string, v bson.RawValue) (bool, error) {
		if strings.HasPrefix(name, "$") {
			return false, badValue("the replacement %v has the operator %s among its fields",
				replacement, name)
		}
		if name != "_id" || out == 0 {
			b = appendElement(b, name, v)
		}
		return true, nil
	})
	return finishDocument(b, err)
}

func idFirst(doc bson.Raw) (bson.Raw, error) {
	if first, err := doc.IndexErr(0); err == nil && first.Key() == "_id" {
		return doc, nil
	}
	b := appendElement(beginDocument(), "_id", doc.Lookup("_id"))
	_, err := everyElement(doc, func(name string, v bson.RawValue) (bool, error) {
		if name != "_id" {
			b = appendElement(b, name, v)
		}
		return true, nil
	})
	return finishDocument(b, err)
}

// finishElement is the document with one more field at its end.
func finishElement(doc bson.Raw, name string, v bson.RawValue) bson.Raw {
	b := append([]byte(nil), doc[:len(doc)-1]...)
	next, err := finishDocument(appendElement(b, name, v), nil)
	if err != nil {
		panic(err) // a document that was ended can be ended again
	}
	return next
}

func appendElement(b []byte, name string, v bson.RawValue) []byte {
	return bsoncore.AppendValueElement(b, name,
		bsoncore.Value{Type: bsoncore.Type(v.Type), Data: v.Value})
}

func beginDocument() []byte {
	_, b := bsoncore.AppendDocumentStart(nil)
	return b
}

// finishDocument ends the document that begin began.
func finishDocument(b []byte, err error) (bson.Raw, error) {
	if err != nil {
		return nil, err
	}
	b, err = bsoncore.AppendDocumentEnd(b, 0)
	return bson.Raw(b), err
}

// Same reports whether two documents are byte for byte the same: an update between them modifies
// nothing.
func Same(a, b bson.Raw) bool { return bytes.Equal(a, b) }
