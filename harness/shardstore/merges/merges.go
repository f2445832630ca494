// Package merges finds out what a member of the config server went by when it asked a shard to
// merge chunks, for those who judge that.
//
// Promise: everything is read from the member's own log and clock. A pass of merges begins with an
// entry of the task's own, the newest that it has written when it asks. Whatever may have changed
// between the decision and the request is left out.
//
// Refusal: it asks no server, and judges nothing.
package merges

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/automerge"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/store"
)

// Watch follows what members of the config server send.
type Watch struct {
	// Judge judges the requests.
	Judge automerge.Judge
	// looked is how far a member's log reached when it last asked a member of a shard who its
	// primary is: it has decided before that what it sends then.
	looked map[link]uint64
}

// Log is a member of the config server.
type Log interface {
	Store() *store.Store
	Entry(index uint64) (e *oplog.Entry, term uint64, ok bool)
	Applied() oplog.Time
	Term() uint64
	Leading() bool
}

// link is a member of the config server and a shard.
type link struct {
	node  env.NodeID
	shard string
}

const day = 24 * time.Hour

// New returns a Watch that has seen nothing.
func New() *Watch { return &Watch{looked: map[link]uint64{}} }

// Sent takes notice of a request to a member of a shard, whose sender has that log and clock.
func (w *Watch) Sent(x *env.Exchange, shard string, m Log, local time.Duration) {
	asked, ok := x.Request.(*rpc.Envelope)
	if !ok {
		return
	}
	at := link{x.From, shard}
	switch req := asked.Body.(type) {
	case *command.Hello:
		w.looked[at] = m.Applied().Index
	case *command.ShardsvrMergeAllChunks:
		r := &automerge.Request{Node: string(x.From), Shard: shard, NS: req.NS, Local: -1}
		if began, known := pass(m, x.Wrote); known {
			if id := string(key.String(req.NS)); unchanged(m, began, configsvr.Collections, id) {
				r.Chosen = collection(m.Store(), req.NS)
			}
			direct := w.looked[at] < began
			if direct { // it knew the primary, so it sends what it has just decided
				r.Local = (local%day + day) % day
			}
			if direct || unchanged(m, began, configsvr.Settings, "") {
				r.Set = switches(m.Store())
			}
		}
		w.Judge.Asked(r)
	}
}

// pass is the entry with which the pass began that a request is of, or an earlier one: the newest
// may have been refused. That of a task of an earlier term is not known.
func pass(m Log, wrote uint64) (began uint64, known bool) {
	_, term, ok := m.Entry(wrote)
	return wrote, ok && wrote > 0 && m.Leading() && term == m.Term()
}

// unchanged reports whether a document is what it was at an entry, or, without an _id, all of a
// namespace.
func unchanged(m Log, since uint64, ns, id string) bool {
	for i := since; i <= m.Applied().Index; i++ {
		e, _, ok := m.Entry(i)
		if !ok || slices.ContainsFunc(e.Ops, func(op oplog.Op) bool {
			return op.NS == ns && (id == "" || op.ID == id)
		}) {
			return false
		}
	}
	return true
}

// collection reads what is said of a collection; nil if there is none.
func collection(data *store.Store, ns string) *automerge.Collection {
	doc := data.Get(configsvr.Collections, string(key.String(ns)), store.Latest)
	if doc == nil {
		return nil
	}
	moves, limited := doc.Lookup("allowMigrations").BooleanOK()
	merges, switched := doc.Lookup("enableAutoMerge").BooleanOK()
	off, _ := doc.Lookup("noBalance").BooleanOK()
	defragment, _ := doc.Lookup("defragmentCollection").BooleanOK()
	return &automerge.Collection{
		NoBalance: off, NoMerge: switched && !merges, Fixed: limited && !moves,
		Defragment: defragment, Sessions: ns == catalog.Sessions,
	}
}

// switches reads what operators have set; the balancer is on, and merges, unless they say
// otherwise.
func switches(data *store.Store) *automerge.Switches {
	set := func(id string) bson.Raw {
		return data.Get(configsvr.Settings, string(key.String(id)), store.Latest)
	}
	s := &automerge.Switches{Mode: trace.BalancerFull}
	balancer := set(configsvr.BalancerSetting)
	if mode, ok := balancer.Lookup("mode").StringValueOK(); ok {
		s.Mode, _ = trace.ParseBalancerMode(mode)
	}
	if times, ok := balancer.Lookup("activeWindow").DocumentOK(); ok {
		s.Window = &automerge.Window{Start: timeOfDay(times, "start"), Stop: timeOfDay(times, "stop")}
	}
	on, switched := set("automerge").Lookup("enabled").BooleanOK()
	s.NoMerge = switched && !on
	return s
}

// Allowed reports whether a member of the config server has that chunks are merged at all times.
func Allowed(data *store.Store) bool {
	s := switches(data)
	return s.Mode == trace.BalancerFull && s.Window == nil && !s.NoMerge
}

// timeOfDay reads a time like 23:00.
func timeOfDay(window bson.Raw, field string) time.Duration {
	text, _ := window.Lookup(field).StringValueOK()
	at, _ := time.Parse("15:04", text)
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
}
