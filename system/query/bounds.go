package query

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/key"
)

// Equality returns the one value that a filter allows the field to have: {field: value}, {$eq:
// value} or {$in: [value]}; a regular expression there is none.
func Equality(filter bson.Raw, field string) (bson.RawValue, bool) {
	want, err := filter.LookupErr(field)
	if err != nil {
		return bson.RawValue{}, false
	}
	conditions, ok := operatorsOf(want)
	if !ok {
		return want, want.Type != bson.TypeRegex
	}
	if v, err := conditions.LookupErr("$eq"); err == nil {
		return v, true
	}
	list, ok := conditions.Lookup("$in").ArrayOK()
	if !ok || bson.Raw(list).Lookup("0").Type == bson.TypeRegex {
		return bson.RawValue{}, false
	}
	values, err := list.Values()
	if err != nil || len(values) != 1 {
		return bson.RawValue{}, false
	}
	return values[0], true
}

// Bounds returns a range that contains the value of the field in every document that the filter
// selects; everything when the filter says nothing about it.
func Bounds(filter bson.Raw, field string) (key.Range, error) {
	within := key.Everything
	_, err := everyElement(filter, func(name string, want bson.RawValue) (bool, error) {
		var rng key.Range
		var err error
		switch name {
		case field:
			rng, err = fieldBounds(want)
		case "$and":
			rng, err = allBounds(want, field)
		default:
			return true, nil
		}
		within = within.Intersect(rng)
		return true, err
	})
	return within, err
}

func allBounds(list bson.RawValue, field string) (key.Range, error) {
	within := key.Everything
	filters, ok := list.ArrayOK()
	if !ok {
		return within, badValue("$and takes an array of filters, not %v", list)
	}
	_, err := everyElement(bson.Raw(filters), func(_ string, f bson.RawValue) (bool, error) {
		filter, ok := f.DocumentOK()
		if !ok {
			return false, badValue("$and takes an array of filters, not %v", list)
		}
		rng, err := Bounds(filter, field)
		within = within.Intersect(rng)
		return true, err
	})
	return within, err
}

func fieldBounds(want bson.RawValue) (key.Range, error) {
	conditions, ok := operatorsOf(want)
	if !ok {
		return valueBounds(want)
	}
	within := key.Everything
	_, err := everyElement(conditions, func(op string, operand bson.RawValue) (bool, error) {
		rng, err := operatorBounds(op, operand)
		within = within.Intersect(rng)
		return true, err
	})
	return within, err
}

func operatorBounds(op string, operand bson.RawValue) (key.Range, error) {
	switch op {
	case "$eq":
		return valueBounds(operand)
	case "$gt", "$gte", "$lt", "$lte":
		k, err := key.Encode(operand)
		if err != nil {
			return key.Range{}, err
		}
		return comparisonRange(op, k)
	case "$in":
		return listBounds(operand)
	}
	if !strings.HasPrefix(op, "$") {
		return key.Range{}, badValue("%s is no operator", op)
	}
	return key.Everything, nil
}

// valueBounds is everything for what cannot be a key: such a value equals none that can.
func valueBounds(v bson.RawValue) (key.Range, error) {
	k, err := key.Encode(v)
	if err != nil {
		return key.Everything, nil
	}
	return key.Range{Min: k, Max: key.After(k)}, nil
}

func listBounds(list bson.RawValue) (key.Range, error) {
	values, ok := list.ArrayOK()
	if !ok {
		return key.Range{}, badValue("$in takes an array, not %v", list)
	}
	around := key.Range{Min: key.Max, Max: key.Min}
	_, err := everyElement(bson.Raw(values), func(_ string, v bson.RawValue) (bool, error) {
		rng, err := valueBounds(v)
		around = key.Range{Min: min(around.Min, rng.Min), Max: max(around.Max, rng.Max)}
		return true, err
	})
	return around, err
}

// comparisonRange is the range of a comparison with k. Its upper end may lie above MaxKey, as the
// range of documents does not contain that.
func comparisonRange(op string, k key.Key) (key.Range, error) {
	above := key.After(key.Max)
	switch op {
	case "$gt":
		return key.Range{Min: key.After(k), Max: above}, nil
	case "$gte":
		return key.Range{Min: k, Max: above}, nil
	case "$lt":
		return key.Range{Max: k}, nil
	case "$lte":
		return key.Range{Max: key.After(k)}, nil
	}
	return key.Range{}, badValue("%s is no comparison", op)
}
