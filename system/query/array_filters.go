package query

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ArrayFiltersField names the array filters in a change that has some. Clients give them otherwise.
const ArrayFiltersField = "$arrayFilters"

// WithArrayFilters is a change by operators whose paths may have $[name] in the place of an
// element: those that fulfil the filter on that name. Each filter must be used, and each name have
// one.
func WithArrayFilters(change bson.Raw, filters []bson.Raw) (bson.Raw, error) {
	if Replaces(change) {
		return nil, badValue("a replacement has no elements to filter: %v", change)
	}
	byName := map[string]bool{}
	for _, f := range filters {
		name, err := filteredName(f)
		if err != nil {
			return nil, err
		}
		if byName[name] {
			return nil, badValue("two array filters have the name %s", name)
		}
		if byName[name] = true; !strings.Contains(change.String(), "$["+name+"]") {
			return nil, badValue(
				"the update %v has no $[%s] for the array filter of that name", change, name)
		}
	}
	t, list, err := bson.MarshalValue(filters)
	if err != nil {
		return nil, err
	}
	return finishElement(change, ArrayFiltersField, bson.RawValue{Type: t, Value: list}), nil
}

// filteredName is what an array filter calls the element.
func filteredName(filter bson.Raw) (name string, err error) {
	_, err = everyElement(filter, func(path string, v bson.RawValue) (bool, error) {
		one, _, _ := strings.Cut(path, ".")
		if list, ok := v.ArrayOK(); ok && (path == "$and" || path == "$or" || path == "$nor") {
			first, _ := bson.Raw(list).Lookup("0").DocumentOK()
			var err error
			if one, err = filteredName(first); err != nil {
				return false, err
			}
		}
		if name == "" {
			name = one
		}
		if one != name {
			return false,
				badValue("the array filter %v has two names, %s and %s", filter, name, one)
		}
		return true, nil
	})
	if err == nil && (name == "" || strings.HasPrefix(name, "$")) {
		err = badValue("the array filter %v names no element", filter)
	}
	return name, err
}

// applyToElements applies an operator of a change to the elements that its path stands for.
func applyToElements(
	change bson.Raw, op string, doc bson.Raw, path string, operand bson.RawValue, set pathSet,
) (bson.Raw, error) {
	paths, err := elementPaths(change, doc, path)
	for i := 0; err == nil && i < len(paths); i++ {
		doc, err = applyOperator(op, doc, paths[i], operand, set)
	}
	return doc, err
}

// elementPaths are the paths that one with $[] or $[name] in the place of elements stands for.
func elementPaths(change, doc bson.Raw, path string) ([]string, error) {
	before, rest, ok := strings.Cut(path, ".$[")
	if !ok {
		return []string{path}, nil
	}
	name, after, ok := strings.Cut(rest, "]")
	if !ok || after != "" && after[0] != '.' {
		return nil, badValue("the path %s has no element between its $[ and ]", path)
	}
	v := nullValue
	eachAt(doc, before, func(at bson.RawValue, exists bool) bool {
		v = at
		return exists
	})
	array, ok := v.ArrayOK()
	if !ok {
		return nil, badValue(
			"%s of the path %s is no array, but %v", before, path, v)
	}
	elements, err := array.Values()
	if err != nil {
		return nil, err
	}
	var all []string
	for i, e := range elements {
		matches, err := fulfilsFilter(change, name, e)
		if err != nil {
			return nil, err
		}
		if !matches {
			continue
		}
		inner, err := elementPaths(change, doc, before+"."+strconv.Itoa(i)+after)
		if err != nil {
			return nil, err
		}
		all = append(all, inner...)
	}
	return all, nil
}

// fulfilsFilter reports whether an element fulfils the array filter of that name; the empty name is
// that of every element.
func fulfilsFilter(change bson.Raw, name string, element bson.RawValue) (bool, error) {
	if name == "" {
		return true, nil
	}
	filters, _ := change.Lookup(ArrayFiltersField).ArrayOK()
	list, err := filters.Values()
	if err != nil {
		return false, err
	}
	for _, f := range list {
		filter, _ := f.DocumentOK()
		if named, err := filteredName(filter); err != nil || named == name {
			if err != nil {
				return false, err
			}
			return Match(filter, finishElement(emptyDoc, name, element))
		}
	}
	return false, badValue("no array filter says which elements $[%s] stands for", name)
}
