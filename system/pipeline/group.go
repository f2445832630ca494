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
	var values []bson.RawValue
	for _, doc := range g.docs {
		v, found, err := query.Evaluate(elements[0].Value(), doc)
		if err != nil {
			return null, err
		}
		if found {
			values = append(values, v)
		}
	}
	switch op := elements[0].Key(); op {
	case "$sum":
		return sum(values)
	case "$count":
		return integer(int64(len(g.docs))), nil
	case "$min", "$max":
		return extreme(op == "$max", values), nil
	case "$push":
		return query.Array(values), nil
	case "$addToSet":
		slices.SortStableFunc(values, query.Compare)
		return query.Array(slices.CompactFunc(values, func(a, b bson.RawValue) bool {
			return query.Compare(a, b) == 0
		})), nil
	case "$first", "$last":
		if len(values) == 0 {
			return null, nil
		}
		if op == "$last" {
			return values[len(values)-1], nil
		}
		return values[0], nil
	default:
		return null, failure("unknown group operator '%s'", op)
	}
}

// sum ignores values that are not numbers.
func sum(values []bson.RawValue) (bson.RawValue, error) {
	var total int64
	for _, v := range values {
		if v.Type == bson.TypeDouble {
			return null, failure("$sum adds whole numbers only, not %v", v)
		}
		if n, ok := v.AsInt64OK(); ok {
			total += n
		}
	}
	return integer(total), nil
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
