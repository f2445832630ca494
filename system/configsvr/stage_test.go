package configsvr_test

import (
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/protocoltest"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/store"
)

const ns = "test.docs"

var members = []env.NodeID{"config.0", "config.1", "config.2"}

// stage is a config server, two shards that answer as the script says, and a driver that sends the
// script's requests.
type stage struct {
	*protocoltest.Stage
	settings settings.Settings
	profile  protocol.Profile
	servers  map[env.NodeID]*replset.Member
	configs  map[env.NodeID]*configsvr.Server
	driver   *rpc.Endpoint
	config   *rpc.Set
	answers  map[env.NodeID][]errcode.Code // what a shard answers to the next moves
}

func newStage() *stage {
	s := &stage{
		Stage: protocoltest.NewStage(), settings: settings.Default80(),
		servers: map[env.NodeID]*replset.Member{}, configs: map[env.NodeID]*configsvr.Server{},
		answers: map[env.NodeID][]errcode.Code{},
	}
	s.Servers = s
	s.addVerbs()
	s.Open(sim.Options{Seed: 1, Observer: s, YieldMax: -1})
	for _, id := range members {
		s.World.AddNode(id, s.bootConfig)
	}
	for _, id := range []env.NodeID{"shard-a.0", "shard-b.0"} {
		s.World.AddNode(id, s.bootShard)
	}
	s.World.AddNode("driver", func(t env.Task) {
		s.driver = rpc.Listen(t.Node(), hlc.New(t.Node()))
		s.config = rpc.NewSet(s.driver, configsvr.Name, members, &s.settings)
	})
	return s
}

func (s *stage) Member(id env.NodeID) *replset.Member { return s.servers[id] }

func (s *stage) MembersOf(set string) []env.NodeID {
	if set == configsvr.Name {
		return members
	}
	return nil
}

func (s *stage) Primary(string) env.NodeID {
	for _, id := range members {
		if m := s.servers[id]; s.World.Up(id) && m.IsPrimary() {
			return id
		}
	}
	return ""
}

func (s *stage) bootConfig(t env.Task) {
	now := hlc.New(t.Node())
	m := replset.Boot(t, replset.Config{
		Name: configsvr.Name, Self: t.Node().ID(), Members: members,
		Settings: &s.settings, Clock: now,
	})
	ep := rpc.Listen(t.Node(), now)
	rpc.Handle(ep, func(env.Task, env.NodeID, *command.Hello) (*command.HelloReply, error) {
		return &command.HelloReply{Writable: m.IsPrimary(), Primary: string(m.PrimaryHint())}, nil
	})
	shards := make(map[string]*rpc.Set)
	for _, name := range []string{"shard-a", "shard-b"} {
		shards[name] = rpc.NewSet(ep, name, []env.NodeID{env.NodeID(name + ".0")}, &s.settings)
	}
	s.configs[t.Node().ID()] = configsvr.New(configsvr.Config{
		Member: m, Endpoint: ep, Settings: &s.settings, Shards: shards, Profile: s.profile,
	})
	m.Watch(shardAdder{m})
	s.servers[t.Node().ID()] = m
}

// shardAdder makes the two shards known.
type shardAdder struct{ m *replset.Member }

func (a shardAdder) StepUp(t env.Task) error {
	var ops []oplog.Op
	for _, name := range []string{"shard-a", "shard-b"} {
		op, err := configsvr.AddShard(name, name)
		if err != nil {
			return err
		}
		ops = append(ops, op)
	}
	_, err := a.m.Write(t, ops...)
	return err
}

func (shardAdder) Applied(uint64, *oplog.Entry, bool) {}
func (shardAdder) RolledBack(uint64)                  {}
func (shardAdder) Reset(uint64)                       {}
func (shardAdder) Committed(uint64)                   {}
func (shardAdder) StepDown()                          {}

// bootShard is a shard that makes every collection, and commits every move at once or fails as
// planned.
func (s *stage) bootShard(t env.Task) {
	ep := rpc.Listen(t.Node(), hlc.New(t.Node()))
	self := t.Node().ID()
	config := rpc.NewSet(ep, configsvr.Name, members, &s.settings)
	rpc.Handle(ep, func(env.Task, env.NodeID, *command.Hello) (*command.HelloReply, error) {
		return &command.HelloReply{Writable: true}, nil
	})
	type participate = command.ShardsvrParticipate
	rpc.Handle(ep, func(_ env.Task, _ env.NodeID, req *participate) (*command.Done, error) {
		s.Say("  %s takes step %s", self, strings.TrimSpace(string(req.Step)+" "+renaming(req)))
		return &command.Done{}, nil
	})
	rpc.Handle(ep, func(env.Task, env.NodeID, *command.JoinMigrations) (*command.Done, error) {
		s.Say("  %s has joined its migrations", self)
		return &command.Done{}, nil
	})
	type flush = command.FlushRoutingTableCacheUpdates
	rpc.Handle(ep, func(env.Task, env.NodeID, *flush) (*command.Flushed, error) {
		s.Say("  %s refreshes", self)
		return &command.Flushed{}, nil
	})
	type split = command.ShardsvrSplitChunk
	rpc.Handle(ep, func(t env.Task, _ env.NodeID, req *split) (*command.Done, error) {
		s.Say("  %s is asked to split [%v, %v) at %v", self, req.Min, req.Max, req.At)
		_, err := rpc.CallPrimary[command.CommitReply](t, config, &command.CommitChunkSplit{
			NS: ns, Epoch: req.Epoch, Shard: strings.TrimSuffix(string(self), ".0"),
			Min: req.Min, Max: req.Max, At: req.At,
		}, s.settings.CommandTimeout)
		return &command.Done{}, err
	})
	type move = command.ShardsvrMoveRange
	rpc.Handle(ep, func(t env.Task, _ env.NodeID, req *move) (*command.Done, error) {
		s.Say("  %s is asked to move [%v, %v) to %s", self, req.Min, req.Max, req.To)
		return s.donate(t, ep, config, req)
	})
}

// renaming is what a step of a rename is about, empty for every other operation.
func renaming(req *command.ShardsvrParticipate) string {
	if req.To == "" {
		return ""
	}
	return req.Collection.NS + " → " + req.To
}

func (s *stage) donate(
	t env.Task, ep *rpc.Endpoint, config *rpc.Set, req *command.ShardsvrMoveRange,
) (*command.Done, error) {
	var code errcode.Code
	self := t.Node().ID()
	if planned := s.answers[self]; len(planned) > 0 {
		code, s.answers[self] = planned[0], planned[1:]
	}
	if code != "" && code != errcode.NetworkTimeout {
		return nil, errcode.New(code, "as planned")
	}
	ask := &command.GetRoutingTable{NS: ns, After: ep.Clock().Now().Config}
	update, err := rpc.CallAny[command.RoutingUpdate](t, config, ask, 0)
	if err != nil {
		return nil, err
	}
	table, err := catalog.NewTable(update.Collection, update.Chunks)
	if err != nil {
		return nil, err
	}
	chunk := table.Owner(req.Min)
	_, err = rpc.CallPrimary[command.CommitReply](t, config, &command.CommitChunkMigration{
		NS: ns, UUID: update.Collection.UUID, Epoch: update.Collection.Epoch,
		From: chunk.Shard, To: req.To, Min: req.Min, Max: req.Max, PreVersion: chunk.Version,
		ValidAfter: ep.Clock().Tick(), Migration: "of " + req.MigrationOf,
	}, s.settings.CommandTimeout)
	if code != "" && err == nil {
		err = errcode.New(code, "the answer got lost, as planned")
	}
	return &command.Done{}, err
}

// Observe shows what is written to the catalog, and by whom.
func (s *stage) Observe(e *trace.Event) {
	switch e.Kind {
	case trace.CatalogWritten:
		text := fmt.Sprintf("  %s writes %q:", e.Node, e.Why())
		if e.NS != ns {
			text += fmt.Sprintf(" of %s:", e.NS)
		}
		for _, c := range e.Chunks {
			rng := key.Range{Min: key.Key(c.Min), Max: key.Key(c.Max)}
			text += fmt.Sprintf(" %v %s %d|%d", rng, c.Shard, c.Major, c.Minor)
		}
		s.Say("%s", text)
	case trace.Writable:
		s.Say("  %s is primary", e.Node)
	case trace.RolledBack:
		s.Say("  %s rolls back", e.Node)
	}
}

// addVerbs is the language of this stage, beside that of every stage.
func (s *stage) addVerbs() {
	// protocol 4.2: the version of the protocol; it is said first, if at all.
	s.Verbs["protocol"] = func(l protocoltest.Line) error {
		p, err := protocol.Parse(l.Word(0))
		s.profile, s.settings = p, settings.Default(p)
		return err
	}
	// answers shard-a.0 CODE...: what a shard answers to the next moves.
	s.Verbs["answers"] = func(l protocoltest.Line) error {
		for _, code := range l.Words()[1:] {
			id := env.NodeID(l.Word(0))
			s.answers[id] = append(s.answers[id], errcode.Code(code))
		}
		return nil
	}
	// records: the locks and migrations that the primary has on record.
	s.Verbs["records"] = s.showRecords
	for verb, send := range s.commands() {
		s.Requests[verb] = func(l protocoltest.Line) error { return s.request(l, send) }
	}
}

func (s *stage) showRecords(protocoltest.Line) error {
	data := s.servers[s.Primary(configsvr.Name)].Store()
	for _, ns := range []string{configsvr.Locks, configsvr.Migrations} {
		data.Scan(ns, store.Latest, func(_ string, doc bson.Raw) bool {
			text := fmt.Sprintf("  %s: %v", ns, doc.Lookup("_id").StringValue())
			for _, field := range []string{"ts", "why", "fromShard", "toShard"} {
				if v, ok := doc.Lookup(field).StringValueOK(); ok {
					text += fmt.Sprintf(", %s %s", field, v)
				}
			}
			s.Say("%s", text)
			return true
		})
	}
	return nil
}

// request sends one command, to the primary once there is one. The world goes on a little for an
// async one, so that it arrives.
func (s *stage) request(l protocoltest.Line, send sender) error {
	if s.driver == nil {
		s.World.Run(func() bool { return s.driver != nil }, s.World.Now().Add(time.Second))
	}
	s.Send("driver", l.Verb(), func(task env.Task) {
		text, err := send(task, l)
		for errcode.Is(err, errcode.NotWritablePrimary) && task.Sleep(100*time.Millisecond) == nil {
			text, err = send(task, l)
		}
		if err != nil {
			text = err.Error()
		}
		s.Say("%s: %s", strings.TrimSpace(l.Verb()+" "+l.Arg("id", "")), text)
	})
	if l.Async() {
		return s.Pass(100 * time.Millisecond)
	}
	return nil
}

// sender sends a request and returns what a script shows of the answer.
type sender func(env.Task, protocoltest.Line) (string, error)

// call sends a command whose answer says nothing.
func (s *stage) call(t env.Task, req env.Message, limit time.Duration) (string, error) {
	_, err := rpc.CallPrimary[command.Done](t, s.config, req, limit)
	return "done", err
}

// commit sends a change of chunks, and shows the versions that it leads to.
func (s *stage) commit(t env.Task, req env.Message) (string, error) {
	r, err := rpc.CallPrimary[command.CommitReply](t, s.config, req, s.settings.CommandTimeout)
	if err != nil {
		return "", err
	}
	donor, all := r.ShardVersion, r.CollectionVersion
	return fmt.Sprintf("donor %d|%d, collection %d|%d",
		donor.Major, donor.Minor, all.Major, all.Minor), nil
}

// commands are the requests of scripts. Bounds are min=0 max=10, missing ones those of all keys.
func (s *stage) commands() map[string]sender {
	return map[string]sender{
		"shard": func(t env.Task, l protocoltest.Line) (string, error) {
			return s.call(t, &command.ShardCollection{
				NS: named(l), Key: key.Pattern{Field: "k"},
				Bounds: []key.Key{key.Int(10), key.Int(20)}, Shards: []string{"shard-a", "shard-b"},
			}, s.settings.CommandTimeout)
		},
		"drop": func(t env.Task, l protocoltest.Line) (string, error) {
			req := &command.DropCollection{NS: named(l), Session: session(l)}
			return s.call(t, req, s.settings.CommandTimeout)
		},
		"rename": func(t env.Task, l protocoltest.Line) (string, error) {
			return s.call(t, &command.RenameCollection{
				NS: named(l), To: l.Arg("into", ""), DropTarget: l.Arg("over", "") != "",
				Session: session(l),
			}, s.settings.CommandTimeout)
		},
		"index": func(t env.Task, l protocoltest.Line) (string, error) {
			req := &command.CreateIndex{NS: named(l), Field: "v", Session: session(l)}
			return s.call(t, req, s.settings.CommandTimeout)
		},
		"move": func(t env.Task, l protocoltest.Line) (string, error) {
			min, max := bounds(l)
			return s.call(t, &command.MoveRange{
				NS: named(l), Min: min, Max: max, To: "shard-" + l.Arg("to", ""),
				WaitDelete: l.Arg("wait", "") != "", Name: l.Arg("id", ""),
			}, 0)
		},
		"commit": s.commitMigration, "ensure": s.ensure,
		"split": s.commitSplit, "merge": s.commitMerge,
		"table": s.showTable, "createdatabase": s.createDatabase, "database": s.showDatabase,
	}
}

func (s *stage) commitMigration(t env.Task, l protocoltest.Line) (string, error) {
	coll := s.collection(t, l)
	min, max := bounds(l)
	return s.commit(t, &command.CommitChunkMigration{
		NS: named(l), UUID: coll.UUID, Epoch: l.Arg("epoch", coll.Epoch),
		From: "shard-" + l.Arg("from", ""), To: "shard-" + l.Arg("to", ""), Min: min, Max: max,
		PreVersion: version(coll, l), ValidAfter: s.driver.Clock().Tick(),
		Migration: l.Arg("id", ""),
	})
}

func (s *stage) ensure(t env.Task, l protocoltest.Line) (string, error) {
	coll := s.collection(t, l)
	min, max := bounds(l)
	return s.call(t, &command.EnsureChunkVersionIsGreaterThan{
		NS: named(l), UUID: coll.UUID, Min: min, Max: max, Version: version(coll, l),
	}, s.settings.CommandTimeout)
}

func (s *stage) commitSplit(t env.Task, l protocoltest.Line) (string, error) {
	coll := s.collection(t, l)
	min, max := bounds(l)
	return s.commit(t, &command.CommitChunkSplit{
		NS: named(l), Epoch: coll.Epoch, Shard: "shard-" + l.Arg("on", ""), Min: min, Max: max,
		At: []key.Key{l.Bound("at", key.Min)},
	})
}

func (s *stage) commitMerge(t env.Task, l protocoltest.Line) (string, error) {
	coll := s.collection(t, l)
	min, max := bounds(l)
	return s.commit(t, &command.CommitChunksMerge{
		NS: named(l), Epoch: coll.Epoch, Shard: "shard-" + l.Arg("on", ""), Min: min, Max: max,
	})
}

func (s *stage) showTable(t env.Task, l protocoltest.Line) (string, error) {
	update, err := s.table(t, named(l))
	if err != nil {
		return "", err
	}
	var text string
	for _, c := range update.Chunks {
		v := c.Version
		text += fmt.Sprintf("\n  %v %s %d|%d, history", c.Range, c.Shard, v.Major, v.Minor)
		for _, p := range c.History {
			text += " " + p.Shard
		}
	}
	return text, nil
}

func (s *stage) createDatabase(t env.Task, l protocoltest.Line) (string, error) {
	_, err := rpc.CallPrimary[command.DatabaseReply](t, s.config,
		&command.CreateDatabase{Name: l.Word(0)}, s.settings.CommandTimeout)
	return "done", err
}

func (s *stage) showDatabase(t env.Task, l protocoltest.Line) (string, error) {
	req := &command.GetDatabase{Name: l.Word(0), After: s.driver.Clock().Now().Config}
	r, err := rpc.CallAny[command.DatabaseReply](t, s.config, req, s.settings.CommandTimeout)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s on %s, sharded %v", r.Database.Name, r.Database.Primary, r.Sharded), nil
}

func (s *stage) table(t env.Task, ns string) (*command.RoutingUpdate, error) {
	req := &command.GetRoutingTable{NS: ns, After: s.driver.Clock().Now().Config}
	return rpc.CallAny[command.RoutingUpdate](t, s.config, req, s.settings.CommandTimeout)
}

// collection is the collection that a request names, or one that nobody knows.
func (s *stage) collection(t env.Task, l protocoltest.Line) catalog.Collection {
	if update, err := s.table(t, named(l)); err == nil {
		return update.Collection
	}
	return configsvr.NewCollection(named(l), key.Pattern{Field: "k"}, 1)
}

func named(l protocoltest.Line) string { return l.Arg("ns", ns) }

func bounds(l protocoltest.Line) (min, max key.Key) {
	return l.Bound("min", key.Min), l.Bound("max", key.Max)
}

// session is the request of that number of a client's session; none without a number.
func session(l protocoltest.Line) command.Session {
	if l.Arg("request", "") == "" {
		return command.Session{}
	}
	return command.Session{ID: "client", Txn: l.Number("request", 0)}
}

// version is what the script says, or the collection's: 4.2 does not send one.
func version(coll catalog.Collection, l protocoltest.Line) catalog.Version {
	v := coll.Version()
	text := l.Arg("version", "")
	if text == "" {
		return v
	}
	if _, err := fmt.Sscanf(text, "%d|%d", &v.Major, &v.Minor); err != nil {
		panic(fmt.Sprintf("version %q: %v", text, err))
	}
	return v
}
