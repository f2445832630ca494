package query

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/document"
)

// Projection says which fields of a document are shown. Nil shows all.
type Projection struct {
	include bool
	id      bool
	fields  fieldTree
	// computed are shown besides those that are included.
	computed Computed
}

// fieldTree are paths, by their first names; a leaf is nil.
type fieldTree map[string]fieldTree

// ParseProjection reads {path: 1} or {path: 0}, of which only _id may differ from the others, and
// {path: expression} with the first. A document in it that is no operator expression has paths of
// its own. Nil and an empty document show all.
func ParseProjection(spec bson.Raw) (*Projection, error) {
	if len(spec) == 0 || Same(spec, emptyDoc) {
		return nil, nil
	}
	p := &Projection{id: true, fields: fieldTree{}}
	kinds := 0
	err := eachPath(spec, "", pathSet{}, func(path string, v bson.RawValue) error {
		shows := !isSwitch(v) || IsTrue(v)
		if isSwitch(v) && path == "_id" {
			p.id = shows
			return nil
		}
		if kinds > 0 && shows != p.include {
			return badValue("a projection cannot include and exclude: %v", spec)
		}
		p.include, kinds = shows, kinds+1
		return p.add(path, v)
	})
	if kinds == 0 { // it names the _id only
		p.include = p.id
	}
	return p, err
}

// add adds a path that is shown, hidden or computed.
func (p *Projection) add(path string, v bson.RawValue) error {
	if isSwitch(v) {
		p.fields.add(path, nil)
		return nil
	}
	if fields, ok := operatorsOf(v); ok && !isExpression(fields) {
		return badValue("the projection %v is not supported", fields)
	}
	p.computed = append(p.computed, computed{path, v})
	if i := strings.LastIndexByte(path, '.'); i > 0 {
		p.fields.add(path[:i], fieldTree{})
	}
	return nil
}

func isSwitch(v bson.RawValue) bool {
	return v.Type == bson.TypeBoolean || isNumber(v.Type)
}

// add adds a path that ends in a leaf, or in fields of which none is named yet.
func (t fieldTree) add(path string, end fieldTree) {
	name, inner, nested := strings.Cut(path, ".")
	if _, known := t[name]; !nested && !known {
		t[name] = end
	}
	if !nested {
		return
	}
	if t[name] == nil {
		t[name] = fieldTree{}
	}
	t[name].add(inner, end)
}

// Apply returns the document as it is shown.
func (p *Projection) Apply(doc bson.Raw) (bson.Raw, error) {
	if p == nil {
		return doc, nil
	}
	b := beginDocument()
	_, err := everyElement(doc, func(name string, v bson.RawValue) (bool, error) {
		if shown, ok := p.shownField(name, v); ok {
			b = appendElement(b, name, shown)
		}
		return true, nil
	})
	made, err := finishDocument(b, err)
	if err != nil {
		return nil, err
	}
	return p.computed.Apply(doc, made)
}

// shownField is what is left of a field of the document itself: of the _id, all or nothing if no
// path leads into it.
func (p *Projection) shownField(name string, v bson.RawValue) (bson.RawValue, bool) {
	if _, inside := p.fields[name]; name == "_id" && !inside {
		return v, p.id
	}
	return p.shown(p.fields, name, v)
}

// shown is what is left of a field of that name.
func (p *Projection) shown(t fieldTree, name string, v bson.RawValue) (bson.RawValue, bool) {
	inner, named := t[name]
	if !named || inner == nil {
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

// Lookup is the value at a path, as expressions see it; false when there is none. Where the path
// leads through an array, it is always an array, of the values in the array's documents.
func Lookup(doc bson.Raw, path string) (found bson.RawValue, ok bool) {
	name, inner, nested := strings.Cut(path, ".")
	v, ok := document.Field(doc, name)
	switch {
	case !ok:
		return nullValue, false
	case !nested:
		return v, true
	case v.Type == bson.TypeEmbeddedDocument:
		return Lookup(v.Document(), inner)
	case v.Type != bson.TypeArray:
		return nullValue, false
	}
	var values []bson.RawValue
	anyElement(v, func(e bson.RawValue) bool {
		if doc, ok := e.DocumentOK(); ok {
			if v, found := Lookup(doc, inner); found {
				values = append(values, v)
			}
		}
		return false
	})
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
