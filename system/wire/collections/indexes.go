package collections

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

func (s service) listIndexes(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := r.Collection()
	if err != nil {
		return nil, err
	}
	c, err := s.find(t, ns)
	if err != nil {
		return nil, err
	}
	first, err := bson.Marshal(idIndex)
	if err != nil {
		return nil, err
	}
	docs := []bson.Raw{first}
	for _, i := range c.Indexes {
		docs = append(docs, i.Doc)
	}
	return whole(ns, docs), nil
}

func (s service) createIndexes(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := r.Collection()
	if err != nil {
		return nil, err
	}
	specs, err := r.Documents("indexes")
	if err != nil {
		return nil, err
	}
	made, err := s.d.Create(t, ns, nil, false)
	if err != nil && !errcode.Is(err, errcode.IllegalOperation) {
		return nil, err
	}
	present, err := s.find(t, ns)
	if errcode.Is(err, errcode.NamespaceNotFound) { // it was dropped meanwhile, or is not listed
		present, err = &command.ListedCollection{}, nil
	}
	if err != nil {
		return nil, err
	}
	wanted, err := wantedIndexes(present, specs)
	if err != nil {
		return nil, err
	}
	all := &command.Written{}
	for _, i := range wanted {
		one, err := s.createIndex(t, ns, i)
		if err != nil {
			return nil, err
		}
		all.ConcernError = cmp.Or(one.ConcernError, all.ConcernError)
	}
	return confirmed(all,
		bson.E{Key: "numIndexesBefore", Value: int32(1 + len(present.Indexes))},
		bson.E{Key: "numIndexesAfter", Value: int32(1 + joint(present.Indexes, wanted))},
		bson.E{Key: "createdCollectionAutomatically", Value: made != nil && made.N > 0},
	), nil
}

// joint is how many indexes there are in two lists.
func joint(present, wanted []command.IndexSpec) int {
	names := map[string]bool{}
	for _, i := range slices.Concat(present, wanted) {
		names[i.Name] = true
	}
	return len(names)
}

// wantedIndexes are those that a command describes. All of them are checked before any is created,
// each against the indexes that exist and those before it in the command.
func wantedIndexes(
	present *command.ListedCollection, specs []bson.Raw,
) (wanted []command.IndexSpec, err error) {
	others := slices.Clone(present.Indexes)
	for _, spec := range specs {
		name, err := request.Text(spec, "name", "")
		if err != nil {
			return nil, err
		}
		keys, err := request.Document(spec, "key")
		if err != nil || name == "" || len(keys) == 0 {
			return nil, errcode.New(reply.FailedToParse, "an index has a name and a key: %v", spec)
		}
		if name == "_id_" {
			continue
		}
		if request.Bool(spec, "unique", false) && !onID(keys) {
			return nil, errcode.New(reply.CommandNotSupported,
				"only the index on _id can be unique: index %s would let duplicates in", name)
		}
		if err := differs(present.NS, others, name, spec); err != nil {
			return nil, err
		}
		one := command.IndexSpec{Name: name, Doc: spec}
		wanted, others = append(wanted, one), append(others, one)
	}
	return wanted, nil
}

// onID reports whether an index is on the _id alone, which is unique.
func onID(keys bson.Raw) bool {
	fields, err := keys.Elements()
	return err == nil && len(fields) == 1 && fields[0].Key() == "_id"
}

// ascending reports whether the first field of an index is in ascending order.
func ascending(keys bson.Raw) bool {
	order, _ := keys.Index(0).Value().AsInt64OK()
	return order == 1
}

// differs refuses an index of the name of another one. It would not be made, or, of a sharded
// collection, take the other's place.
func differs(ns string, others []command.IndexSpec, name string, spec bson.Raw) error {
	for _, i := range others {
		has, wants := i.Doc.Lookup("key"), spec.Lookup("key")
		if i.Name == name && query.Compare(has, wants) != 0 {
			return errcode.New(errcode.IndexKeySpecsConflict,
				"index %s of %s is on %v, not on %v: drop it first", name, ns, has, wants)
		}
	}
	return nil
}

func (s service) createIndex(
	t env.Task, ns string, i command.IndexSpec,
) (*command.Written, error) {
	return s.d.Alter(t, &command.IndexUnsharded{
		NS: ns, Name: i.Name, Spec: i.Doc, Concern: command.Majority,
	}, &command.CreateIndex{NS: ns, Name: i.Name, Spec: i.Doc})
}

func (s service) dropIndexes(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := r.Collection()
	if err != nil {
		return nil, err
	}
	c, err := s.find(t, ns)
	if err != nil {
		return nil, err
	}
	names, err := named(r.Value("index"), c.Indexes)
	if err != nil {
		return nil, err
	}
	all := &command.Written{}
	for _, name := range names {
		one, err := s.d.Alter(t,
			&command.IndexUnsharded{NS: ns, Name: name, Concern: command.Majority},
			&command.DropIndex{NS: ns, Name: name})
		if err != nil {
			return nil, err
		}
		all.ConcernError = cmp.Or(one.ConcernError, all.ConcernError)
	}
	return confirmed(all, bson.E{Key: "nIndexesWas", Value: int32(1 + len(c.Indexes))}), nil
}

// named are the indexes that a client means: all of them, one or several by their names, or one by
// what it is on.
func named(which bson.RawValue, all []command.IndexSpec) (names []string, err error) {
	values := []bson.RawValue{which}
	if array, ok := which.ArrayOK(); ok {
		if values, err = array.Values(); err != nil {
			return nil, err
		}
	}
	for _, v := range values {
		name, byName := v.StringValueOK()
		if _, byKey := which.DocumentOK(); !byName && !byKey {
			return nil, errcode.New(reply.TypeMismatch,
				"an index is named by a text, or by what it is on, not %v", v)
		}
		if name == "*" && len(values) == 1 {
			for _, i := range all {
				names = append(names, i.Name)
			}
			return names, nil
		}
		if keys, _ := v.DocumentOK(); name == "_id_" || onID(keys) && ascending(keys) {
			return nil, errcode.New(reply.InvalidOptions, "the index on _id cannot be dropped")
		}
		at := slices.IndexFunc(all, func(i command.IndexSpec) bool {
			return byName && i.Name == name ||
				!byName && query.Compare(i.Doc.Lookup("key"), v) == 0
		})
		if at < 0 {
			return nil, errcode.New(errcode.IndexNotFound, "index not found with name [%s]",
				cmp.Or(name, v.String()))
		}
		names = append(names, all[at].Name)
	}
	return names, nil
}
