package shardstore

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// query is one of a kind of query.
type query func(f *command.Find) bool

func isPoint(f *command.Find) bool {
	k, err := f.Filter.LookupErr("k")
	return err == nil && k.Type == bson.TypeInt64
}

func isScan(f *command.Find) bool { return !isPoint(f) }

func isAny(*command.Find) bool { return true }

// reads has a lie be told only in scenarios with reads or scans of the concern.
func reads(concern command.ReadConcern, l lie) lie {
	l.needs = func(op *scenario.Op) bool { return op.Concern == string(concern) }
	return l
}

func withConcern(c command.ReadConcern, of query) query {
	return func(f *command.Find) bool { return f.Concern == c && of(f) }
}

// misread is a lie about the answer to queries of a kind; change returns false if it does not fit.
func misread(about string, to query, change func(f *command.Find, b *command.Batch) bool) lie {
	return lie{about: about, tell: func(asked, said env.Message) any {
		f, ok := asked.(*command.Find)
		b, is := said.(*command.Batch)
		if !ok || !is || f == nil || !to(f) {
			return nil
		}
		other := *b
		other.Docs = slices.Clone(b.Docs)
		if !change(f, &other) {
			return nil
		}
		return &other
	}}
}

// returned is a lie about the documents of answers that have at least so many.
func returned(about string, to query, least int, change func(docs []bson.Raw) []bson.Raw) lie {
	return misread(about, to, func(_ *command.Find, b *command.Batch) bool {
		if len(b.Docs) < least {
			return false
		}
		b.Docs = change(b.Docs)
		return b.Docs != nil
	})
}

// first is a change of the first document.
func first(change func(bson.D) bson.D) func(docs []bson.Raw) []bson.Raw {
	return func(docs []bson.Raw) []bson.Raw {
		if docs[0] = edited(docs[0], change); docs[0] == nil {
			return nil
		}
		return docs
	}
}

func empty([]bson.Raw) []bson.Raw { return []bson.Raw{} }

func twice(docs []bson.Raw) []bson.Raw { return append(docs, docs[len(docs)-1]) }

func backwards(docs []bson.Raw) []bson.Raw { slices.Reverse(docs); return docs }

func nonsense() func(docs []bson.Raw) []bson.Raw {
	return first(with("v", func(any) any { return "nonsense" }))
}

func initial(docs []bson.Raw) []bson.Raw {
	id, _ := docs[0].Lookup("_id").AsInt64OK()
	k, _ := docs[0].Lookup("k").AsInt64OK()
	docs[0] = documentOf(docName{id, k}, "i0")
	return docs
}

func invent(f *command.Find, b *command.Batch) bool {
	k, _ := f.Filter.Lookup("k").AsInt64OK()
	if len(b.Docs) > 0 {
		return false
	}
	b.Docs = []bson.Raw{documentOf(docName{k, k}, "nonsense")}
	return true
}

var batchLies = map[string][]lie{
	"Docs": {
		returned("linearizable read of nothing",
			withConcern(command.Linearizable, isPoint), 1, empty),
		returned("majority read of nothing", withConcern(command.MajorityRead, isPoint), 1, empty),
		reads(command.Local, returned("local read of nothing",
			withConcern(command.Local, isPoint), 1, empty)),
		returned("snapshot scan of nothing", withConcern(command.Snapshot, isScan), 1, empty),
		returned("linearizable read of nonsense",
			withConcern(command.Linearizable, isPoint), 1, nonsense()),
		returned("majority read of nonsense",
			withConcern(command.MajorityRead, isPoint), 1, nonsense()),
		reads(command.Local, returned("local read of nonsense",
			withConcern(command.Local, isPoint), 1, nonsense())),
		reads(command.Available, returned("available read of nonsense",
			withConcern(command.Available, isAny), 1, nonsense())),
		returned("snapshot scan of nonsense", withConcern(command.Snapshot, isScan), 1, nonsense()),
		returned("majority read of a former value",
			withConcern(command.MajorityRead, isPoint), 1, initial),
		reads(command.Local, returned("local read of a former value",
			withConcern(command.Local, isPoint), 1, initial)),
		returned("snapshot scan of a former value",
			withConcern(command.Snapshot, isScan), 1, initial),
		misread("read of a document that there is not", isPoint, invent),
		returned("read of three documents", isPoint, 1,
			func(docs []bson.Raw) []bson.Raw { return append(docs, docs[0], docs[0]) }),
		returned("read of another key", isPoint, 1, first(with("k", next))),
		returned("read of another id", isPoint, 1, first(with("_id", next))),
		returned("read without the list", isPoint, 1, first(without("l"))),
		returned("read of a shorter list", isPoint, 1, first(listed(shortened))),
		returned("read of a longer list", isPoint, 1, first(listed(doubled))),
		returned("read of a list in another order", isPoint, 1, first(listed(swapped))),
		returned("read with another field", isPoint, 1, first(another)),
		returned("read without a value", isPoint, 1, first(without("v"))),
		returned("scan without its first row", isScan, 1,
			func(docs []bson.Raw) []bson.Raw { return docs[1:] }),
		returned("scan without its last row", isScan, 1,
			func(docs []bson.Raw) []bson.Raw { return docs[:len(docs)-1] }),
		returned("scan with a row twice", isScan, 1, twice),
		reads(command.Available, returned("available scan with a row twice",
			withConcern(command.Available, isScan), 1, twice)),
		returned("scan backwards", isScan, 2, backwards),
		returned("scan with another id", isScan, 1, first(with("_id", next))),
		returned("scan with another key", isScan, 1, first(with("k", next))),
		returned("scan with a shorter list", isScan, 1, first(listed(shortened))),
		returned("scan with another field", isScan, 1, first(another)),
		misread("scan of another range", isScan, func(f *command.Find, b *command.Batch) bool {
			b.Docs = append(b.Docs, documentOf(docName{1 << 20, 1 << 20}, "i0"))
			return b.Cursor == ""
		}),
		misread("scan in batches that are too large", isScan,
			func(f *command.Find, b *command.Batch) bool {
				if f.BatchSize == 0 || len(b.Docs) < f.BatchSize {
					return false
				}
				b.Docs = append(b.Docs, b.Docs[len(b.Docs)-1])
				return true
			}),
	},
	"Cursor": {
		misread("scan that ends too early", isScan, func(_ *command.Find, b *command.Batch) bool {
			open := b.Cursor != ""
			b.Cursor = ""
			return open
		}),
		misread("scan that does not end", isScan, func(_ *command.Find, b *command.Batch) bool {
			open := b.Cursor != ""
			b.Cursor = "router.0/1/999999"
			return !open
		}),
	},
	"Time": {
		misread("query without a time", isAny, func(_ *command.Find, b *command.Batch) bool {
			b.Time = 0
			return true
		}),
		misread("query at an earlier time", isAny, func(_ *command.Find, b *command.Batch) bool {
			b.Time -= min(b.Time-1, 1<<40)
			return true
		}),
		misread("query at a later time", isAny, func(_ *command.Find, b *command.Batch) bool {
			b.Time += 1 << 40
			return true
		}),
	},
	"Since": {
		misread("query since a later time", isAny, func(_ *command.Find, b *command.Batch) bool {
			b.Since = b.Time + 1<<40
			return true
		}),
		misread("query since no time", isAny, func(_ *command.Find, b *command.Batch) bool {
			since := b.Since != 0
			b.Since = 0
			return since
		}),
	},
}
