package query

import (
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// editFunc returns the new value of a field; removedValue removes the field.
type editFunc func(
	old bson.RawValue, exists bool, operand bson.RawValue, path string,
) (bson.RawValue, error)

var edits = map[string]editFunc{
	"$set":         setValue,
	"$setOnInsert": setValue,
	"$unset":       unsetValue,
	"$inc":         incrementValue,
	"$mul":         multiplyValue,
	"$min":         leastValue,
	"$max":         greatestValue,
	"$push":        pushValue,
	"$addToSet":    addToSet,
	"$pop":         popValue,
	"$pull":        pullValue,
	"$pullAll":     pullAll,
}

func setValue(_ bson.RawValue, _ bool, operand bson.RawValue, _ string) (bson.RawValue, error) {
	return operand, nil
}

func unsetValue(bson.RawValue, bool, bson.RawValue, string) (bson.RawValue, error) {
	return removedValue, nil
}

func leastValue(
	old bson.RawValue, exists bool, operand bson.RawValue, _ string,
) (bson.RawValue, error) {
	if exists && Compare(old, operand) <= 0 {
		return old, nil
	}
	return operand, nil
}

func greatestValue(
	old bson.RawValue, exists bool, operand bson.RawValue, _ string,
) (bson.RawValue, error) {
	if exists && Compare(old, operand) >= 0 {
		return old, nil
	}
	return operand, nil
}

// renameField moves a value; a field that does not exist stays missing.
func renameField(
	doc bson.Raw, path string, to bson.RawValue, set pathSet,
) (bson.Raw, error) {
	name, ok := to.StringValueOK()
	if !ok || name == "" || name == path {
		return nil, badValue("$rename of %s takes another name, not %v", path, to)
	}
	if err := set.change(name); err != nil {
		return nil, err
	}
	var moved bson.RawValue
	found := false
	next, err := editPath(doc, path, func(v bson.RawValue, exists bool) (bson.RawValue, error) {
		moved, found = v, exists
		return removedValue, nil
	})
	if err != nil || !found {
		return doc, err
	}
	return editPath(next, name, func(bson.RawValue, bool) (bson.RawValue, error) {
		return moved, nil
	})
}

// arrayOf is the array of the values, with null in the place of one that there is not.
func arrayOf(values []bson.RawValue) bson.RawValue {
	b := beginDocument()
	for i, v := range values {
		if v.Type == removedValue.Type {
			v = nullValue
		}
		b = appendElement(b, strconv.Itoa(i), v)
	}
	doc, err := finishDocument(b, nil)
	if err != nil {
		panic(err) // an array that was begun here can be ended
	}
	return bson.RawValue{Type: bson.TypeArray, Value: doc}
}

// elementsOf are the elements of a field that must be an array if it exists.
func elementsOf(op string, v bson.RawValue, exists bool, path string) ([]bson.RawValue, error) {
	if !exists {
		return nil, nil
	}
	array, ok := v.ArrayOK()
	if !ok {
		return nil, badValue("%s to %s, which is %v and no array", op, path, v)
	}
	return array.Values()
}

// pushed is what $push and $addToSet add: the operand, or the elements of its $each.
type pushed struct {
	values          []bson.RawValue
	position, slice *int64
	sort            bson.RawValue
}

func parsePushed(operand bson.RawValue) (p pushed, err error) {
	modifiers, ok := operatorsOf(operand)
	if !ok {
		p.values = []bson.RawValue{operand}
		return p, nil
	}
	if _, err := modifiers.LookupErr("$each"); err != nil {
		return p, badValue("$push takes a value or {$each: array}, not %v", operand)
	}
	_, err = everyElement(modifiers, func(name string, v bson.RawValue) (bool, error) {
		n, number := v.AsInt64OK()
		array, list := v.ArrayOK()
		switch {
		case name == "$each" && list:
			p.values, err = array.Values()
			return true, err
		case name == "$position" && number:
			p.position = &n
		case name == "$slice" && number:
			p.slice = &n
		case name == "$sort":
			p.sort = v
		default:
			return false, badValue("$push takes a value or {$each: array}, not %v", operand)
		}
		return true, nil
	})
	return p, err
}

func pushValue(
	old bson.RawValue, exists bool, operand bson.RawValue, path string,
) (bson.RawValue, error) {
	values, err := elementsOf("$push", old, exists, path)
	if err != nil {
		return removedValue, err
	}
	p, err := parsePushed(operand)
	if err != nil {
		return removedValue, err
	}
	at := int64(len(values))
	if p.position != nil {
		at = max(0, min(*p.position, at))
		if *p.position < 0 {
			at = max(0, int64(len(values))+*p.position)
		}
	}
	values = slices.Insert(values, int(at), p.values...)
	if err := p.arrange(values); err != nil {
		return removedValue, err
	}
	return arrayOf(p.cut(values)), nil
}

// arrange sorts the elements if $sort is given: by fields, or whole.
func (p *pushed) arrange(values []bson.RawValue) error {
	if by, ok := p.sort.DocumentOK(); ok {
		order, err := ParseOrder(by)
		slices.SortStableFunc(values, func(a, b bson.RawValue) int {
			docA, _ := a.DocumentOK()
			docB, _ := b.DocumentOK()
			return order.Compare(docA, docB)
		})
		return err
	}
	if n, ok := p.sort.AsInt64OK(); ok {
		slices.SortStableFunc(values, func(a, b bson.RawValue) int {
			return Compare(a, b) * int(max(-1, min(n, 1)))
		})
	}
	return nil
}

func (p *pushed) cut(values []bson.RawValue) []bson.RawValue {
	switch {
	case p.slice == nil:
		return values
	case *p.slice < 0:
		return values[max(0, int64(len(values))+*p.slice):]
	}
	return values[:min(int64(len(values)), *p.slice)]
}

func addToSet(
	old bson.RawValue, exists bool, operand bson.RawValue, path string,
) (bson.RawValue, error) {
	values, err := elementsOf("$addToSet", old, exists, path)
	if err != nil {
		return removedValue, err
	}
	p, err := parsePushed(operand)
	for _, v := range p.values {
		if !slices.ContainsFunc(values, func(o bson.RawValue) bool { return equalValues(o, v) }) {
			values = append(values, v)
		}
	}
	return arrayOf(values), err
}

func popValue(
	old bson.RawValue, exists bool, operand bson.RawValue, path string,
) (bson.RawValue, error) {
	values, err := elementsOf("$pop", old, exists, path)
	n, ok := operand.AsInt64OK()
	switch {
	case err != nil:
		return removedValue, err
	case !ok || n != 1 && n != -1:
		return removedValue, badValue("$pop takes 1 or -1, not %v", operand)
	case !exists:
		return removedValue, nil
	case len(values) > 0 && n > 0:
		values = values[:len(values)-1]
	case len(values) > 0:
		values = values[1:]
	}
	return arrayOf(values), nil
}

// pullValue removes elements that equal the operand or satisfy its conditions. A filter selects
// among the documents, operators and regular expressions also by the elements of an element.
func pullValue(
	old bson.RawValue, exists bool, operand bson.RawValue, path string,
) (bson.RawValue, error) {
	_, operators := operatorsOf(operand)
	filter, fields := operand.DocumentOK()
	return pull(old, exists, path, func(v bson.RawValue) (bool, error) {
		switch {
		case operators || operand.Type == bson.TypeRegex:
			return matchField(operand, fieldAt(finishElement(emptyDoc, "e", v), "e"))
		case fields:
			inner, ok := v.DocumentOK()
			if !ok {
				return false, nil
			}
			return Match(filter, inner)
		}
		return equalValues(v, operand), nil
	})
}

func pullAll(
	old bson.RawValue, exists bool, operand bson.RawValue, path string,
) (bson.RawValue, error) {
	if _, ok := operand.ArrayOK(); !ok {
		return removedValue, badValue("$pullAll takes an array, not %v", operand)
	}
	return pull(old, exists, path, func(v bson.RawValue) (bool, error) {
		return anyElement(operand, func(o bson.RawValue) bool { return equalValues(o, v) }), nil
	})
}

func pull(
	old bson.RawValue, exists bool, path string, goes func(bson.RawValue) (bool, error),
) (bson.RawValue, error) {
	values, err := elementsOf("$pull", old, exists, path)
	if err != nil || !exists {
		return removedValue, err
	}
	var stay []bson.RawValue
	for _, v := range values {
		out, err := goes(v)
		if err != nil {
			return removedValue, err
		}
		if !out {
			stay = append(stay, v)
		}
	}
	return arrayOf(stay), nil
}
