package mongodb

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
)

// statements are the writes that a client carries out, by kind.
var statements = map[opkind.Name]func(*scenario.Op) statement{
	opkind.Insert: func(op *scenario.Op) statement {
		return statement{bson.D{{Key: "insert", Value: collectionOf(op)},
			{Key: "documents", Value: bson.A{document(op.Key, op.Value)}}}, readInserted}
	},
	opkind.Write: func(op *scenario.Op) statement {
		return findAndModify(op, named(op),
			bson.E{Key: "update", Value: document(op.Key, op.Value)},
			bson.E{Key: "upsert", Value: true})
	},
	opkind.CAS: func(op *scenario.Op) statement {
		return findAndModify(op, append(named(op), bson.E{Key: "v", Value: op.Expect}),
			bson.E{Key: "update", Value: document(op.Key, op.Value)})
	},
	opkind.Delete: func(op *scenario.Op) statement {
		return findAndModify(op, named(op), bson.E{Key: "remove", Value: true})
	},
	opkind.DeleteOne: func(op *scenario.Op) statement {
		one := bson.D{{Key: "q", Value: named(op)}, {Key: "limit", Value: 1}}
		return statement{bson.D{{Key: "delete", Value: collectionOf(op)},
			{Key: "deletes", Value: bson.A{one}}}, readUpdated(false)}
	},
	opkind.Update: func(op *scenario.Op) statement {
		return update(op, bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: op.Value}}}}, false)
	},
	opkind.Upsert: func(op *scenario.Op) statement {
		return update(op, document(op.Key, op.Value), true)
	},
	opkind.Push: func(op *scenario.Op) statement {
		return update(op, bson.D{{Key: "$push", Value: bson.D{{Key: "l", Value: op.Value}}}}, false)
	},
}

func collectionOf(op *scenario.Op) string {
	_, collection := split(op.NS)
	return collection
}

// named is the filter for the document of a key.
func named(op *scenario.Op) bson.D {
	return bson.D{{Key: "_id", Value: op.Key}, {Key: "k", Value: op.Key}}
}

func update(op *scenario.Op, change bson.D, upsert bool) statement {
	one := bson.D{{Key: "q", Value: named(op)}, {Key: "u", Value: change}}
	if upsert {
		one = append(one, bson.E{Key: "upsert", Value: true})
	}
	return statement{bson.D{{Key: "update", Value: collectionOf(op)},
		{Key: "updates", Value: bson.A{one}}}, readUpdated(upsert)}
}

func findAndModify(op *scenario.Op, query bson.D, more ...bson.E) statement {
	command := bson.D{{Key: "findAndModify", Value: collectionOf(op)}, {Key: "query", Value: query}}
	return statement{append(command, more...), readImage}
}

func count(reply bson.Raw, path ...string) int {
	n, _ := reply.Lookup(path...).AsInt64OK()
	return int(n)
}

func readInserted(reply bson.Raw, r *histories.Result) {
	r.N = count(reply, "n")
	r.Applied = r.N > 0
}

func readUpdated(upsert bool) func(bson.Raw, *histories.Result) {
	return func(reply bson.Raw, r *histories.Result) {
		r.N = count(reply, "n")
		r.Applied = r.N > 0
		if upsert && r.Applied {
			_, err := reply.LookupErr("upserted")
			r.Upserted = err == nil
			r.Found = !r.Upserted
		}
	}
}

// readImage takes the document that was replaced or removed out of the reply to a findAndModify.
func readImage(reply bson.Raw, r *histories.Result) {
	r.N = count(reply, "lastErrorObject", "n")
	r.Applied = r.N > 0
	if image, is := reply.Lookup("value").DocumentOK(); is {
		one := documentResult(image)
		r.Found, r.Value, r.List = one.Found, one.Value, one.List
	}
}

// readResult is that of a find by key.
func readResult(reply bson.Raw) histories.Result {
	batch, is := reply.Lookup("cursor", "firstBatch").ArrayOK()
	if !is {
		return histories.Result{}
	}
	documents, err := batch.Values()
	if err != nil || len(documents) == 0 {
		return histories.Result{}
	}
	r := documentResult(documents[0].Document())
	r.N = len(documents)
	return r
}

// documentResult is what a document says.
func documentResult(doc bson.Raw) histories.Result {
	r := histories.Result{Found: true}
	r.Value, _ = doc.Lookup("v").StringValueOK()
	if list, is := doc.Lookup("l").ArrayOK(); is {
		values, _ := list.Values()
		for _, v := range values {
			text, _ := v.StringValueOK()
			r.List = append(r.List, text)
		}
	}
	return r
}
