package protocoltest

import (
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
)

// write has each document written by a client of its own, who writes nothing else meanwhile. Of one
// document it shows that it was written; of more only those that were not.
func (r *Rig) write(l Line) error {
	v, keys := l.Arg("v", "new"), l.Keys()
	for i, k := range keys {
		u := r.Clients()[i%len(r.Clients())]
		r.Request(u, func(t env.Task) {
			if r.Upsert(t, u, k, v) && len(keys) == 1 {
				r.Say("write of %d: ok", k)
			}
		})
	}
	return nil
}

func (r *Rig) fill(l Line) error {
	u, keys, v := r.Clients()[0], l.Keys(), l.Arg("v", "new")
	r.Request(u, func(t env.Task) {
		for k := keys[0]; k <= keys[1]; k++ {
			r.Upsert(t, u, k, v)
		}
	})
	return nil
}

// Upsert writes a document of the sharded collection, and shows when that fails. What was
// acknowledged has to be there when the cluster is quiescent.
func (r *Rig) Upsert(t env.Task, u *User, k int64, v string) (acknowledged bool) {
	a := u.Client.Update(t, command.Update{
		NS: Sharded, Filter: byKey(k), Change: doc(k, v), Upsert: true, Concern: command.Majority,
	})
	if a.Certainty != client.OK {
		r.Say("write of %d: %v %v", k, a.Certainty, a.Err)
		return false
	}
	r.wrote[k] = v
	r.times["last"] = u.Client.Time()
	return true
}

func byKey(k int64) bson.Raw { return raw(bson.D{{Key: "k", Value: k}}) }

func (r *Rig) remove(l Line) error {
	for i, k := range l.Keys() {
		u := r.Clients()[i%len(r.Clients())]
		r.Request(u, func(t env.Task) {
			req := command.Delete{NS: Sharded, Filter: byKey(k), Concern: command.Majority}
			a := u.Client.Delete(t, req)
			r.Say("delete of %d: %v, %d", k, a.Certainty, a.Written.N)
			if a.Certainty == client.OK {
				delete(r.wrote, k)
			}
			r.times["last"] = u.Client.Time()
		})
	}
	return nil
}

// statement is statement 0 of a transaction number of a session, sent once, through a router.
func (r *Rig) statement(l Line) error {
	k, v := l.Keys()[0], l.Arg("v", "new")
	req := &command.FindAndModify{
		NS:     l.Arg("in", Sharded),
		Filter: byKey(k),
		Change: doc(k, v), Upsert: true,
		Implicit: l.Arg("implicit", "no") == "yes",
		Session: command.Session{
			ID: l.Arg("session", "session"), Txn: l.Number("txn", 1), Stmt: int32(l.Number("stmt", 0)),
		},
		Concern: command.Majority,
	}
	if req.NS != Sharded && l.Arg("by", "_id") == "_id" {
		req.Filter = raw(bson.D{{Key: "_id", Value: k}})
	}
	r.Request(r.Clients()[0], func(t env.Task) {
		ep := r.Clients()[0].Endpoint
		w, err := rpc.Call[command.Written](t, ep, "router.0", req, time.Minute)
		what := fmt.Sprintf("statement on %d", k)
		switch {
		case err != nil:
			r.Say("%s: %v", what, err)
		case w.Retried:
			r.Say("%s: ok, executed before%s", what, replaced(w))
		default:
			r.Say("%s: ok%s%s", what, replaced(w), doubt(w))
		}
	})
	return nil
}

// sessions has each of so many sessions execute one statement, all on one document.
func (r *Rig) sessions(l Line) error {
	n, ns := number(l.Word(0)), l.Arg("in", Sharded)
	ep := r.Clients()[0].Endpoint
	r.Request(r.Clients()[0], func(t env.Task) {
		for i := range n {
			req := &command.FindAndModify{
				NS:      ns,
				Filter:  raw(bson.D{{Key: "_id", Value: int64(1)}}),
				Change:  doc(1, fmt.Sprint(i)),
				Session: command.Session{ID: fmt.Sprintf("session-%d", i), Txn: 1},
				Concern: command.Majority,
			}
			if _, err := rpc.Call[command.Written](t, ep, "router.0", req, time.Minute); err != nil {
				r.Say("statement of session %d: %v", i, err)
			}
		}
	})
	return nil
}

func replaced(w *command.Written) string {
	if w.Image == nil {
		return ""
	}
	return ", replaced " + w.Image.Lookup("v").StringValue()
}

func doubt(w *command.Written) string {
	if w.ConcernError == "" {
		return ""
	}
	return ", but " + w.ConcernError
}

// writeDirectly asks a shard itself, without a version.
func (r *Rig) writeDirectly(l Line) error {
	set, k, v, u := l.Word(0), number(l.Word(1)), l.Arg("v", "new"), r.Operator()
	req := &command.Update{
		NS: Sharded, Filter: byKey(k), Concern: command.Majority,
		Change: raw(bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: v}}}}),
	}
	r.Request(u, func(t env.Task) {
		w, err := rpc.CallPrimary[command.Written](t, u.Sets[set], req, 0)
		if err != nil {
			r.Say("write of %d on %s: %v", k, set, err)
			return
		}
		r.Say("write of %d on %s: %d", k, set, w.N)
		if table, err := r.Cluster.Catalog(Sharded); err == nil && table.OwnsKey(set, key.Int(k)) {
			r.wrote[k] = v
		}
	})
	return nil
}

// scan reads batch by batch, and shows in the end what it got.
func (r *Rig) scan(l Line) error {
	op := command.Find{
		NS:        l.Arg("in", Sharded),
		BatchSize: int(l.Number("batch", 4)),
		Secondary: l.Has("secondary"),
		Concern:   command.ReadConcern(l.Arg("concern", string(command.MajorityRead))),
		At:        r.times[l.Arg("at", "")],
	}
	if l.Arg("min", "")+l.Arg("max", "") != "" {
		op.Filter = raw(bson.D{{Key: "k", Value: bson.D{
			{Key: "$gte", Value: l.Number("min", 0)}, {Key: "$lt", Value: l.Number("max", 1000)},
		}}})
	}
	times := l.Number("times", 1)
	r.Request(r.lastClient(), func(t env.Task) {
		for ; times > 1; times-- {
			_, _, _ = r.readAll(t, op)
		}
		if got, n, err := r.readAll(t, op); err != nil {
			r.Say("scan: %v, after %d documents", err, n)
		} else {
			r.Say("scan: %d documents, %s", n, got)
		}
	})
	return nil
}

// lastClient is the one that reads while others write.
func (r *Rig) lastClient() *User { return r.Clients()[len(r.Clients())-1] }

func (r *Rig) readAll(t env.Task, op command.Find) (got runs, n int, err error) {
	a := r.lastClient().Client.Scan(t, op, 0, func(batch []bson.Raw) {
		for _, d := range batch {
			n++
			got.add(d.Lookup("k").Int64(), d.Lookup("v").StringValue())
		}
	})
	return got, n, a.Err
}

// runs are documents in the order of their keys, those with equal values and no key between them in
// one: 0..9=old.
type runs []run

type run struct {
	first, last int64
	value       string
}

func (r *runs) add(k int64, value string) {
	if n := len(*r); n > 0 && (*r)[n-1].last+1 == k && (*r)[n-1].value == value {
		(*r)[n-1].last = k
		return
	}
	*r = append(*r, run{k, k, value})
}

// String is what a script shows.
func (r runs) String() string {
	var text []string
	for _, one := range r {
		keys := fmt.Sprint(one.first)
		if one.first != one.last {
			keys = fmt.Sprintf("%d..%d", one.first, one.last)
		}
		text = append(text, keys+"="+one.value)
	}
	if len(text) == 0 {
		return "nothing"
	}
	return strings.Join(text, " ")
}
