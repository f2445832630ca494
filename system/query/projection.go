package query

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Projection says which fields of a document are shown. Nil shows all.
type Projection struct {
	include bool
	id      bool
	fields  fieldTree
	// literals are fields with a value of their own.
	literals []bson.RawElement
}

// fieldTree are paths, by their first names; a leaf is empty.
type fieldTree map[string]fieldTree

// ParseProjection reads {path: 1} or {path: 0}; only _id may differ from the others. Nil and an
// empty document show all.
func ParseProjection(spec bson.Raw) (*Projection, error) {
	elements, err := spec.Elements()
	if len(spec) == 0 || err == nil && len(elements) == 0 {
		return nil, nil
	}
	p := &Projection{id: true, fields: fieldTree{}}
	kinds := 0
	for _, e := range elements {
		v := e.Value()
		if operators, ok := operatorsOf(v); ok {
			return nil, badValue("the projection %v is not supported", operators)
		}
		if !isSwitch(v) {
			p.literals, p.include, kinds = append(p.literals, e), true, kinds+1
			continue
		}
		shows := IsTrue(v)
		if e.Key() == "_id" {
			p.id = shows
			if len(elements) == 1 {
				p.include = shows
			}
			continue
		}
		if kinds > 0 && shows != p.include {
			return nil, badValue("a projection cannot include and exclude: %v", spec)
		}
		p.include, kinds = shows, kinds+1
		p.fields.add(e.Key())
	}
	return p, err
}

// OnlyID shows the _id, or with false nothing at all.
func OnlyID(id bool) *Projection { return &Projection{include: true, id: id} }

func isSwitch(v bson.RawValue) bool {
	return v.Type == bson.TypeBoolean || isNumber(v.Type)
}

func (t fieldTree) add(path string) {
	name, inner, nested := strings.Cut(path, ".")
	if t[name] == nil {
		t[name] = fieldTree{}
	}
	if nested {
		t[name].add(inner)
	}
}

// Apply returns the document as it is shown.
func (p *Projection) Apply(doc bson.Raw) (bson.Raw, error) {
	if p == nil {
		return doc, nil
	}
	b := beginDocument()
	_, err := everyElement(doc, func(name string, v bson.RawValue) (bool, error) {
		switch {
		case name == "_id":
			if p.id {
				b = appendElement(b, name, v)
			}
		default:
			if shown, ok := p.shown(p.fields, name, v); ok {
				b = appendElement(b, name, shown)
			}
		}
		return true, nil
	})
	for _, e := range p.literals {
		b = appendElement(b, e.Key(), e.Value())
	}
	return finishDocument(b, err)
}

// shown is what is left of a field of that name.
func (p *Projection) shown(t fieldTree, name string, v bson.RawValue) (bson.RawValue, bool) {
	inner, named := t[name]
	if !named || len(inner) == 0 {
		return v, named == p.include
	}
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		return bson.RawValue{Type: v.Type, Value: p.inside(inner, v.Document())}, true
	case bson.TypeArray:
		var values []bson.RawValue
		anyIn(bson.Raw(v.Array()), func(e bson.RawValue) bool {
			if doc, ok := e.DocumentOK(); ok {
				e.Value = p.inside(inner, doc)
				values = append(values, e)
			} else if !p.include {
				values = append(values, e)
			}
			return false
		})
		return arrayOf(values), true
	}
	return v, !p.include
}

func (p *Projection) inside(t fieldTree, doc bson.Raw) bson.Raw {
	b := beginDocument()
	_, err := everyElement(doc, func(name string, v bson.RawValue) (bool, error) {
		if shown, ok := p.shown(t, name, v); ok {
			b = appendElement(b, name, shown)
		}
		return true, nil
	})
	inner, err := finishDocument(b, err)
	if err != nil {
		return emptyDoc
	}
	return inner
}

// Values calls fn for the values that a path leads to in a document; elements of an array one by
// one.
func Values(doc bson.Raw, path string, fn func(bson.RawValue)) {
	eachAt(doc, path, func(v bson.RawValue, exists bool) bool {
		if array, ok := v.ArrayOK(); ok {
			return anyIn(bson.Raw(array), func(e bson.RawValue) bool {
				fn(e)
				return false
			})
		}
		if exists {
			fn(v)
		}
		return false
	})
}

// Lookup is the value at a path, an array of values where the path leads through an array; false
// when there is none.
func Lookup(doc bson.Raw, path string) (found bson.RawValue, ok bool) {
	var values []bson.RawValue
	eachAt(doc, path, func(v bson.RawValue, exists bool) bool {
		if exists {
			values = append(values, v)
		}
		return false
	})
	switch len(values) {
	case 0:
		return nullValue, false
	case 1:
		return values[0], true
	}
	return arrayOf(values), true
}

// Set returns the document with a value at a path.
func Set(doc bson.Raw, path string, v bson.RawValue) (bson.Raw, error) {
	return editPath(doc, path, func(bson.RawValue, bool) (bson.RawValue, error) { return v, nil })
}

// Unset returns the document without the value at a path.
func Unset(doc bson.Raw, path string) (bson.Raw, error) {
	return editPath(doc, path, func(bson.RawValue, bool) (bson.RawValue, error) {
		return removedValue, nil
	})
}

// Array is the array of the values.
func Array(values []bson.RawValue) bson.RawValue { return arrayOf(values) }
