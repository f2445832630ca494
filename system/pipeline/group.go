package pipeline

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/query"
)

// collected are the documents of one group.
type collected struct {
	id   bson.RawValue
	docs []bson.Raw
}

// group makes one document of the documents of each _id, in the order in which the _ids come first.
func group(spec bson.RawValue, docs []bson.Raw) ([]bson.Raw, error) {
	fields, ok := spec.DocumentOK()
	if !ok {
		return nil, failure("$group takes a document, not %v", spec)
	}
	by, err := fields.LookupErr("_id")
	if err != nil {
		return nil, failure("a group specification must include an _id")
	}
	groups, err := collect(by, docs)
	if err != nil {
		return nil, err
	}
	elements, err := fields.Elements()
	if err != nil {
		return nil, err
	}
	made := make([]bson.Raw, 0, len(groups))
	for _, g := range groups {
		doc := bson.D{{Key: "_id", Value: g.id}}
		for _, e := range elements {
			if e.Key() == "_id" {
				continue
			}
			v, err := g.accumulate(e.Value())
			if err != nil {
				return nil, err
			}
			doc = append(doc, bson.E{Key: e.Key(), Value: v})
		}
		raw, err := bson.Marshal(doc)
		if err != nil {
			return nil, err
		}
		made = append(made, raw)
	}
	return made, nil
}

func collect(by bson.RawValue, docs []bson.Raw) (groups []*collected, err error) {
	for _, doc := range docs {
		id, _, err := query.Evaluate(by, doc)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(groups, func(g *collected) bool {
			return query.Compare(g.id, id) == 0
		})
		if i < 0 {
			i, groups = len(groups), append(groups, &collected{id: id})
		}
		groups[i].docs = append(groups[i].docs, doc)
	}
	return groups, nil
}

// accumulate is the value of {$op: expression} over the documents of a group.
func (g *collected) accumulate(spec bson.RawValue) (bson.RawValue, error) {
	fields, _ := spec.DocumentOK()
	elements, err := fields.Elements()
	if err != nil || len(elements) != 1 {
		return null, failure("an accumulator is {$operator: expression}, not %v", spec)
	}
	switch op, e := elements[0].Key(), elements[0].Value(); op {
	case "$count":
		return query.Integer(int64(len(g.docs))), nil
	case "$first":
		return valueOf(e, g.docs[0])
	case "$last":
		return valueOf(e, g.docs[len(g.docs)-1])
	default:
		values, err := g.values(e)
		if err != nil {
			return null, err
		}
		return combine(op, values)
	}
}

// valueOf is the value of an expression, null where there is none.
func valueOf(e bson.RawValue, doc bson.Raw) (bson.RawValue, error) {
	v, _, err := query.Evaluate(e, doc)
	return v, err
}

// values are those of an expression on the documents on which it has one.
func (g *collected) values(e bson.RawValue) (values []bson.RawValue, err error) {
	for _, doc := range g.docs {
		v, found, err := query.Evaluate(e, doc)
		if err != nil {
			return nil, err
		}
		if found {
			values = append(values, v)
		}
	}
	return values, nil
}

func combine(op string, values []bson.RawValue) (bson.RawValue, error) {
	switch op {
	case "$sum":
		return query.Sum(values)
	case "$min", "$max":
		return extreme(op == "$max", values), nil
	case "$push":
		return query.Array(values), nil
	case "$addToSet":
		slices.SortStableFunc(values, query.Compare)
		return query.Array(slices.CompactFunc(values, func(a, b bson.RawValue) bool {
			return query.Compare(a, b) == 0
		})), nil
	}
	return null, failure("unknown group operator '%s'", op)
}

func extreme(greatest bool, values []bson.RawValue) bson.RawValue {
	best := null
	for _, v := range values {
		if v.Type == bson.TypeNull {
			continue
		}
		if best.Type == bson.TypeNull || (query.Compare(v, best) > 0) == greatest {
			best = v
		}
	}
	return best
}
