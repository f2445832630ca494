package protocoltest_test

import (
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// ask sends a command to the primary of a set and says in the end what was answered.
func (r *rig) ask(what, set string, req env.Message) {
	r.send(r.operator(), func(t env.Task) {
		_, err := rpc.CallPrimary[command.Done](t, r.operator().sets[set], req, time.Minute)
		r.answer(what, err)
	})
}

func (r *rig) answer(what string, err error) {
	if err != nil {
		r.say("%s: %v", what, err)
		return
	}
	r.say("%s: ok", what)
}

func (r *rig) move(l line) error {
	to := l.arg("to", "shard-b")
	if find := l.arg("find", ""); find != "" {
		r.ask(fmt.Sprintf("move of the chunk with %s to %s", find, to), "config", &command.MoveRange{NS: sharded, Find: bound(find), To: to, Name: "move"})
		return nil
	}
	rng := l.span()
	what := fmt.Sprintf("move of %s to %s", shown(rng), to)
	if from := l.arg("donor", ""); from != "" { // past the config server, which would try again
		r.ask(what, from, &command.ShardsvrMoveRange{NS: sharded, Min: rng.Min, Max: rng.Max, To: to})
		return nil
	}
	r.ask(what, "config", &command.MoveRange{
		NS: sharded, Min: rng.Min, Max: rng.Max, To: to, Name: "move",
		WaitDelete: l.has("wait"), ForceJumbo: command.ForceJumbo(l.arg("force", "")),
	})
	return nil
}

func (r *rig) raise(l line) error {
	table, err := r.cluster.Catalog(sharded)
	if err != nil {
		return err
	}
	rng := l.span()
	r.ask(fmt.Sprintf("raise of %v", rng), "config", &command.EnsureChunkVersionIsGreaterThan{
		NS: sharded, UUID: table.Collection().UUID, Min: rng.Min, Max: rng.Max, Version: table.Owner(rng.Min).Version,
	})
	return nil
}

func (r *rig) merge(l line) error {
	rng := l.span()
	r.send(r.operator(), func(t env.Task) {
		req := &command.MergeChunks{NS: sharded, Min: rng.Min, Max: rng.Max}
		_, err := rpc.Call[command.Done](t, r.operator().ep, "router.0", req, time.Minute)
		r.answer(fmt.Sprintf("merge of %v", rng), err)
	})
	return nil
}

func (r *rig) movePrimary(l line) error {
	to := l.arg("to", "shard-b")
	r.send(r.operator(), func(t env.Task) {
		_, err := rpc.Call[command.Done](t, r.operator().ep, "router.0", &command.MovePrimary{Database: "test", To: to}, time.Minute)
		r.answer("movePrimary to "+to, err)
	})
	return nil
}

func (r *rig) refresh(l line) error {
	set := l.word(0)
	r.send(r.operator(), func(t env.Task) {
		_, err := rpc.CallPrimary[command.Flushed](t, r.operator().sets[set], &command.FlushRoutingTableCacheUpdates{NS: sharded}, time.Minute)
		r.answer("refresh of "+set, err)
	})
	return nil
}

func (r *rig) cleanup(l line) error {
	set, what := r.operator().sets[l.word(0)], "cleanupOrphaned on "+l.word(0)
	req := &command.CleanupOrphaned{NS: sharded, From: bound(l.arg("from", "min"))}
	r.send(r.operator(), func(t env.Task) {
		done, err := rpc.CallPrimary[command.CleanedUp](t, set, req, time.Minute)
		if err == nil && done.StoppedAt != "" {
			r.say("%s: ok, stopped at %v", what, done.StoppedAt)
			return
		}
		r.answer(what, err)
	})
	return nil
}

// write has each document written by a client of its own, who writes nothing else meanwhile. Of one document it tells that
// it was written; of more only those that were not.
func (r *rig) write(l line) error {
	v, keys := l.arg("v", "new"), l.keys()
	for i, k := range keys {
		u := r.clients()[i%len(r.clients())]
		r.send(u, func(t env.Task) {
			if r.upsert(t, u, k, v) && len(keys) == 1 {
				r.say("write of %d: ok", k)
			}
		})
	}
	return nil
}

func (r *rig) upsert(t env.Task, u *user, k int64, v string) (acknowledged bool) {
	a := u.client.Update(t, command.Update{
		NS: sharded, Filter: raw(bson.D{{Key: "k", Value: k}}), Change: doc(k, v), Upsert: true, Concern: command.Majority,
	})
	if a.Certainty != client.OK {
		r.say("write of %d: %v %v", k, a.Certainty, a.Err)
		return false
	}
	r.wrote[k] = v
	r.times["last"] = u.client.Time()
	return true
}

func (r *rig) erase(l line) error {
	for i, k := range l.keys() {
		u := r.clients()[i%len(r.clients())]
		r.send(u, func(t env.Task) {
			a := u.client.Delete(t, command.Delete{NS: sharded, Filter: raw(bson.D{{Key: "k", Value: k}}), Concern: command.Majority})
			r.say("delete of %d: %v, %d", k, a.Certainty, a.Written.N)
			if a.Certainty == client.OK {
				delete(r.wrote, k)
			}
			r.times["last"] = u.client.Time()
		})
	}
	return nil
}

// statement is statement 0 of a transaction number of a session, sent once, through a router.
func (r *rig) statement(l line) error {
	k, v := l.keys()[0], l.arg("v", "new")
	req := &command.FindAndModify{
		NS: l.arg("in", sharded), Filter: raw(bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}}), Change: doc(k, v), Upsert: true,
		Session: command.Session{ID: l.arg("session", "session"), Txn: l.number("txn", 1)}, Concern: command.Majority,
	}
	r.send(r.clients()[0], func(t env.Task) {
		w, err := rpc.Call[command.Written](t, r.clients()[0].ep, "router.0", req, time.Minute)
		what := fmt.Sprintf("statement on %d", k)
		switch {
		case err != nil:
			r.say("%s: %v", what, err)
		case w.Retried:
			r.say("%s: ok, executed before%s", what, image(w))
		default:
			r.say("%s: ok%s", what, image(w))
		}
	})
	return nil
}

func image(w *command.Written) string {
	if w.Image == nil {
		return ""
	}
	return ", replaced " + w.Image.Lookup("v").StringValue()
}

func (r *rig) remember(l line) error {
	r.times[l.word(0)] = r.times["last"]
	return nil
}

// scan reads everything, batch by batch, and says in the end what it got.
func (r *rig) scan(l line) error {
	op := command.Find{
		NS: sharded, BatchSize: int(l.number("batch", 4)), Concern: command.ReadConcern(l.arg("concern", string(command.MajorityRead))),
		Secondary: l.has("secondary"), At: r.times[l.arg("at", "")],
	}
	times := l.number("times", 1)
	r.send(r.clients()[len(r.clients())-1], func(t env.Task) {
		for ; times > 1; times-- {
			_, _, _ = r.everything(t, op)
		}
		if got, n, err := r.everything(t, op); err != nil {
			r.say("scan: %v, after %d documents", err, n)
		} else {
			r.say("scan: %d documents, %s", n, got)
		}
	})
	return nil
}

// everything scans as the last of the clients.
func (r *rig) everything(t env.Task, op command.Find) (got runs, n int, err error) {
	u := r.clients()[len(r.clients())-1]
	a := u.client.Scan(t, op, func(batch []bson.Raw) {
		for _, d := range batch {
			n++
			got.add(d.Lookup("k").Int64(), d.Lookup("v").StringValue())
		}
	})
	return got, n, a.Err
}
