package router_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/protocoltest"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/router"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

const ns = "test.docs"

// stage is a router among simulated shards and a simulated config server. There is one table:
// shards refuse versions that are not of it, and own the documents that it says. Every key from 0
// to 39 has a document.
type stage struct {
	*protocoltest.Stage
	settings settings.Settings
	table    *catalog.Table
	changed  hlc.Timestamp // when the table last changed
	config   *rpc.Endpoint
	router   *router.Router
	driver   *rpc.Endpoint
	answers  map[string][]errcode.Code // what a shard or the config server answers next
	cursors  map[string][]bson.Raw
}

func newStage() *stage {
	s := &stage{
		Stage: protocoltest.NewStage(), settings: settings.Default80(), changed: hlc.At(1),
		answers: map[string][]errcode.Code{}, cursors: map[string][]bson.Raw{},
	}
	s.addVerbs()
	coll := catalog.Collection{
		NS: ns, UUID: "u", Epoch: "e", Timestamp: 1, Key: key.Pattern{Field: "k"},
		AllowMigrations: true,
	}
	shards := []string{"shard-a", "shard-b", "shard-c"}
	chunks, err := catalog.First(coll, []key.Key{key.Int(10), key.Int(20)}, shards)
	if err == nil {
		s.table, err = catalog.NewTable(coll, chunks)
	}
	if err != nil {
		panic(err)
	}
	s.Open(sim.Options{Seed: 1, YieldMax: -1})
	s.World.AddNode("config.0", s.bootConfig)
	sets := map[string][]env.NodeID{}
	for _, name := range shards {
		sets[name] = []env.NodeID{env.NodeID(name + ".0"), env.NodeID(name + ".1")}
		for _, id := range sets[name] {
			s.World.AddNode(id, func(t env.Task) { s.bootShard(t, name) })
		}
	}
	s.World.AddNode("router.0", func(t env.Task) { s.bootRouter(t, shards, sets) })
	s.World.AddNode("driver", func(t env.Task) {
		s.driver = rpc.Listen(t.Node(), hlc.New(t.Node()))
	})
	s.World.Run(func() bool { return s.driver != nil && s.config != nil }, env.Time(time.Second))
	return s
}

func (s *stage) bootRouter(t env.Task, shards []string, nodes map[string][]env.NodeID) {
	ep := rpc.Listen(t.Node(), hlc.New(t.Node()))
	sets := make(map[string]*rpc.Set)
	for _, name := range shards {
		sets[name] = rpc.NewSet(ep, name, nodes[name], &s.settings)
	}
	config := rpc.NewSet(ep, "config", []env.NodeID{"config.0"}, &s.settings)
	s.router = router.New(ep, config, sets, &s.settings, protocol.V80)
}

func (s *stage) bootConfig(t env.Task) {
	s.config = rpc.Listen(t.Node(), hlc.New(t.Node()))
	type ask = command.GetRoutingTable
	rpc.Handle(s.config, func(_ env.Task, _ env.NodeID, req *ask) (*command.RoutingUpdate, error) {
		u := &command.RoutingUpdate{
			Collection: s.table.Collection(), Full: req.Since.IsZero(), At: s.changed,
		}
		u.Chunks = slices.Collect(s.table.Chunks())
		if !u.Full {
			u.Chunks = s.table.Since(req.Since)
		}
		since := req.Since
		s.Say("  config: table since %d|%d, %d chunks", since.Major, since.Minor, len(u.Chunks))
		if code := s.planned("config"); code != "" {
			return nil, errcode.New(code, "as planned")
		}
		return u, nil
	})
}

// planned takes the next answer that the script wants of a server; empty: what is true.
func (s *stage) planned(server string) (code errcode.Code) {
	if list := s.answers[server]; len(list) > 0 {
		code, s.answers[server] = list[0], list[1:]
	}
	if code == "ok" {
		code = ""
	}
	return code
}

func (s *stage) bootShard(t env.Task, name string) {
	ep, self := rpc.Listen(t.Node(), hlc.New(t.Node())), t.Node().ID()
	primary := strings.HasSuffix(string(self), ".0")
	rpc.Handle(ep, func(env.Task, env.NodeID, *command.Hello) (*command.HelloReply, error) {
		s.Say("  %s: hello", self)
		if s.answers[name+".1"] != nil {
			primary = !strings.HasSuffix(string(self), ".0")
		}
		return &command.HelloReply{Writable: primary}, nil
	})
	admit := func(what string, p command.Placement) error {
		s.Say("  %s: %s with %d|%d", self, what, p.Shard.Major, p.Shard.Minor)
		return s.admit(self, name, p)
	}
	rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *command.Insert) (*command.Written, error) {
		what := fmt.Sprintf("insert %v stmt %d", req.Docs[0].Lookup("k"), req.Session.Stmt)
		return &command.Written{N: 1}, admit(what, req.Place)
	})
	rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *command.Update) (*command.Written, error) {
		return &command.Written{N: 1, Modified: 1}, admit("update", req.Place)
	})
	rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *command.Find) (*command.Batch, error) {
		if err := admit("find", req.Place); err != nil {
			return nil, err
		}
		cursor := fmt.Sprintf("%s/%d", name, len(s.cursors)+1)
		return s.batch(cursor, s.documents(name, req.Filter), req.BatchSize), nil
	})
	rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *command.GetMore) (*command.Batch, error) {
		s.Say("  %s: getMore %s", self, req.Cursor)
		if code := s.planned(name); code != "" || s.cursors[req.Cursor] == nil {
			return nil, errcode.New(errcode.CursorNotFound, "no cursor %s", req.Cursor)
		}
		return s.batch(req.Cursor, s.cursors[req.Cursor], req.BatchSize), nil
	})
	rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *command.KillCursors) (*command.Done, error) {
		s.Say("  %s: kill %v", self, req.Cursors)
		return &command.Done{}, nil
	})
}

// admit refuses a version that is not the shard's, and fails as the script says.
func (s *stage) admit(self env.NodeID, shard string, p command.Placement) error {
	code := s.planned(shard)
	if code == "" && p.Shard != s.table.ShardVersion(shard) {
		code = errcode.StaleConfig
	}
	if code == "" {
		return nil
	}
	s.Say("  %s: answers %s", self, code)
	return errcode.New(code, "as planned")
}

func (s *stage) documents(shard string, filter bson.Raw) (docs []bson.Raw) {
	for k := range int64(40) {
		doc := document(k)
		match, err := query.Match(filter, doc)
		if err == nil && match && s.table.OwnsKey(shard, key.Int(k)) {
			docs = append(docs, doc)
		}
	}
	return docs
}

func (s *stage) batch(cursor string, docs []bson.Raw, size int) *command.Batch {
	if size == 0 || len(docs) <= size {
		delete(s.cursors, cursor)
		return &command.Batch{Docs: docs}
	}
	s.cursors[cursor] = docs[size:]
	return &command.Batch{Cursor: cursor, Docs: docs[:size]}
}

func document(k int64) bson.Raw { return raw(bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}}) }

func raw(d bson.D) bson.Raw {
	b, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return b
}

// addVerbs is the language of this stage, beside that of every stage.
func (s *stage) addVerbs() {
	// moved from=a to=b min=5 max=8: the table changes.
	s.Verbs["moved"] = s.moved
	// answers shard-a CODE...: what a shard, or config, answers next; ok is what is true.
	s.Verbs["answers"] = func(l protocoltest.Line) error {
		for _, code := range l.Words()[1:] {
			s.answers[l.Word(0)] = append(s.answers[l.Word(0)], errcode.Code(code))
		}
		return nil
	}
	// insert 1 2 [retryable], update 3 [retryable]
	s.Requests["insert"] = func(l protocoltest.Line) error {
		var docs []bson.Raw
		for _, k := range keys(l) {
			docs = append(docs, document(k))
		}
		return s.request(l, s.write(&command.Insert{NS: ns, Docs: docs, Session: session(l)}))
	}
	s.Requests["update"] = func(l protocoltest.Line) error {
		doc := raw(bson.D{{Key: "k", Value: keys(l)[0]}})
		req := &command.Update{NS: ns, Filter: doc, Change: doc, Session: session(l)}
		return s.request(l, s.write(req))
	}
	// scan 5 25 3: the keys from 5 on below 25, in batches of 3.
	s.Requests["scan"] = func(l protocoltest.Line) error {
		n := keys(l)
		return s.request(l, func(t env.Task) (string, error) {
			return s.scan(t, n[0], n[1], int(n[2]))
		})
	}
}

// keys are the numbers on a line.
func keys(l protocoltest.Line) (all []int64) {
	for _, w := range l.Words() {
		if k, err := strconv.ParseInt(w, 10, 64); err == nil {
			all = append(all, k)
		}
	}
	return all
}

func session(l protocoltest.Line) command.Session {
	if l.Has("retryable") {
		return command.Session{ID: "s", Txn: 1}
	}
	return command.Session{}
}

func (s *stage) moved(l protocoltest.Line) error {
	s.changed += hlc.At(1)
	rng := key.Range{Min: l.Bound("min", key.Min), Max: l.Bound("max", key.Max)}
	from, to := "shard-"+l.Arg("from", ""), "shard-"+l.Arg("to", "")
	changed, err := catalog.Move(s.table, rng, from, to, s.changed,
		catalog.HistoryWindow{Reach: time.Minute})
	if err == nil {
		s.table, err = s.table.With(changed)
	}
	return err
}

// request sends one operation to the router. The world goes on a little after the answer, so that
// cursors are killed, and for an async one, so that it arrives.
func (s *stage) request(l protocoltest.Line, send func(env.Task) (string, error)) error {
	s.Send("driver", l.Verb(), func(t env.Task) {
		text, err := send(t)
		if err != nil {
			text = err.Error()
		}
		s.Say("%s: %s", l.Verb(), text)
	})
	if l.Async() {
		return s.Pass(50 * time.Millisecond)
	}
	err := s.Until(time.Minute, "the router answers", s.Answered)
	if err == nil {
		err = s.Pass(5 * time.Millisecond)
	}
	return err
}

func (s *stage) write(req env.Message) func(env.Task) (string, error) {
	return func(t env.Task) (string, error) {
		r, err := rpc.Call[command.Written](t, s.driver, "router.0", req, 0)
		if err != nil {
			return "", err
		}
		if r.Refused != "" {
			return fmt.Sprintf("n %d, and the next was refused: %s: %s", r.N, r.Refused, r.Why), nil
		}
		return fmt.Sprintf("n %d", r.N), nil
	}
}

func (s *stage) scan(t env.Task, min, max int64, size int) (string, error) {
	rng := bson.D{{Key: "$gte", Value: min}, {Key: "$lt", Value: max}}
	find := &command.Find{NS: ns, Filter: raw(bson.D{{Key: "k", Value: rng}}), BatchSize: size}
	batch, err := rpc.Call[command.Batch](t, s.driver, "router.0", find, 0)
	var all []string
	for err == nil {
		var ks []string
		for _, doc := range batch.Docs {
			ks = append(ks, strconv.FormatInt(doc.Lookup("k").Int64(), 10))
		}
		all = append(all, strings.Join(ks, " "))
		if batch.Cursor == "" {
			break
		}
		more := &command.GetMore{Cursor: batch.Cursor, BatchSize: size}
		batch, err = rpc.Call[command.Batch](t, s.driver, "router.0", more, 0)
	}
	text := strings.Join(all, " | ")
	if err != nil {
		text += " then " + err.Error()
	}
	return text, nil
}
