package shardstore

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// request is one of a kind of write: its name and how it is recognized.
type request func(asked env.Message) bool

func isInsert(asked env.Message) bool { _, ok := asked.(*command.Insert); return ok }

func isUpdate(asked env.Message) bool {
	u, ok := asked.(*command.Update)
	return ok && !u.Upsert
}

func isUpsert(asked env.Message) bool {
	u, ok := asked.(*command.Update)
	return ok && u.Upsert
}

func isDelete(asked env.Message) bool {
	f, ok := asked.(*command.FindAndModify)
	return ok && f.Remove
}

func isWrite(asked env.Message) bool {
	f, ok := asked.(*command.FindAndModify)
	return ok && f.Upsert
}

func isCAS(asked env.Message) bool {
	f, ok := asked.(*command.FindAndModify)
	return ok && !f.Remove && !f.Upsert
}

func isAnyWrite(asked env.Message) bool {
	return isInsert(asked) || isUpdate(asked) || isUpsert(asked) || isImaged(asked)
}

func isImaged(asked env.Message) bool { _, ok := asked.(*command.FindAndModify); return ok }

// wrongly is a lie about what writes of a kind are answered, of those that did something, or of
// those that did nothing.
func wrongly(
	about string, to request, did bool, change func(asked env.Message, w *command.Written),
) lie {
	return lie{about: about, tell: func(asked, said env.Message) any {
		w, ok := said.(*command.Written)
		if !ok || !to(asked) || did != (w.N > 0) {
			return nil
		}
		other := *w
		change(asked, &other)
		return &other
	}}
}

// refusing is a write that was carried out and is answered with an error.
func refusing(about string, to request, code errcode.Code) lie {
	return lie{about: about, tell: func(asked, said env.Message) any {
		if w, ok := said.(*command.Written); !ok || !to(asked) || w.N == 0 {
			return nil
		}
		return errcode.New(code, "it was carried out")
	}}
}

// imagined is a lie about the document that is returned.
func imagined(about string, to request, change func(d bson.D) bson.D) lie {
	return lie{about: about, tell: func(asked, said env.Message) any {
		w, ok := said.(*command.Written)
		if !ok || !to(asked) || w.Image == nil {
			return nil
		}
		other := *w
		if other.Image = edited(w.Image, change); other.Image == nil {
			return nil
		}
		return &other
	}}
}

// edited is the document after the change; nil if the change does not fit.
func edited(doc bson.Raw, change func(d bson.D) bson.D) bson.Raw {
	var d bson.D
	if err := bson.Unmarshal(doc, &d); err != nil {
		panic(err)
	}
	if d = change(d); d == nil {
		return nil
	}
	return raw(d)
}

// with is a change of one field.
func with(name string, change func(v any) any) func(bson.D) bson.D {
	return func(d bson.D) bson.D {
		i := slices.IndexFunc(d, func(e bson.E) bool { return e.Key == name })
		if i < 0 {
			return nil
		}
		d[i].Value = change(d[i].Value)
		return d
	}
}

// without leaves out a field.
func without(name string) func(bson.D) bson.D {
	return func(d bson.D) bson.D {
		i := slices.IndexFunc(d, func(e bson.E) bool { return e.Key == name })
		if i < 0 {
			return nil
		}
		return slices.Delete(d, i, i+1)
	}
}

func listed(change func(l bson.A) bson.A) func(bson.D) bson.D {
	return func(d bson.D) bson.D {
		i := slices.IndexFunc(d, func(e bson.E) bool { return e.Key == "l" })
		if i < 0 || len(d[i].Value.(bson.A)) < 2 {
			return nil
		}
		d[i].Value = change(d[i].Value.(bson.A))
		return d
	}
}

func next(v any) any { return v.(int64) + 1 }

func another(d bson.D) bson.D { return append(d, bson.E{Key: "x", Value: int64(1)}) }

func swapped(l bson.A) bson.A { l[0], l[1] = l[1], l[0]; return l }

func shortened(l bson.A) bson.A { return l[:len(l)-1] }

func doubled(l bson.A) bson.A { return append(l, l[0]) }

func count(n int) func(env.Message, *command.Written) {
	return func(_ env.Message, w *command.Written) { w.N = n }
}

func modified(n int) func(env.Message, *command.Written) {
	return func(_ env.Message, w *command.Written) { w.Modified = n }
}

func nothingDone(_ env.Message, w *command.Written) {
	w.N, w.Modified, w.Upserted, w.Image = 0, 0, false, nil
}

// invented says that there was a document.
func invented(asked env.Message, w *command.Written) {
	w.N, w.Image = 1, documentOf(docName{idOf(asked), idOf(asked)}, "i0")
	if !isDelete(asked) {
		w.Modified = 1
	}
}

func idOf(asked env.Message) int64 {
	id, _ := asked.(*command.FindAndModify).Filter.Lookup("_id").AsInt64OK()
	return id
}

// onLists has a lie be told where lists are replaced and deleted, which seeds do not do: nothing
// would be left to say which pushes were executed.
func onLists(l lie) lie {
	l.in = `shardproof scenario 2
seed 1
topology shards=2 members=3 config=3 routers=1 clients=1
faults-end 300ms
limit 5m
collection test.docs ranged keys=4 preload=4 bounds=2
op 1 at 10ms client 0 push test.docs k=1 v=w1
op 2 at 20ms client 0 push test.docs k=1 v=w2
op 3 at 30ms client 0 push test.docs k=3 v=w3
op 4 at 40ms client 0 push test.docs k=3 v=w4
op 5 at 50ms client 0 write test.docs k=1 v=w5
op 6 at 60ms client 0 delete test.docs k=3
`
	return l
}

// isolating has a primary apply what no other member gets, and lose it to the next one.
const isolating = `shardproof scenario 2
seed 1
topology shards=2 members=3 config=3 routers=1 clients=1
faults-end 3s
limit 5m
collection test.docs ranged keys=4 preload=4 bounds=2
set writeConcernTimeoutMillis 100ms
op 3 at 20ms client 0 read test.docs k=1
op 1 at 150ms client 0 write test.docs k=1 v=w1
op 2 at 160ms client 0 update test.docs k=1 v=w2
fault 1 at 100ms isolated-primary shard-a.primary for 2s
`

var writtenLies = map[string][]lie{
	"N": {
		wrongly("insert of two", isInsert, true, count(2)),
		wrongly("insert of none", isInsert, true, count(0)),
		wrongly("update matched two", isUpdate, true, count(2)),
		wrongly("update that did something says nothing", isUpdate, true, nothingDone),
		wrongly("update that did nothing says one", isUpdate, false,
			func(_ env.Message, w *command.Written) { w.N, w.Modified = 1, 1 }),
		wrongly("upsert that did nothing", isUpsert, true, nothingDone),
		wrongly("upsert of two", isUpsert, true, count(2)),
		wrongly("findAndModify of two", isImaged, true, count(2)),
		wrongly("findAndModify of none with an image", isWrite, true, count(0)),
		wrongly("cas that matched says nothing", isCAS, true, nothingDone),
		wrongly("delete of something says nothing", isDelete, true, nothingDone),
		wrongly("delete of nothing says one", isDelete, false, invented),
		wrongly("negative count", isAnyWrite, true, count(-1)),
		refusing("insert was done and is refused as bad", isInsert, errcode.BadValue),
		refusing("insert was done and is a duplicate", isInsert, errcode.DuplicateKey),
		refusing("upsert was done and has no collection", isUpsert, errcode.NamespaceNotFound),
		refusing("delete was done and is stale", isDelete, errcode.StaleConfig),
	},
	"Modified": {
		wrongly("insert modifies", isInsert, true, modified(1)),
		wrongly("update modifies none", isUpdate, true, modified(0)),
		wrongly("update modifies two", isUpdate, true, modified(2)),
		wrongly("upsert modifies two", isUpsert, true, modified(2)),
		wrongly("findAndModify modifies two", isWrite, true, modified(2)),
		wrongly("cas modifies none", isCAS, true, modified(0)),
		wrongly("delete modifies", isDelete, true, modified(1)),
	},
	"Upserted": {
		wrongly("insert upserts", isInsert, true,
			func(_ env.Message, w *command.Written) { w.Upserted = true }),
		wrongly("update upserts", isUpdate, true,
			func(_ env.Message, w *command.Written) { w.Upserted = true }),
		wrongly("upserted is flipped", isUpsert, true,
			func(_ env.Message, w *command.Written) { w.Upserted = !w.Upserted }),
		wrongly("upsert found what it made", isUpsert, true,
			func(_ env.Message, w *command.Written) {
				w.Upserted, w.Modified = !w.Upserted, 1-w.Modified
			}),
		wrongly("write made what it found", isWrite, true,
			func(_ env.Message, w *command.Written) {
				w.Upserted, w.Modified, w.Image = true, 0, nil
			}),
	},
	"Image": {
		wrongly("old document of a cas is missing", isCAS, true,
			func(_ env.Message, w *command.Written) { w.Image = nil }),
		wrongly("old document of a delete is missing", isDelete, true,
			func(_ env.Message, w *command.Written) { w.Image = nil }),
		imagined("old document of a cas is another", isCAS, with("v", func(any) any { return "i0" })),
		imagined("old document of a delete is another", isDelete,
			with("v", func(any) any { return "i0" })),
		imagined("old document of a write is nonsense", isWrite,
			with("v", func(any) any { return "nonsense" })),
		wrongly("old document is the new one", isWrite, true,
			func(asked env.Message, w *command.Written) {
				if w.Image != nil {
					w.Image = asked.(*command.FindAndModify).Change
				}
			}),
		imagined("image with another id", isImaged, with("_id", next)),
		imagined("image with another key", isImaged, with("k", next)),
		onLists(imagined("image without its list", isImaged, without("l"))),
		imagined("image without its value", isImaged, without("v")),
		imagined("image with another field", isImaged, another),
		onLists(imagined("image with a shorter list", isImaged, listed(shortened))),
		onLists(imagined("image with a longer list", isImaged, listed(doubled))),
		onLists(imagined("image with its list in another order", isImaged, listed(swapped))),
		imagined("image with a number as its value", isImaged,
			with("v", func(any) any { return int64(1) })),
	},
	"Retried": {
		wrongly("retried is flipped", isAnyWrite, true,
			func(_ env.Message, w *command.Written) { w.Retried = !w.Retried }),
	},
	"Refused": {{
		about: "the last of several documents was inserted",
		needs: func(op *scenario.Op) bool { return op.Together },
		tell: func(asked, said env.Message) any {
			insert, one := asked.(*command.Insert)
			w, ok := said.(*command.Written)
			if !one || !ok || len(insert.Docs) < 2 || w.N < len(insert.Docs) {
				return nil
			}
			other := *w
			other.N, other.Refused, other.Why = w.N-1, errcode.DuplicateKey, "there is one"
			return &other
		},
	}},
	"ConcernError": {
		wrongly("a majority is denied", isAnyWrite, true,
			func(_ env.Message, w *command.Written) { w.ConcernError = "only one member has it" }),
		{about: "no majority is not told", in: isolating, tell: func(_, said env.Message) any {
			w, ok := said.(*command.Written)
			if !ok || w.ConcernError == "" {
				return nil
			}
			other := *w
			other.ConcernError = ""
			return &other
		}},
	},
	"Time": {
		wrongly("write without a time", isAnyWrite, true,
			func(_ env.Message, w *command.Written) { w.Time = 0 }),
		wrongly("write at an earlier time", isAnyWrite, true,
			func(_ env.Message, w *command.Written) { w.Time -= min(w.Time-1, 1<<40) }),
		wrongly("write just before its time", isAnyWrite, true,
			func(_ env.Message, w *command.Written) { w.Time-- }),
		wrongly("write just after its time", isAnyWrite, true,
			func(_ env.Message, w *command.Written) { w.Time++ }),
		wrongly("write at a later time", isAnyWrite, true,
			func(_ env.Message, w *command.Written) { w.Time += 1 << 40 }),
	},
}
