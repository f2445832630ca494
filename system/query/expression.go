package query

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Evaluate is the value of an expression on a document; false when there is none because a field
// does not exist.
func Evaluate(e bson.RawValue, doc bson.Raw) (bson.RawValue, bool, error) {
	v, err := evaluate(e, doc)
	if err != nil || v.Type == removedValue.Type {
		return nullValue, false, err
	}
	return v, true, nil
}

// evaluate is Evaluate with removedValue where there is no value.
func evaluate(e bson.RawValue, doc bson.Raw) (bson.RawValue, error) {
	if text, ok := e.StringValueOK(); ok && strings.HasPrefix(text, "$") {
		return lookUp(text, doc)
	}
	if fields, ok := e.DocumentOK(); ok {
		return evaluateDocument(fields, doc)
	}
	if array, ok := e.ArrayOK(); ok {
		list, err := array.Values()
		if err != nil {
			return removedValue, err
		}
		values, err := evaluateAll(list, doc)
		return arrayOf(values), err
	}
	return e, nil
}

func lookUp(text string, doc bson.Raw) (bson.RawValue, error) {
	switch {
	case text == "$$ROOT" || text == "$$CURRENT":
		return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}, nil
	case strings.HasPrefix(text, "$$ROOT.") || strings.HasPrefix(text, "$$CURRENT."):
		_, text, _ = strings.Cut(text, ".")
		text = "$" + text
	case text == removeVariable:
		return removedValue, nil
	case strings.HasPrefix(text, "$$"):
		return removedValue, badValue("the variable %s is not supported", text)
	}
	v, found := Lookup(doc, text[1:])
	if !found {
		return removedValue, nil
	}
	return v, nil
}

// removeVariable is the expression that has no value.
const removeVariable = "$$REMOVE"

// evaluateDocument is the value of an operator expression, or of a document of expressions, without
// the fields whose expressions have no value.
func evaluateDocument(fields, doc bson.Raw) (bson.RawValue, error) {
	elements, err := fields.Elements()
	if err != nil {
		return removedValue, err
	}
	if len(elements) == 1 && strings.HasPrefix(elements[0].Key(), "$") {
		return operate(elements[0].Key(), elements[0].Value(), doc)
	}
	b := beginDocument()
	for _, e := range elements {
		if strings.HasPrefix(e.Key(), "$") {
			return removedValue, badValue(
				"an operator is the only field of its expression: %s in %v", e.Key(), fields)
		}
		v, err := evaluate(e.Value(), doc)
		if err != nil {
			return removedValue, err
		}
		if v.Type != removedValue.Type {
			b = appendElement(b, e.Key(), v)
		}
	}
	raw, err := finishDocument(b, nil)
	return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw}, err
}

func evaluateAll(list []bson.RawValue, doc bson.Raw) ([]bson.RawValue, error) {
	values := make([]bson.RawValue, len(list))
	for i, e := range list {
		var err error
		if values[i], err = evaluate(e, doc); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// operate evaluates an operator. What $and, $or, $cond and $ifNull do not need, they do not
// evaluate.
func operate(op string, operand bson.RawValue, doc bson.Raw) (bson.RawValue, error) {
	switch op {
	case "$literal":
		return operand, nil
	case "$setField":
		return setField(operand, doc)
	}
	operands, err := operandsOf(op, operand)
	if err != nil {
		return removedValue, err
	}
	switch op {
	case "$and", "$or":
		return logic(op == "$or", operands, doc)
	case "$cond":
		return conditional(operands, doc)
	case "$ifNull":
		return ifNull(operands, doc)
	}
	values, err := evaluateAll(operands, doc)
	if err != nil {
		return removedValue, err
	}
	return operators[op].of(op, values)
}

// isExpression reports whether there is such an operator.
func isExpression(fields bson.Raw) bool {
	first, err := fields.IndexErr(0)
	if err != nil {
		return false
	}
	_, known := operators[first.Key()]
	return known || first.Key() == "$literal" || first.Key() == "$setField"
}

// operandsOf are the operands of an operator, an array or one, if it takes so many.
func operandsOf(op string, operand bson.RawValue) (operands []bson.RawValue, err error) {
	takes, known := operators[op]
	if !known {
		return nil, badValue("Unrecognized expression '%s'", op)
	}
	array, several := operand.ArrayOK()
	doc, named := operand.DocumentOK()
	switch {
	case several:
		operands, err = array.Values()
	case op == "$cond" && named:
		operands, err = branches(doc)
	default:
		operands = []bson.RawValue{operand}
	}
	if n := len(operands); err == nil && (n < takes.least || n > takes.most) {
		if takes.least < takes.most {
			return nil, badValue("Expression %s takes at least %d arguments. %d were passed in.",
				op, takes.least, n)
		}
		return nil, badValue("Expression %s takes exactly %d arguments. %d were passed in.",
			op, takes.least, n)
	}
	return operands, err
}

// branches are the operands of a $cond that names them.
func branches(named bson.Raw) ([]bson.RawValue, error) {
	var operands [3]bson.RawValue
	_, err := everyElement(named, func(name string, v bson.RawValue) (bool, error) {
		switch name {
		case "if":
			operands[0] = v
		case "then":
			operands[1] = v
		case "else":
			operands[2] = v
		default:
			return false, badValue("Unrecognized parameter to $cond: %s", name)
		}
		return true, nil
	})
	for i, name := range []string{"if", "then", "else"} {
		if err == nil && operands[i].Type == removedValue.Type {
			err = badValue("Missing '%s' parameter to $cond", name)
		}
	}
	return operands[:], err
}

func conditional(operands []bson.RawValue, doc bson.Raw) (bson.RawValue, error) {
	condition, err := evaluate(operands[0], doc)
	if err != nil {
		return removedValue, err
	}
	if IsTrue(condition) {
		return evaluate(operands[1], doc)
	}
	return evaluate(operands[2], doc)
}

// ifNull is the first value that is not null, and else the last, whatever it is.
func ifNull(operands []bson.RawValue, doc bson.Raw) (v bson.RawValue, err error) {
	for _, e := range operands {
		if v, err = evaluate(e, doc); err != nil || !isNothing(v) {
			return v, err
		}
	}
	return v, nil
}

// logic is whether any of the operands is true, or all are.
func logic(any bool, operands []bson.RawValue, doc bson.Raw) (bson.RawValue, error) {
	for _, e := range operands {
		v, err := evaluate(e, doc)
		if err != nil {
			return removedValue, err
		}
		if IsTrue(v) == any {
			return boolean(any), nil
		}
	}
	return boolean(!any), nil
}

// setField is {field, input, value}: the input with that value in the field, whose name may contain
// any characters, and without the field if there is no value.
func setField(operand bson.RawValue, doc bson.Raw) (bson.RawValue, error) {
	spec, _ := operand.DocumentOK()
	var parts [3]bson.RawValue
	for i, name := range []string{"field", "input", "value"} {
		e, err := spec.LookupErr(name)
		if err != nil {
			return removedValue, badValue("$setField takes {field, input, value}, not %v", operand)
		}
		if parts[i], err = evaluate(e, doc); err != nil {
			return removedValue, err
		}
	}
	name, ok := parts[0].StringValueOK()
	if ok && isNothing(parts[1]) {
		return nullValue, nil
	}
	input, isDoc := parts[1].DocumentOK()
	if !ok || !isDoc {
		return removedValue, badValue(
			"$setField sets a field, by its name, of a document, not %v of %v", parts[0], parts[1])
	}
	made, err := editField(input, name, func(bson.RawValue, bool) (bson.RawValue, error) {
		return parts[2], nil
	})
	return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: made}, err
}
