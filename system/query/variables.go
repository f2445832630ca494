package query

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Variables are constants that expressions call $$name; one without a value is removedValue.
type Variables map[string]bson.RawValue

// ParseVariables reads {name: expression}; an expression may use the variables before it, and no
// document.
func ParseVariables(let bson.Raw) (Variables, error) {
	vars := Variables{}
	_, err := everyElement(let, func(name string, e bson.RawValue) (bool, error) {
		if name == "" || strings.ToLower(name[:1]) != name[:1] {
			return false,
				badValue("the name of a variable begins with a small letter, not as %q", name)
		}
		v, err := evaluate(vars.bind(e), emptyDoc)
		vars[name] = v
		return true, err
	})
	return vars, err
}

// Filter puts the constants into the expressions of a filter.
func (vars Variables) Filter(filter bson.Raw) bson.Raw {
	if len(vars) == 0 {
		return filter
	}
	return vars.each(filter, func(name string, v bson.RawValue) bson.RawValue {
		switch name {
		case "$expr":
			return vars.bind(v)
		case "$and", "$or", "$nor":
			return vars.filters(v)
		}
		return v
	})
}

func (vars Variables) filters(list bson.RawValue) bson.RawValue {
	array, ok := list.ArrayOK()
	if !ok {
		return list
	}
	bound := vars.each(bson.Raw(array), func(_ string, v bson.RawValue) bson.RawValue {
		if filter, ok := v.DocumentOK(); ok {
			v.Value = vars.Filter(filter)
		}
		return v
	})
	return bson.RawValue{Type: bson.TypeArray, Value: bound}
}

// Stages puts the constants into the stages of a pipeline.
func (vars Variables) Stages(stages []bson.Raw) []bson.Raw {
	if len(vars) == 0 {
		return stages
	}
	bound := make([]bson.Raw, len(stages))
	for i, stage := range stages {
		bound[i] = vars.each(stage, func(name string, v bson.RawValue) bson.RawValue {
			if filter, ok := v.DocumentOK(); ok && name == "$match" {
				v.Value = vars.Filter(filter)
				return v
			}
			return vars.bind(v)
		})
	}
	return bound
}

// bind puts the constants into an expression.
func (vars Variables) bind(e bson.RawValue) bson.RawValue {
	if text, ok := e.StringValueOK(); ok {
		if v, known := vars.lookUp(text); known {
			return literal(v)
		}
		return e
	}
	if e.Type == bson.TypeEmbeddedDocument || e.Type == bson.TypeArray {
		e.Value = vars.each(bson.Raw(e.Value), func(name string, v bson.RawValue) bson.RawValue {
			if name == "$literal" {
				return v
			}
			return vars.bind(v)
		})
	}
	return e
}

// lookUp is the value of "$$name" or "$$name.path".
func (vars Variables) lookUp(text string) (bson.RawValue, bool) {
	name, is := strings.CutPrefix(text, "$$")
	name, path, inner := strings.Cut(name, ".")
	v, known := vars[name]
	if !is || !known || !inner {
		return v, is && known
	}
	doc, _ := v.DocumentOK()
	if v, known = Lookup(doc, path); !known {
		return removedValue, true
	}
	return v, true
}

// literal is an expression with that value, or without one.
func literal(v bson.RawValue) bson.RawValue {
	if v.Type == removedValue.Type {
		return text(removeVariable)
	}
	return bson.RawValue{
		Type: bson.TypeEmbeddedDocument, Value: finishElement(emptyDoc, "$literal", v),
	}
}

// each makes a document of what fn makes of the values of another. One that cannot be read stays as
// it is, for who uses it to refuse.
func (vars Variables) each(
	doc bson.Raw, fn func(name string, v bson.RawValue) bson.RawValue,
) bson.Raw {
	b := beginDocument()
	_, err := everyElement(doc, func(name string, v bson.RawValue) (bool, error) {
		b = appendElement(b, name, fn(name, v))
		return true, nil
	})
	made, err := finishDocument(b, err)
	if err != nil {
		return doc
	}
	return made
}
