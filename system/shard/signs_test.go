package shard

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/sim"
)

// alone is a shard of one member, which leads, and on which a test can act.
func alone(t *testing.T) (*testCluster, *Server) {
	w := newTestCluster(1, sim.Options{Seed: 1})
	t.Cleanup(w.world.Close)
	return w, w.elect()
}

// act carries a step out on the shard, to its end.
func act(t *testing.T, w *testCluster, s *Server, step func(env.Task) error) {
	t.Helper()
	var failed error
	w.run(1<<40, w.on(s.Node().ID(), "step", func(t env.Task) { failed = step(t) }))
	if failed != nil {
		t.Fatal(failed)
	}
}

// TestSignsToForget: what a member reads in the log that makes its placement doubtful, and what
// does not.
func TestSignsToForget(t *testing.T) {
	_, s := alone(t)
	release := oplog.Op{Doc: must(bson.Marshal(participationDoc{NS: testNS}))}
	for _, c := range []struct {
		about     string
		unsharded bool
		sign      func()
		known     bool
	}{
		{"another primary", false, func() { s.learnPlacements(&oplog.Entry{}) }, false},
		{"an entry of others", false, func() {
			s.learnPlacements(&oplog.Entry{Ops: []oplog.Op{{NS: "test.others"}}})
		}, true},
		{"the end of an operation", false, func() { s.followRelease(&release, false) }, false},
		{"the same, on the primary", false, func() { s.followRelease(&release, true) }, true},
		{"its record is removed", false, func() { s.followRelease(&oplog.Op{}, false) }, true},
		{"unsharded no more", true, func() { s.created(&oplog.Op{NS: testNS}) }, false},
		{"sharded as it was", false, func() { s.created(&oplog.Op{NS: testNS}) }, true},
	} {
		coll := s.Collection(testNS)
		coll.Clear()
		coll.Install(remade(testNS, 1, c.unsharded))
		c.sign()
		if known := coll.Metadata() != nil; known != c.known {
			t.Errorf("%s: the placement is known: %t", c.about, known)
		}
	}
}

type idleDonor struct{}

func (idleDonor) OnWrite(*oplog.Op, bson.Raw, oplog.Time) {}

// TestDonorEndsWithTheTerm: a primary that leads again can move a range.
func TestDonorEndsWithTheTerm(t *testing.T) {
	_, s := alone(t)
	c := s.Collection(testNS)
	if err := c.SetDonor(idleDonor{}); err != nil {
		t.Fatal(err)
	}
	c.stepDown()
	if err := c.SetDonor(idleDonor{}); err != nil {
		t.Errorf("after the term: %v", err)
	}
}

// TestCacheIsTheNewest: the table from which a refresh goes on survives a Clear, and gives way to
// newer ones only.
func TestCacheIsTheNewest(t *testing.T) {
	_, s := alone(t)
	c := s.Collection(testNS)
	older, newer := remade(testNS, 1, false), remade(testNS, 2, false)
	for n, step := range []struct{ install, want *catalog.Table }{
		{older, older}, {newer, newer}, {older, newer},
	} {
		c.Clear()
		c.Install(step.install)
		if c.cache != step.want {
			t.Errorf("after %d: the cache is of %v, not %v", n, c.cache, step.want)
		}
	}
}

// TestIncomingRangeIsNoOrphan: what arrives may become the shard's own.
func TestIncomingRangeIsNoOrphan(t *testing.T) {
	_, s := alone(t)
	c := s.Collection(testNS)
	c.Install(remade(testNS, 1, false))
	arriving := key.Range{Min: key.Int(10), Max: key.Int(20)}
	c.BeginReceive("m1", arriving)
	for from, want := range map[key.Key]key.Range{
		key.Min:     {Min: key.Min, Max: key.Int(10)},
		key.Int(10): {Min: key.Int(20), Max: key.Max},
	} {
		if got := c.NextOrphans(from); got != want {
			t.Errorf("from %v: %v are orphans, not %v", from, got, want)
		}
	}
}

// TestHoldAgain: a hold that blocks more takes the place of the one before it.
func TestHoldAgain(t *testing.T) {
	w, s := alone(t)
	h := Holder{trace.System, "p1"}
	for _, reads := range []bool{false, true} {
		op, want := s.Hold(testNS, h, reads), oplog.Insert
		if reads {
			want = oplog.Update
		}
		if op.Kind != want {
			t.Errorf("with reads %t: %v, not %v", reads, op.Kind, want)
		}
		act(t, w, s, func(t env.Task) error { _, err := s.Member().Write(t, op); return err })
	}
}

// TestHoldRolledBack: a hold blocks what its document says, also when the entry by which it was to
// block reads is undone.
func TestHoldRolledBack(t *testing.T) {
	w := newTestCluster(3, sim.Options{Seed: 1})
	t.Cleanup(w.world.Close)
	first, h := w.elect(), Holder{trace.System, "p1"}
	hold := func(reads bool) func(env.Task) error {
		return func(t env.Task) error {
			_, err := first.Member().Write(t, first.Hold(testNS, h, reads))
			return err
		}
	}
	act(t, w, first, hold(false))
	act(t, w, first, first.Member().AwaitMajority)
	w.isolate()
	act(t, w, first, hold(true))
	w.run(time.Minute, func() bool { return !first.Member().Leading() && w.primary() != nil })
	if p := first.Collection(testNS).Phase(); p != AllBlocked {
		t.Fatalf("before the rollback %s", p)
	}
	w.world.HealNetwork()
	w.run(5*time.Second, nil)
	if p := first.Collection(testNS).Phase(); p != WritesBlocked {
		t.Errorf("after the rollback %s", p)
	}
}

// TestVectorOfThePast: who was primary when it was asked where to split, and is not when it has
// looked, does not say.
func TestVectorOfThePast(t *testing.T) {
	w := newTestCluster(3, sim.Options{Seed: 1, OnPoint: func(p *sim.PointHit) (do sim.Action) {
		if p.Site == failpoint.SplitAutoScan {
			do.Pause = 10 * time.Second
		}
		return do
	}})
	t.Cleanup(w.world.Close)
	first, failed := w.elect(), error(nil)
	done := w.on("client.0", "ask", func(t env.Task) {
		_, failed = send[command.SplitVectorReply](t, w, first.Node().ID(), &command.SplitVector{
			NS: testNS, Min: key.Min, Max: key.Max, ChunkBytes: 100,
		})
	})
	w.run(time.Second, nil)
	w.isolate()
	w.run(time.Minute, done)
	if !errcode.Is(failed, errcode.NotWritablePrimary) {
		t.Errorf("a former primary answers with %v", failed)
	}
}

// TestStepTakenBefore: a step that has nothing left to do writes nothing: an entry without
// operations would say that another primary begins.
func TestStepTakenBefore(t *testing.T) {
	w, s := alone(t)
	req := &command.ShardsvrParticipate{
		Operation: 1, Step: command.ParticipantCreate, Collection: w.catalog.Collection(),
	}
	take := func(t env.Task) error { return s.take(t, req) }
	act(t, w, s, take)
	before := s.Member().Applied()
	act(t, w, s, take)
	if after := s.Member().Applied(); after != before {
		t.Errorf("the step again: the log went from %v to %v", before, after)
	}
}

// TestRefreshOfAnother: a table that is of another collection than the data here is not taken.
func TestRefreshOfAnother(t *testing.T) {
	w, s := alone(t)
	w.create()
	c := s.Collection(testNS)
	act(t, w, s, c.Refresh)
	if c.Metadata() == nil {
		t.Fatal("the table of the collection that is here was not taken")
	}
	c.Clear()
	coll := w.catalog.Collection()
	coll.UUID, coll.Epoch, coll.Timestamp = "u2", "e2", hlc.At(2)
	w.catalog = must(catalog.NewTable(coll, must(catalog.First(coll, nil, []string{"shard-a"}))))
	act(t, w, s, func(t env.Task) error { _ = c.Refresh(t); return nil })
	if md := c.Metadata(); md != nil {
		t.Errorf("of a table of another collection: %v is known", md.Table)
	}
}

// TestImportedStatement: a statement that was brought tells which migration brought it.
func TestImportedStatement(t *testing.T) {
	w, s := alone(t)
	var told []trace.Event
	w.onEvent = func(e *trace.Event) {
		if e.Kind == trace.Executed {
			told = append(told, *e)
		}
	}
	st := oplog.Stmt{Session: "s", Txn: 1, ID: 3, NS: testNS, Key: string(key.Int(1))}
	act(t, w, s, func(t env.Task) error {
		_, err := s.Import(t, st, "m1", func() error { return nil })
		return err
	})
	if len(told) != 1 || told[0].Actor != trace.Session || told[0].Migration() != "m1" {
		t.Errorf("of the statement that m1 brought is told: %+v", told)
	}
}
