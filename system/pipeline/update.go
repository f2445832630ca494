package pipeline

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/query"
)

// inUpdates are the stages that an update may have.
var inUpdates = []string{
	"$addFields", "$set", "$project", "$unset", "$replaceRoot", "$replaceWith",
}

// updateField names the stages in a change that is a pipeline: {$pipeline: [stage, …]}.
const updateField = "$pipeline"

// Change is an update by stages, for Update and NewFrom.
func Change(stages []bson.Raw) (bson.Raw, error) {
	for _, s := range stages {
		first, err := s.IndexErr(0)
		if err != nil || !slices.Contains(inUpdates, first.Key()) {
			return nil, failure("%v is no stage of an update", s)
		}
	}
	return bson.Marshal(bson.D{{Key: updateField, Value: stages}})
}

// Reserved is the name of a field of a change that only Change and query.WithArrayFilters give:
// what a client sends as a change must have none.
func Reserved(change bson.Raw) (name string, found bool) {
	for _, name := range []string{updateField, query.ArrayFiltersField} {
		if _, err := change.LookupErr(name); err == nil {
			return name, true
		}
	}
	return "", false
}

// stagesOf are the stages of a change; false for one that Change did not make.
func stagesOf(change bson.Raw) (list []bson.Raw, ok bool, err error) {
	first, err := change.IndexErr(0)
	if err != nil || first.Key() != updateField {
		return nil, false, nil
	}
	list, err = documents(first.Value(), nil)
	return list, true, err
}

// Update is query.Apply for changes of all kinds.
func Update(change, doc bson.Raw) (bson.Raw, error) {
	list, ok, err := stagesOf(change)
	if err != nil || !ok {
		if err == nil {
			return query.Apply(change, doc)
		}
		return nil, err
	}
	return updated(list, doc)
}

// updated is what the stages make of a document, which must be one.
func updated(list []bson.Raw, doc bson.Raw) (bson.Raw, error) {
	made, err := Run(list, []bson.Raw{doc})
	if err != nil {
		return nil, err
	}
	if len(made) != 1 {
		return nil, failure("the stages %v of an update make %d documents of one", list, len(made))
	}
	return keepID(made[0], doc)
}

// keepID is the result of the stages with the _id of the document, which they must not change.
func keepID(made, doc bson.Raw) (bson.Raw, error) {
	id, err := doc.LookupErr("_id")
	if err != nil {
		return made, nil
	}
	if own, err := made.LookupErr("_id"); err == nil {
		if query.Compare(own, id) != 0 {
			return nil, errcode.New(errcode.ImmutableField, "the _id %v would become %v", id, own)
		}
		return made, nil
	}
	whole := bson.D{{Key: "_id", Value: id}}
	elements, err := made.Elements()
	if err != nil {
		return nil, err
	}
	for _, e := range elements {
		whole = append(whole, bson.E{Key: e.Key(), Value: e.Value()})
	}
	return bson.Marshal(whole)
}

// NewFrom is query.NewFrom for changes of all kinds.
func NewFrom(filter, change, newID bson.Raw) (bson.Raw, error) {
	list, ok, err := stagesOf(change)
	if err != nil {
		return nil, err
	}
	if !ok {
		return query.NewFrom(filter, change, newID)
	}
	empty, err := bson.Marshal(bson.D{{Key: "$set", Value: bson.D{}}})
	if err != nil {
		return nil, err
	}
	doc, err := query.NewFrom(filter, empty, newID)
	if err != nil {
		return nil, err
	}
	return updated(list, doc)
}
