package crud

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/wire/deployment"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

// output is a last stage that writes the results of the pipeline: those of a $merge each by an
// upsert of its own.
type output struct {
	ns string
	// out has the results replace the collection, as $out does.
	out bool
	// on are the fields that a $merge names as those which tell documents apart; nil: the default.
	on []string
	// operator is what the fields of a result are given to; without one a result replaces.
	operator string
}

// takeOutput removes a last $out or $merge and returns it.
func takeOutput(r *request.Request, stages *[]bson.Raw) (*output, error) {
	if len(*stages) == 0 {
		return nil, nil
	}
	last := (*stages)[len(*stages)-1]
	for _, name := range []string{"$out", "$merge"} {
		v, err := last.LookupErr(name)
		if err != nil {
			continue
		}
		*stages = (*stages)[:len(*stages)-1]
		o := &output{out: name == "$out"}
		if name == "$merge" {
			o.operator = whenMatched["merge"]
			if doc, ok := v.DocumentOK(); ok {
				if err := o.readMerge(doc); err != nil {
					return nil, err
				}
				v = doc.Lookup("into")
			}
		}
		o.ns, err = target(r.DB, name, v)
		return o, err
	}
	return nil, nil
}

// target is the namespace that a stage writes to: the name of a collection, or {db, coll}.
func target(db, stage string, v bson.RawValue) (ns string, err error) {
	named := v
	if doc, ok := v.DocumentOK(); ok {
		if db, err = request.Text(doc, "db", db); err != nil {
			return "", err
		}
		named = doc.Lookup("coll")
	}
	coll, ok := named.StringValueOK()
	if !ok || !request.IsName(coll) {
		return "", errcode.New(reply.FailedToParse, "%s names no collection: %v", stage, v)
	}
	ns = db + "." + coll
	return ns, deployment.Changeable(ns)
}

// whenMatched is, for what a $merge can do with a document that is there, the operator that does
// it.
var whenMatched = map[string]string{"replace": "", "merge": "$set", "keepExisting": "$setOnInsert"}

// readMerge reads the arguments of a $merge besides into. One that has no effect here is refused:
// documents would be written that the client did not ask for.
func (o *output) readMerge(stage bson.Raw) error {
	elements, err := stage.Elements()
	if err != nil {
		return err
	}
	for _, e := range elements {
		switch name, v := e.Key(), e.Value(); name {
		case "into":
		case "on":
			if o.on, err = fieldsOn(v); err != nil {
				return err
			}
		case "whenMatched":
			how, _ := v.StringValueOK()
			operator, known := whenMatched[how]
			if !known {
				return errcode.New(reply.CommandNotSupported, "$merge has no whenMatched: %v; "+
					"it can \"replace\", \"merge\" or \"keepExisting\"", v)
			}
			o.operator = operator
		case "whenNotMatched":
			if how, _ := v.StringValueOK(); how != "insert" {
				return errcode.New(reply.CommandNotSupported,
					"$merge has no whenNotMatched: %v; it can \"insert\"", v)
			}
		default:
			return errcode.New(reply.CommandNotSupported, "$merge has no argument %s", name)
		}
	}
	return nil
}

// fieldsOn reads the fields of on: a name or several.
func fieldsOn(v bson.RawValue) (fields []string, err error) {
	values := []bson.RawValue{v}
	if array, ok := v.ArrayOK(); ok {
		if values, err = array.Values(); err != nil {
			return nil, err
		}
	}
	for _, v := range values {
		field, ok := v.StringValueOK()
		if !ok {
			return nil, errcode.New(reply.TypeMismatch,
				"on must be the name of a field or several, not %v", v)
		}
		fields = append(fields, field)
	}
	if len(fields) == 0 {
		return nil, errcode.New(reply.FailedToParse, "on must name at least one field")
	}
	return fields, nil
}

// The codes of a $merge, which have no names.
const (
	onNotUnique     = 51183
	onWithoutValues = 51132
)

// write writes the results. Unsatisfied is empty or says why the write concern is not satisfied
// though the results were written.
func (o *output) write(
	t env.Task, s *Service, r *request.Request, docs []bson.Raw,
) (unsatisfied string, err error) {
	concern, err := writeConcern(r)
	if err != nil {
		return "", err
	}
	if o.out {
		return s.replace(t, o.ns, docs, concern)
	}
	shardKey, err := o.open(t, s)
	if err != nil {
		return "", err
	}
	for _, doc := range docs {
		u, err := o.upsert(s, shardKey, doc)
		if err != nil {
			return "", err
		}
		u.Concern = concern
		w, err := s.updateOne(t, u)
		if err != nil {
			return "", err
		}
		if w.N == 0 { // an upsert leaves a document, unless there is no collection any more
			return "", errcode.New(errcode.NamespaceNotFound,
				"collection %s was dropped while results were written to it", o.ns)
		}
		if w.ConcernError != "" {
			unsatisfied = w.ConcernError
		}
	}
	return unsatisfied, nil
}

// open makes sure that the collection exists and returns its shard key, which is the _id of an
// unsharded one.
func (o *output) open(t env.Task, s *Service) (shardKey key.Pattern, err error) {
	_, err = s.d.Create(t, o.ns, nil, false)
	if err != nil && !errcode.Is(err, errcode.IllegalOperation) { // which says that it is sharded
		return shardKey, err
	}
	table, err := s.d.Table(t, o.ns)
	if err != nil {
		return shardKey, err
	}
	shardKey = table.Collection().Key
	return shardKey, o.unique(shardKey)
}

// unique refuses an on that is not the _id with the shard key: no other fields are known to be
// unique, and without the shard key a document could be on any shard.
func (o *output) unique(shardKey key.Pattern) error {
	want := []string{"_id"}
	if shardKey.Field != "_id" {
		want = append(want, shardKey.Field)
	}
	same := len(o.on) == len(want)
	for _, field := range want {
		same = same && slices.Contains(o.on, field)
	}
	if o.on == nil || same {
		return nil
	}
	return &reply.Failure{Number: onNotUnique, Message: "$merge into " + o.ns + " goes by " +
		strings.Join(want, ", ") + ", not by " + strings.Join(o.on, ", ") +
		", which is not known to be unique"}
}

// upsert is the statement that writes a result.
func (o *output) upsert(
	s *Service, shardKey key.Pattern, doc bson.Raw,
) (*command.Update, error) {
	doc, err := s.withID(doc, command.Session{})
	if err != nil {
		return nil, err
	}
	same := bson.D{{Key: "_id", Value: doc.Lookup("_id")}}
	if shardKey.Field != "_id" {
		v, err := key.Lookup(doc, shardKey.Field)
		if err != nil || isNone(v) {
			return nil, &reply.Failure{Number: onWithoutValues, Message: "a result cannot be " +
				"written to " + o.ns + ": it has no single value of the shard key " +
				shardKey.Field + ": " + doc.String()}
		}
		same = append(same, bson.E{Key: shardKey.Field, Value: v})
	}
	u := &command.Update{NS: o.ns, Change: doc, Upsert: true}
	if u.Filter, err = bson.Marshal(same); err != nil || o.operator == "" {
		return u, err
	}
	if err := plainNames(doc); err != nil {
		return nil, err
	}
	u.Change, err = bson.Marshal(bson.D{{Key: o.operator, Value: doc}})
	return u, err
}

// plainNames refuses a result with a field whose name an update operator would take for a path or
// for an operator: it would write something else.
func plainNames(doc bson.Raw) error {
	elements, err := doc.Elements()
	for _, e := range elements {
		if name := e.Key(); name == "" || name[0] == '$' || strings.Contains(name, ".") {
			return errcode.New(reply.CommandNotSupported,
				"$merge takes a result with a field called %q only if whenMatched is replace", name)
		}
	}
	return err
}

// isNone reports whether documents with this shard key could not be told from those without one, or
// from those with several.
func isNone(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeNull, bson.TypeUndefined, bson.TypeArray:
		return true
	}
	return false
}
