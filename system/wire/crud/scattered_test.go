package crud_test

import (
	"reflect"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/wire/crud"
	"github.com/shardproof/shardproof/system/wire/cursor"
	"github.com/shardproof/shardproof/system/wire/deployment"
	"github.com/shardproof/shardproof/system/wire/frame"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

// emptyRouter serves one collection without documents. The collection is sharded, and no statement
// fixes its shard key, until it has been searched: from then on it is as unsharded says.
type emptyRouter struct {
	unsharded bool
	searches  []command.ReadConcern
	writes    []env.Message
}

func (r *emptyRouter) find(
	_ env.Task, _ env.NodeID, req *command.Find,
) (*command.Batch, error) {
	r.searches = append(r.searches, req.Concern)
	return &command.Batch{}, nil
}

func (r *emptyRouter) write(req env.Message, upsert bool) (*command.Written, error) {
	r.writes = append(r.writes, req)
	if !r.unsharded || len(r.searches) == 0 {
		return nil, errcode.New(errcode.ShardKeyNotFound, "%v fixes no shard key", req)
	}
	if !upsert {
		return &command.Written{}, nil
	}
	return &command.Written{N: 1, Upserted: true}, nil
}

func (r *emptyRouter) listen(node env.Node) *rpc.Endpoint {
	ep := rpc.Listen(node, hlc.New(node))
	rpc.Handle(ep, r.find)
	rpc.Handle(ep, func(
		_ env.Task, _ env.NodeID, req *command.Insert,
	) (*command.Written, error) {
		return r.write(req, false)
	})
	rpc.Handle(ep, func(
		_ env.Task, _ env.NodeID, req *command.Update,
	) (*command.Written, error) {
		return r.write(req, req.Upsert)
	})
	rpc.Handle(ep, func(
		_ env.Task, _ env.NodeID, req *command.FindAndModify,
	) (*command.Written, error) {
		return r.write(req, req.Upsert)
	})
	rpc.Handle(ep, func(
		env.Task, env.NodeID, *command.RecallStatement,
	) (*command.Written, error) {
		return &command.Written{}, nil
	})
	rpc.Handle(ep, func(
		_ env.Task, _ env.NodeID, req *command.Delete,
	) (*command.Written, error) {
		return r.write(req, false)
	})
	return ep
}

// answer has the service carry commands out, and returns its answer to the last one.
func (r *emptyRouter) answer(t *testing.T, cmds ...bson.D) (answer bson.Raw, failed error) {
	t.Helper()
	s := settings.Default80()
	world := sim.New(sim.Options{Seed: 1})
	defer world.Close()
	world.AddNode("router", func(task env.Task) {
		d := &deployment.Deployment{Endpoint: r.listen(task.Node()), Settings: &s}
		cursors := cursor.NewRegistry(task.Node(), func() time.Duration { return s.CursorTimeout })
		served := crud.New(d, cursors).Commands()
		for _, cmd := range cmds {
			req, err := request.Parse(&frame.Message{Body: raw(t, cmd)})
			if err != nil {
				t.Error(err)
				return
			}
			doc, err := served[req.Name](task, req)
			if failed = err; err == nil {
				answer = raw(t, doc)
			}
		}
	})
	world.Run(nil, env.Time(time.Minute))
	if err := world.Err(); err != nil {
		t.Fatal(err)
	}
	return answer, failed
}

func raw(t *testing.T, doc bson.D) bson.Raw {
	t.Helper()
	b, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// statement is {name: "docs", ...} of the first retryable statement of a session.
func statement(name string, args ...bson.E) bson.D {
	cmd := append(bson.D{{Key: name, Value: "docs"}}, args...)
	return append(cmd,
		bson.E{Key: "lsid", Value: bson.D{{Key: "id", Value: bson.Binary{Data: make([]byte, 16)}}}},
		bson.E{Key: "txnNumber", Value: int64(1)},
		bson.E{Key: "$db", Value: "test"})
}

var filter, change = bson.D{{Key: "x", Value: 1}},
	bson.D{{Key: "$set", Value: bson.D{{Key: "y", Value: 2}}}}

func update(multi, upsert bool) bson.D {
	return statement("update", bson.E{Key: "updates", Value: bson.A{bson.D{
		{Key: "q", Value: filter}, {Key: "u", Value: change},
		{Key: "multi", Value: multi}, {Key: "upsert", Value: upsert},
	}}})
}

func remove(limit int) bson.D {
	return statement("delete", bson.E{Key: "deletes", Value: bson.A{
		bson.D{{Key: "q", Value: filter}, {Key: "limit", Value: limit}}}})
}

func findAndModify(more ...bson.E) bson.D {
	return statement("findAndModify", append([]bson.E{{Key: "query", Value: filter}}, more...)...)
}

var (
	changes = bson.E{Key: "update", Value: change}
	upserts = bson.E{Key: "upsert", Value: true}
	removes = bson.E{Key: "remove", Value: true}
)

// TestUpsertIsAskedAgain: where nothing is found, the statement as it came decides. It inserts into
// a collection that has become an unsharded one.
func TestUpsertIsAskedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		cmd      bson.D
		upserted []string
	}{
		"updateOne":     {update(false, true), []string{"upserted", "0", "_id"}},
		"updateMany":    {update(true, true), []string{"upserted", "0", "_id"}},
		"findAndModify": {findAndModify(changes, upserts), []string{"lastErrorObject", "upserted"}},
	} {
		r := &emptyRouter{unsharded: true}
		answer, err := r.answer(t, c.cmd)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := answer.LookupErr(c.upserted...); err != nil {
			t.Errorf("%s does not say what it has inserted: %v", name, answer)
		}
		if first, last := r.writes[0], r.writes[len(r.writes)-1]; name != "updateMany" &&
			(len(r.writes) != 2 || !reflect.DeepEqual(first, last)) {
			t.Errorf("%s: asked %v", name, r.writes)
		}
	}
}

// TestUpsertWithoutShardKey is refused by a collection that is sharded still.
func TestUpsertWithoutShardKey(t *testing.T) {
	want := reply.Number(errcode.ShardKeyNotFound)
	for _, multi := range []bool{false, true} {
		answer, err := (&emptyRouter{}).answer(t, update(multi, true))
		if err != nil {
			t.Error(err)
			continue
		}
		if code, _ := answer.Lookup("writeErrors", "0", "code").Int32OK(); code != want {
			t.Errorf("an update with multi %t was answered with %v", multi, answer)
		}
	}
	answer, err := (&emptyRouter{}).answer(t, findAndModify(changes, upserts))
	if !errcode.Is(err, errcode.ShardKeyNotFound) {
		t.Errorf("a findAndModify was answered with %v, %v", answer, err)
	}
}

// TestSearchHasTheWritesConcern: that a majority has nothing to be changed has to be proven.
func TestSearchHasTheWritesConcern(t *testing.T) {
	for name, cmd := range map[string]bson.D{
		"updateOne": update(false, false), "updateMany": update(true, false),
		"deleteOne": remove(1), "deleteMany": remove(0),
		"findAndModify": findAndModify(changes), "remove": findAndModify(removes),
	} {
		for _, c := range []struct {
			w    any
			want command.ReadConcern
		}{{nil, command.Linearizable}, {"majority", command.Linearizable}, {1, command.Local}} {
			own := cmd
			if c.w != nil {
				own = append(own[:len(own):len(own)], bson.E{
					Key: "writeConcern", Value: bson.D{{Key: "w", Value: c.w}}})
			}
			r := &emptyRouter{}
			if _, err := r.answer(t, own); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if len(r.searches) != 1 || r.searches[0] != c.want {
				t.Errorf("%s with w: %v searches with %q", name, c.w, r.searches)
			}
		}
	}
}

// TestRetriedUpsertHasTheSameID: what a router has made for others between the two attempts has no
// part in it.
func TestRetriedUpsertHasTheSameID(t *testing.T) {
	other := bson.D{{Key: "insert", Value: "docs"},
		{Key: "documents", Value: bson.A{bson.D{{Key: "x", Value: 1}}}}, {Key: "$db", Value: "test"}}
	r := &emptyRouter{unsharded: true, searches: []command.ReadConcern{command.Local}}
	if _, err := r.answer(t, update(false, true), other, update(false, true)); err != nil {
		t.Fatal(err)
	}
	first, again := r.writes[0].(*command.Update), r.writes[len(r.writes)-1].(*command.Update)
	if first == again || !reflect.DeepEqual(first.NewID, again.NewID) {
		t.Errorf("the upsert had the _id %v, and its retry %v", first.NewID, again.NewID)
	}
}

// TestDeleteNeedsItsLimit: one document or all of them, and not by default.
func TestDeleteNeedsItsLimit(t *testing.T) {
	unlimited := statement("delete", bson.E{Key: "deletes", Value: bson.A{
		bson.D{{Key: "q", Value: filter}}}})
	for _, cmd := range []bson.D{unlimited, remove(2), remove(-1)} {
		r := &emptyRouter{}
		answer, err := r.answer(t, cmd)
		if !errcode.Is(err, reply.FailedToParse) || len(r.searches)+len(r.writes) > 0 {
			t.Errorf("%v was answered with %v, %v", cmd, answer, err)
		}
	}
}
