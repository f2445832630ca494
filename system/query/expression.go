package query

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Evaluate is the value of an expression on a document; false when there is none because a field
// does not exist.
func Evaluate(e bson.RawValue, doc bson.Raw) (bson.RawValue, bool, error) {
	if text, ok := e.StringValueOK(); ok && strings.HasPrefix(text, "$") {
		return lookUp(text, doc)
	}
	if fields, ok := e.DocumentOK(); ok {
		return evaluateDocument(fields, doc)
	}
	if array, ok := e.ArrayOK(); ok {
		values, err := evaluateAll(array, doc)
		return arrayOf(values), true, err
	}
	return e, true, nil
}

func lookUp(text string, doc bson.Raw) (bson.RawValue, bool, error) {
	switch {
	case text == "$$ROOT" || text == "$$CURRENT":
		return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}, true, nil
	case strings.HasPrefix(text, "$$ROOT.") || strings.HasPrefix(text, "$$CURRENT."):
		_, text, _ = strings.Cut(text, ".")
		text = "$" + text
	case text == "$$REMOVE":
		return nullValue, false, nil
	case strings.HasPrefix(text, "$$"):
		return nullValue, false, badValue("the variable %s is not supported", text)
	}
	v, found := Lookup(doc, text[1:])
	return v, found, nil
}

// evaluateDocument is the value of an operator expression, or of a document of expressions.
func evaluateDocument(fields, doc bson.Raw) (bson.RawValue, bool, error) {
	elements, err := fields.Elements()
	if err != nil {
		return nullValue, false, err
	}
	if len(elements) == 1 && strings.HasPrefix(elements[0].Key(), "$") {
		v, err := operate(elements[0].Key(), elements[0].Value(), doc)
		return v, true, err
	}
	made := bson.D{}
	for _, e := range elements {
		v, found, err := Evaluate(e.Value(), doc)
		if err != nil {
			return nullValue, false, err
		}
		if found {
			made = append(made, bson.E{Key: e.Key(), Value: v})
		}
	}
	raw, err := bson.Marshal(made)
	return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw}, true, err
}

func evaluateAll(array bson.RawArray, doc bson.Raw) ([]bson.RawValue, error) {
	list, err := array.Values()
	if err != nil {
		return nil, err
	}
	values := make([]bson.RawValue, len(list))
	for i, e := range list {
		v, found, err := Evaluate(e, doc)
		if err != nil {
			return nil, err
		}
		if values[i] = v; !found {
			values[i] = nullValue
		}
	}
	return values, nil
}

// operate evaluates an operator on its operands: an array, or one.
func operate(op string, operand bson.RawValue, doc bson.Raw) (bson.RawValue, error) {
	switch op {
	case "$literal":
		return operand, nil
	case "$setField":
		return setField(operand, doc)
	}
	var values []bson.RawValue
	var err error
	if array, ok := operand.ArrayOK(); ok {
		values, err = evaluateAll(array, doc)
	} else {
		var v bson.RawValue
		v, _, err = Evaluate(operand, doc)
		values = []bson.RawValue{v}
	}
	if err != nil {
		return nullValue, err
	}
	fn := operators[op]
	if fn == nil {
		return nullValue, badValue("Unrecognized expression '%s'", op)
	}
	return fn(op, values)
}

// setField is {field, input, value}: the input with one more field, whose name may contain any
// characters.
func setField(operand bson.RawValue, doc bson.Raw) (bson.RawValue, error) {
	spec, _ := operand.DocumentOK()
	var parts [3]bson.RawValue
	for i, name := range []string{"field", "input", "value"} {
		v, _, err := Evaluate(spec.Lookup(name), doc)
		if err != nil {
			return nullValue, err
		}
		parts[i] = v
	}
	name, ok := parts[0].StringValueOK()
	input, isDoc := parts[1].DocumentOK()
	if !ok || !isDoc {
		return nullValue, badValue("$setField takes {field, input, value}, not %v", operand)
	}
	elements, err := input.Elements()
	made := bson.D{}
	for _, e := range elements {
		if e.Key() != name {
			made = append(made, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	if err != nil {
		return nullValue, err
	}
	raw, err := bson.Marshal(append(made, bson.E{Key: name, Value: parts[2]}))
	return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw}, err
}

type operator func(op string, values []bson.RawValue) (bson.RawValue, error)

var operators = map[string]operator{
	"$add": arithmetic, "$subtract": arithmetic, "$multiply": arithmetic, "$mod": arithmetic,
	"$eq": comparison, "$ne": comparison, "$gt": comparison, "$gte": comparison,
	"$lt": comparison, "$lte": comparison, "$concat": concat, "$toUpper": letters,
	"$toLower": letters, "$ifNull": ifNull, "$cond": conditional, "$size": size, "$and": logic,
	"$or": logic, "$not": logic, "$arrayElemAt": element, "$type": typeName,
}

func arithmetic(op string, values []bson.RawValue) (bson.RawValue, error) {
	var result int64
	for i, v := range values {
		if v.Type == bson.TypeNull {
			return nullValue, nil
		}
		n, ok := v.AsInt64OK()
		if !ok || v.Type == bson.TypeDouble {
			return nullValue, badValue("%s takes whole numbers, not %v", op, v)
		}
		switch {
		case i == 0:
			result = n
		case op == "$add":
			result += n
		case op == "$subtract":
			result -= n
		case op == "$multiply":
			result *= n
		case n == 0:
			return nullValue, badValue("can't %s by zero", op)
		default:
			result %= n
		}
	}
	return integerOf(result, false), nil
}

func comparison(op string, values []bson.RawValue) (bson.RawValue, error) {
	if len(values) != 2 {
		return nullValue, badValue("%s takes two values, not %d", op, len(values))
	}
	d := Compare(values[0], values[1])
	return boolean(map[string]bool{
		"$eq": d == 0, "$ne": d != 0, "$gt": d > 0, "$gte": d >= 0, "$lt": d < 0, "$lte": d <= 0,
	}[op]), nil
}

func boolean(b bool) bson.RawValue {
	v := bson.RawValue{Type: bson.TypeBoolean, Value: []byte{0}}
	if b {
		v.Value[0] = 1
	}
	return v
}

func text(s string) bson.RawValue {
	t, data, err := bson.MarshalValue(s)
	if err != nil {
		panic(err) // a string always has a value
	}
	return bson.RawValue{Type: t, Value: data}
}

func concat(op string, values []bson.RawValue) (bson.RawValue, error) {
	var all strings.Builder
	for _, v := range values {
		s, ok := v.StringValueOK()
		if v.Type == bson.TypeNull {
			return nullValue, nil
		}
		if !ok {
			return nullValue, badValue("%s takes texts, not %v", op, v)
		}
		all.WriteString(s)
	}
	return text(all.String()), nil
}

func letters(op string, values []bson.RawValue) (bson.RawValue, error) {
	s, _ := values[0].StringValueOK()
	if op == "$toUpper" {
		return text(strings.ToUpper(s)), nil
	}
	return text(strings.ToLower(s)), nil
}

func ifNull(_ string, values []bson.RawValue) (bson.RawValue, error) {
	for _, v := range values {
		if v.Type != bson.TypeNull {
			return v, nil
		}
	}
	return nullValue, nil
}

func conditional(op string, values []bson.RawValue) (bson.RawValue, error) {
	if len(values) == 1 {
		if doc, ok := values[0].DocumentOK(); ok {
			values = []bson.RawValue{doc.Lookup("if"), doc.Lookup("then"), doc.Lookup("else")}
		}
	}
	if len(values) != 3 {
		return nullValue, badValue("%s takes a condition and two values", op)
	}
	if IsTrue(values[0]) {
		return values[1], nil
	}
	return values[2], nil
}

func size(op string, values []bson.RawValue) (bson.RawValue, error) {
	array, ok := values[0].ArrayOK()
	if !ok || len(values) != 1 {
		return nullValue, badValue("%s takes an array, not %v", op, values)
	}
	list, err := array.Values()
	return integerOf(int64(len(list)), false), err
}

func logic(op string, values []bson.RawValue) (bson.RawValue, error) {
	some, all := false, true
	for _, v := range values {
		some, all = some || IsTrue(v), all && IsTrue(v)
	}
	switch op {
	case "$and":
		return boolean(all), nil
	case "$or":
		return boolean(some), nil
	}
	return boolean(!all), nil
}

func element(op string, values []bson.RawValue) (bson.RawValue, error) {
	if len(values) != 2 {
		return nullValue, badValue("%s takes an array and a number", op)
	}
	array, ok := values[0].ArrayOK()
	i, whole := values[1].AsInt64OK()
	if !ok || !whole {
		return nullValue, badValue("%s takes an array and a number, not %v", op, values)
	}
	list, err := array.Values()
	if i < 0 {
		i += int64(len(list))
	}
	if err != nil || i < 0 || i >= int64(len(list)) {
		return nullValue, err
	}
	return list[i], nil
}

func typeName(_ string, values []bson.RawValue) (bson.RawValue, error) {
	return text(values[0].Type.String()), nil
}
