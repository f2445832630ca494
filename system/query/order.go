package query

import (
	"bytes"
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/key"
)

// Compare orders values of all types: by class, then as their keys are; documents and arrays by
// their fields one after the other.
func Compare(a, b bson.RawValue) int {
	if d := cmp.Compare(classOf(a), classOf(b)); d != 0 {
		return d
	}
	if isContainer(a) {
		return compareFields(bson.Raw(a.Value), bson.Raw(b.Value))
	}
	if decimals(a, b) {
		return compareNumbers(a, b)
	}
	var spaceA, spaceB [40]byte
	ka, errA := key.Append(spaceA[:0], a)
	kb, errB := key.Append(spaceB[:0], b)
	if errA == nil && errB == nil {
		return bytes.Compare(ka, kb)
	}
	return cmp.Or(cmp.Compare(a.Type, b.Type), bytes.Compare(a.Value, b.Value))
}

// classOf is the place of a value's type among all types.
func classOf(v bson.RawValue) int {
	switch v.Type {
	case bson.TypeMinKey:
		return 0
	case 0, bson.TypeNull, bson.TypeUndefined:
		return 1
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return 2
	case bson.TypeString, bson.TypeSymbol:
		return 3
	case bson.TypeEmbeddedDocument:
		return 4
	case bson.TypeArray:
		return 5
	case bson.TypeBinary:
		return 6
	case bson.TypeObjectID:
		return 7
	case bson.TypeBoolean:
		return 8
	case bson.TypeDateTime:
		return 9
	case bson.TypeTimestamp:
		return 10
	case bson.TypeRegex:
		return 11
	case bson.TypeMaxKey:
		return 100
	}
	return 50
}

func compareFields(a, b bson.Raw) int {
	fieldsA, _ := a.Elements()
	fieldsB, _ := b.Elements()
	for i := range min(len(fieldsA), len(fieldsB)) {
		x, y := fieldsA[i], fieldsB[i]
		d := cmp.Or(cmp.Compare(classOf(x.Value()), classOf(y.Value())),
			cmp.Compare(x.Key(), y.Key()), Compare(x.Value(), y.Value()))
		if d != 0 {
			return d
		}
	}
	return cmp.Compare(len(fieldsA), len(fieldsB))
}

// Order is an order of documents: by one path after the other.
type Order []OrderBy

// OrderBy is one path of an Order.
type OrderBy struct {
	Path       string
	Descending bool
}

// ParseOrder reads {path: 1, path: -1}; nil is no order.
func ParseOrder(sort bson.Raw) (o Order, err error) {
	_, err = everyElement(sort, func(path string, v bson.RawValue) (bool, error) {
		n, ok := v.AsInt64OK()
		if !ok || n != 1 && n != -1 {
			return false, badValue("a sort order is 1 or -1, not %v for %q", v, path)
		}
		o = append(o, OrderBy{path, n < 0})
		return true, nil
	})
	return o, err
}

// Compare is negative when a comes before b. Of an array, the least element counts, or in
// descending order the greatest.
func (o Order) Compare(a, b bson.Raw) int {
	for _, by := range o {
		d := Compare(by.value(a), by.value(b))
		if by.Descending {
			d = -d
		}
		if d != 0 {
			return d
		}
	}
	return 0
}

func (by OrderBy) value(doc bson.Raw) bson.RawValue {
	best, some := nullValue, false
	take := func(v bson.RawValue) {
		if !some || (Compare(v, best) < 0) != by.Descending {
			best, some = v, true
		}
	}
	eachAt(doc, by.Path, func(v bson.RawValue, _ bool) bool {
		if array, ok := v.ArrayOK(); ok {
			_, _ = document.Fields(bson.Raw(array), func(_ []byte, e bson.RawValue) bool {
				take(e)
				return true
			})
		} else {
			take(v)
		}
		return false
	})
	return best
}
