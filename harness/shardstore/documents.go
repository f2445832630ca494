package shardstore

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/command"
)

// Documents are {_id: k, k: k, v: identity of the last write, l: pushed identities}.

func raw(d bson.D) bson.Raw {
	b, err := bson.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("shardstore: document %v cannot be encoded: %v", d, err))
	}
	return b
}

func document(k int64, v string) bson.Raw {
	return raw(bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}, {Key: "v", Value: v}})
}

func between(from, to int64) bson.Raw {
	return raw(
		bson.D{{Key: "k", Value: bson.D{{Key: "$gte", Value: from}, {Key: "$lt", Value: to}}}},
	)
}

func only(k int64) bson.D { return bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}} }

func set(v string) bson.Raw {
	return raw(bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: v}}}})
}

func push(v string) bson.Raw {
	return raw(bson.D{{Key: "$push", Value: bson.D{{Key: "l", Value: v}}}})
}

func concern(op *scenario.Op) command.ReadConcern {
	if op.Concern == "" {
		return command.Linearizable
	}
	return command.ReadConcern(op.Concern)
}

func found(doc bson.Raw) histories.Result {
	r := histories.Result{Found: true}
	if v, ok := doc.Lookup("v").StringValueOK(); ok {
		r.Value = v
	}
	if list, ok := doc.Lookup("l").ArrayOK(); ok {
		values, err := list.Values()
		if err != nil {
			panic(fmt.Sprintf("shardstore: the list of %s cannot be read: %v", doc, err))
		}
		for _, v := range values {
			r.List = append(r.List, v.StringValue())
		}
	}
	return r
}
