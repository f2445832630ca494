package crud

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

// selected are the documents that a count or a distinct evaluates.
func (s *Service) selected(
	t env.Task, r *request.Request,
) (docs []bson.Raw, at hlc.Timestamp, err error) {
	ns, err := r.Collection()
	if err != nil {
		return nil, 0, err
	}
	find, err := s.readOptions(r, ns)
	if err != nil {
		return nil, 0, err
	}
	if find.Filter, err = r.Document("query"); err != nil {
		return nil, 0, err
	}
	docs, err = s.collect(t, find)
	return docs, find.At, err
}

func (s *Service) count(t env.Task, r *request.Request) (bson.D, error) {
	docs, _, err := s.selected(t, r)
	if err != nil {
		return nil, err
	}
	p, err := parsePage(r)
	if err != nil {
		return nil, err
	}
	n := max(0, len(docs)-p.skip)
	if p.limit > 0 {
		n = min(n, p.limit)
	}
	return reply.Result(bson.E{Key: "n", Value: int32(n)}), nil
}

func (s *Service) distinct(t env.Task, r *request.Request) (bson.D, error) {
	path, err := r.Text("key", "")
	if err != nil {
		return nil, err
	}
	docs, at, err := s.selected(t, r)
	if err != nil {
		return nil, err
	}
	var values []bson.RawValue
	for _, doc := range docs {
		query.Values(doc, path, func(v bson.RawValue) { values = append(values, v) })
	}
	slices.SortStableFunc(values, query.Compare)
	values = slices.CompactFunc(values, func(a, b bson.RawValue) bool {
		return query.Compare(a, b) == 0
	})
	list := make(bson.A, len(values))
	for i, v := range values {
		list[i] = v
	}
	doc := bson.D{{Key: "values", Value: list}}
	if at != 0 {
		doc = append(doc, bson.E{Key: "atClusterTime", Value: catalog.TimestampBSON(at)})
	}
	return append(doc, reply.OK()...), nil
}
