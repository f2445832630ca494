package query

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Computed are paths of documents that get the values of expressions.
type Computed []computed

type computed struct {
	path       string
	expression bson.RawValue
}

// ParseComputed reads {path: expression}. A document that is no operator expression has paths of
// its own, behind its path: {a: {b: 1}} is {"a.b": 1}, and what else is in a stays.
func ParseComputed(spec bson.Raw) (c Computed, err error) {
	set := pathSet{}
	err = eachPath(spec, "", set, func(path string, v bson.RawValue) error {
		c = append(c, computed{path, v})
		return nil
	})
	return c, err
}

// eachPath calls fn for the paths of a specification that may have documents in it.
func eachPath(
	spec bson.Raw, before string, set pathSet, fn func(path string, v bson.RawValue) error,
) error {
	some := false
	_, err := everyElement(spec, func(name string, v bson.RawValue) (bool, error) {
		some = true
		path := before + name
		if err := checkPath(path); err != nil {
			return false, err
		}
		inner, ok := v.DocumentOK()
		if _, operators := operatorsOf(v); ok && !operators {
			return true, eachPath(inner, path+".", set, fn)
		}
		if other, free := set.add(path); !free {
			return false, badValue("the paths %s and %s collide", other, path)
		}
		return true, fn(path, v)
	})
	switch {
	case err != nil || some:
		return err
	case before == "":
		return badValue("a specification of fields must have at least one")
	}
	return badValue("an empty document is not a valid value for %s", strings.TrimSuffix(before, "."))
}

// Apply returns made with the values of the expressions on doc. A path without a value is removed.
func (c Computed) Apply(doc, made bson.Raw) (bson.Raw, error) {
	for _, one := range c {
		v, err := evaluate(one.expression, doc)
		if err != nil {
			return nil, err
		}
		if made, err = put(made, one.path, v); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// put returns the document with a value at a path: in every element of an array on the way, and in
// the place of what is no document.
func put(doc bson.Raw, path string, v bson.RawValue) (bson.Raw, error) {
	name, inner, nested := strings.Cut(path, ".")
	return editField(doc, name, func(old bson.RawValue, _ bool) (bson.RawValue, error) {
		if !nested {
			return v, nil
		}
		return putInside(old, inner, v)
	})
}

func putInside(old bson.RawValue, path string, v bson.RawValue) (bson.RawValue, error) {
	if array, ok := old.ArrayOK(); ok {
		values, err := array.Values()
		for i := 0; err == nil && i < len(values); i++ {
			values[i], err = putInside(values[i], path, v)
		}
		return arrayOf(values), err
	}
	doc, ok := old.DocumentOK()
	if !ok {
		doc = emptyDoc
	}
	next, err := put(doc, path, v)
	return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: next}, err
}
