package shardstore

import (
	"github.com/shardproof/shardproof/checkers/facts"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// execution carries out one operation for a client. tick counts the batches of an answer that comes
// in parts.
type execution func(
	s *session, t env.Task, op *scenario.Op, tick func() uint64,
) (client.Answer, histories.Result)

// executions are the kinds of operations that this store carries out. A kind that is added to
// opkind gets a file here that declares how.
var executions = map[opkind.Name]execution{}

// executes declares how a kind is carried out. It is called from package-level variables only.
func executes(kind opkind.Name, do execution) opkind.Name {
	executions[kind] = do
	return kind
}

// executable are the kinds that this store carries out, in the order in which they are explained.
func executable() (kinds []opkind.Name) {
	for _, k := range opkind.Known() {
		if executions[k] != nil {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// onDocument is an execution whose answer comes at once.
func onDocument(
	do func(s *session, t env.Task, op *scenario.Op) (client.Answer, histories.Result),
) execution {
	return func(
		s *session, t env.Task, op *scenario.Op, _ func() uint64,
	) (client.Answer, histories.Result) {
		return do(s, t, op)
	}
}

// onCollection is an execution whose answer says no more than that it is done, and of one that ends
// a collection whether there was one.
func onCollection(do func(s *session, t env.Task, op *scenario.Op) client.Answer) execution {
	return func(
		s *session, t env.Task, op *scenario.Op, _ func() uint64,
	) (client.Answer, histories.Result) {
		a := do(s, t, op)
		return a, ending(op, &a)
	}
}

// ending fills in what a drop or rename ended: Applied, a collection of its name; Found, perhaps
// one of the new name, too. The config server does not say: of what is sharded from the start both
// are assumed.
func ending(op *scenario.Op, a *client.Answer) (r histories.Result) {
	effect := op.Kind.Of().Effect
	if a.Certainty == client.OK && (effect == opkind.Remove || effect == opkind.Move) {
		r.Applied, r.Found = a.Written.N > 0, a.Written.N == bothNames
	}
	return r
}

var (
	_ = executes(opkind.Read, onDocument((*session).read))
	_ = executes(opkind.Scan, (*session).scan)
	_ = executes(opkind.Insert, onDocument((*session).insert))
	_ = executes(opkind.Write, onDocument(
		func(s *session, t env.Task, op *scenario.Op) (client.Answer, histories.Result) {
			return s.findAndModify(t, op, command.FindAndModify{
				Change: documentOf(s.named(op), op.Value), Upsert: true,
			})
		}))
	_ = executes(opkind.CAS, onDocument((*session).compareAndSet))
	_ = executes(opkind.Delete, onDocument(
		func(s *session, t env.Task, op *scenario.Op) (client.Answer, histories.Result) {
			return s.findAndModify(t, op, command.FindAndModify{Remove: true})
		}))
	_ = executes(opkind.DeleteOne, onDocument((*session).deleteOne))
	_ = executes(opkind.Update, onDocument(
		func(s *session, t env.Task, op *scenario.Op) (client.Answer, histories.Result) {
			return s.update(t, op, set(op.Value), false)
		}))
	_ = executes(opkind.Upsert, onDocument(
		func(s *session, t env.Task, op *scenario.Op) (client.Answer, histories.Result) {
			return s.update(t, op, documentOf(s.named(op), op.Value), true)
		}))
	_ = executes(opkind.Push, onDocument(
		func(s *session, t env.Task, op *scenario.Op) (client.Answer, histories.Result) {
			return s.update(t, op, push(op.Value), false)
		}))
)

// compareAndSet expects a value or, without one, that there is no document: that there was one is a
// result, not a failure.
func (s *session) compareAndSet(t env.Task, op *scenario.Op) (client.Answer, histories.Result) {
	if op.Expect == "" {
		return s.insert(t, op)
	}
	return s.findAndModify(t, op, command.FindAndModify{
		Filter: expecting(s.named(op), op.Expect), Change: documentOf(s.named(op), op.Value),
	})
}

// Operations on whole collections. What is not sharded is asked of the primary shard of its
// database first, as drivers' commands are. If the collection has been sharded meanwhile, that is
// refused without effect, and the config server is asked instead.

// onWhole is an operation on a collection which may be sharded or not.
func onWhole(plain, sharded func(*session, env.Task, *scenario.Op) client.Answer) execution {
	return onCollection(func(s *session, t env.Task, op *scenario.Op) client.Answer {
		if s.collections[op.NS].Unsharded {
			return s.either(t, op, plain, sharded)
		}
		a := sharded(s, t, op)
		a.Written.N = bothNames
		return a
	})
}

// either asks as for an unsharded collection and, when that is refused, as for a sharded one: until
// the answer is of the one that there is.
func (s *session) either(
	t env.Task, op *scenario.Op, plain, sharded func(*session, env.Task, *scenario.Op) client.Answer,
) (a client.Answer) {
	refused := func(code errcode.Code) bool {
		return a.Certainty == client.Failed && errcode.Is(a.Err, code)
	}
	answered := s.oracle.Asked() // a router that takes it for sharded looks again
	defer answered(false)
	for range mostAsked {
		if a = plain(s, t, op); !refused(errcode.IllegalOperation) {
			return a
		}
		a = sharded(s, t, op)
		if a.Written.N = 1; !refused(errcode.NamespaceNotFound) {
			return a
		}
	}
	return a
}

// bothNames is how many collections an operation may have ended that the config server carries out:
// that of its name, and that of the new one.
const bothNames = 2

var (
	_ = executes(opkind.Drop, onWhole(
		func(s *session, t env.Task, op *scenario.Op) client.Answer {
			return s.client.DropUnsharded(t, op.NS)
		},
		func(s *session, t env.Task, op *scenario.Op) client.Answer {
			return s.whole(facts.Sharded(op.NS, false), func() client.Answer {
				return s.client.DropCollection(t, op.NS, s.collections[op.NS].Unsharded)
			})
		}))
	_ = executes(opkind.Rename, onWhole(
		func(s *session, t env.Task, op *scenario.Op) client.Answer {
			return s.client.RenameUnsharded(t, op.NS, op.Into, op.DropTarget)
		},
		func(s *session, t env.Task, op *scenario.Op) client.Answer {
			return s.whole(facts.Renamed(op.NS, op.Into), func() client.Answer {
				return s.client.RenameCollection(t, op.NS, op.Into, op.DropTarget)
			})
		}))
	_ = executes(opkind.CreateIndex, onWhole(
		func(s *session, t env.Task, op *scenario.Op) client.Answer {
			return s.client.IndexUnsharded(t, op.NS, indexName, indexSpec)
		},
		func(s *session, t env.Task, op *scenario.Op) client.Answer {
			return s.client.CreateIndex(t, op.NS, indexed)
		}))
	_ = executes(opkind.DropIndex, onWhole(
		func(s *session, t env.Task, op *scenario.Op) client.Answer {
			return s.client.IndexUnsharded(t, op.NS, indexName, nil)
		},
		func(s *session, t env.Task, op *scenario.Op) client.Answer {
			return s.client.DropIndex(t, op.NS, indexed)
		}))
	_ = executes(opkind.Create, onWhole(
		func(s *session, t env.Task, op *scenario.Op) client.Answer {
			return s.client.CreateUnsharded(t, op.NS, chosenFor(op.NS))
		},
		func(s *session, t env.Task, op *scenario.Op) client.Answer {
			return s.whole(facts.Sharded(op.NS, true), func() client.Answer {
				return s.client.ShardCollection(t, s.creations[op.NS])
			})
		}))
	_ = executes(opkind.Shard, onCollection((*session).shard))
)

// shard gives a collection in use its shard key, and before that the index that it must have.
func (s *session) shard(t env.Task, op *scenario.Op) client.Answer {
	answered := s.oracle.Asked()
	defer answered(false)
	by := shardedBy(s.collections[op.NS])
	if name, spec := indexFor(by); spec != nil {
		a := s.client.IndexUnsharded(t, op.NS, name, spec)
		if a.Certainty == client.Failed && !errcode.Is(a.Err, errcode.IllegalOperation) {
			return a
		}
	}
	return s.whole(facts.Sharded(op.NS, true), func() client.Answer {
		return s.client.ShardCollection(t, command.ShardCollection{NS: op.NS, Key: by})
	})
}
