package query

import (
	"regexp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/errcode"
)

// matchRare evaluates the operators that few filters use.
func matchRare(op string, operand bson.RawValue, got field) (bool, error) {
	switch op {
	case "$not":
		return matchNot(operand, got)
	case "$size":
		return matchSize(operand, got)
	case "$all":
		return matchAll(operand, got)
	case "$elemMatch":
		return matchElement(operand, got)
	case "$mod":
		return matchRemainder(operand, got)
	case "$type":
		return matchType(operand, got)
	}
	return false, badValue("unknown operator: %s", op)
}

func matchNot(operand bson.RawValue, got field) (bool, error) {
	if _, ok := operatorsOf(operand); !ok && operand.Type != bson.TypeRegex {
		return false, badValue("$not takes a regular expression or operators, not %v", operand)
	}
	matches, err := matchField(operand, got)
	return !matches && err == nil, err
}

func matchSize(operand bson.RawValue, got field) (bool, error) {
	size, ok := operand.AsInt64OK()
	if !ok || size < 0 {
		return false, badValue("$size takes a whole number from 0 on, not %v", operand)
	}
	return got.whole(func(v bson.RawValue) bool {
		array, ok := v.ArrayOK()
		if !ok {
			return false
		}
		values, err := array.Values()
		return err == nil && int64(len(values)) == size
	}), nil
}

func matchAll(operand bson.RawValue, got field) (bool, error) {
	wanted, ok := operand.ArrayOK()
	if !ok {
		return false, badValue("$all takes an array, not %v", operand)
	}
	some := false
	all, err := everyElement(bson.Raw(wanted), func(_ string, want bson.RawValue) (bool, error) {
		some = true
		return matchField(want, got)
	})
	return all && some, err
}

// matchElement looks for an array element that satisfies all conditions: operators on it, or a
// filter of its fields.
func matchElement(operand bson.RawValue, got field) (found bool, err error) {
	filter, ok := operand.DocumentOK()
	if !ok {
		return false, badValue("$elemMatch takes a document, not %v", operand)
	}
	_, operators := operatorsOf(operand)
	got.whole(func(v bson.RawValue) bool {
		return anyElement(v, func(e bson.RawValue) bool {
			var matches bool
			if inner, ok := e.DocumentOK(); operators {
				one := appendElement(beginDocument(), "e", e)
				doc, _ := finishDocument(one, nil)
				matches, err = matchField(operand, fieldAt(doc, "e"))
			} else if ok {
				matches, err = Match(filter, inner)
			}
			found = found || matches && err == nil
			return matches || err != nil
		})
	})
	return found, err
}

func matchRemainder(operand bson.RawValue, got field) (bool, error) {
	values, ok := operand.ArrayOK()
	parts, err := values.Values()
	if !ok || err != nil || len(parts) != 2 {
		return false, badValue("$mod takes [divisor, remainder], not %v", operand)
	}
	divisor, ok := parts[0].AsInt64OK()
	rest, whole := parts[1].AsInt64OK()
	if !ok || !whole || divisor == 0 {
		return false, badValue("$mod takes two whole numbers, the first not 0, not %v", operand)
	}
	return got.any(func(v bson.RawValue) bool {
		n, ok := v.AsInt64OK()
		return ok && n%divisor == rest
	}), nil
}

// types are the names that filters and expressions know types by.
var types = []struct {
	name string
	of   bson.Type
}{
	{"double", bson.TypeDouble}, {"string", bson.TypeString},
	{"object", bson.TypeEmbeddedDocument}, {"array", bson.TypeArray},
	{"binData", bson.TypeBinary}, {"undefined", bson.TypeUndefined},
	{"objectId", bson.TypeObjectID}, {"bool", bson.TypeBoolean}, {"date", bson.TypeDateTime},
	{"null", bson.TypeNull}, {"regex", bson.TypeRegex}, {"dbPointer", bson.TypeDBPointer},
	{"javascript", bson.TypeJavaScript}, {"symbol", bson.TypeSymbol},
	{"javascriptWithScope", bson.TypeCodeWithScope}, {"int", bson.TypeInt32},
	{"timestamp", bson.TypeTimestamp}, {"long", bson.TypeInt64},
	{"decimal", bson.TypeDecimal128}, {"minKey", bson.TypeMinKey}, {"maxKey", bson.TypeMaxKey},
}

// typeName is "missing" for the type of what does not exist.
func typeName(t bson.Type) string {
	for _, one := range types {
		if one.of == t {
			return one.name
		}
	}
	return "missing"
}

func typeNamed(name string) (t bson.Type, known bool) {
	for _, one := range types {
		if one.name == name {
			return one.of, true
		}
	}
	return t, false
}

func matchType(operand bson.RawValue, got field) (bool, error) {
	var is func(bson.Type) bool
	if name, ok := operand.StringValueOK(); ok {
		want, known := typeNamed(name)
		if !known && name != "number" {
			return false, badValue("there is no type %q", name)
		}
		is = func(t bson.Type) bool { return t == want || name == "number" && isNumber(t) }
	} else if n, ok := operand.AsInt64OK(); ok {
		is = func(t bson.Type) bool { return t == bson.Type(n) }
	} else {
		return false, badValue("$type takes a name or a number, not %v", operand)
	}
	return got.any(func(v bson.RawValue) bool { return v.Type != 0 && is(v.Type) }) &&
		(got.exists()), nil
}

func isNumber(t bson.Type) bool {
	return t == bson.TypeInt32 || t == bson.TypeInt64 || t == bson.TypeDouble ||
		t == bson.TypeDecimal128
}

// matchRegex takes a regular expression, or a text and options.
func matchRegex(pattern, options bson.RawValue, got field) (bool, error) {
	text, flags, ok := pattern.RegexOK()
	if !ok {
		if text, ok = pattern.StringValueOK(); !ok {
			return false, badValue("$regex takes a text, not %v", pattern)
		}
	}
	if given, ok := options.StringValueOK(); ok {
		flags = given
	}
	// Without x, an expression that was written for it would select other documents.
	if rest := strings.Trim(flags, "imsu"); rest != "" {
		return false, badValue("the options %q of a regular expression are not supported", rest)
	}
	flags = strings.ReplaceAll(flags, "u", "") // texts always are of Unicode
	if flags != "" {
		text = "(?" + flags + ")" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return false,
			errcode.New(errcode.BadValue, "the regular expression cannot be used: %v", err)
	}
	return got.any(func(v bson.RawValue) bool {
		s, ok := v.StringValueOK()
		return ok && re.MatchString(s)
	}), nil
}
