package oracle

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// Both sides of a migration have the time of its commit on record before it ends.
func TestConfigTimes(t *testing.T) {
	for name, c := range map[string]struct {
		script    string
		kept      map[string]uint64
		signature verdict.Signature
	}{
		"kept":             {ordered, map[string]uint64{"a.0": 7, "b.0": 8}, ""},
		"not by the donor": {ordered, map[string]uint64{"a.0": 6, "b.0": 7}, timeNotKept},
		"not by the recipient": {
			ordered, map[string]uint64{"a.0": 7, "b.0": 6}, timeNotKept,
		},
		"never written": {ordered, map[string]uint64{"b.0": 7}, timeNotKept},
		"given up":      {given, nil, ""},
		"no decision on record": {
			until(ordered, "decide a.0 m1 committed") + "receive b.0 m1 - m kDone\n" +
				"end a.0 m1 committed", nil, "",
		},
		"a commit that was rolled back": {
			until(ordered, "majority config.0 1 2") + "elected config.1 2 1 1:1\n" +
				"table 2 2 ensureNewer -..m=a@2|0\nmajority config.1 2 2\n" +
				"receive b.0 m1 - m kExitCritSec\ndecide a.0 m1 aborted\n" +
				"receive b.0 m1 - m kDone\n", nil, "",
		},
		"by a deposed primary": {
			strings.Replace(until(ordered, "receive b.0 m1 - m kDone"), "decide a.0",
				"elected a.1 2 1 1:1\ndecide a.0", 1) + "end a.0 m1 committed", nil, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.o.ConfigTimes(func(string) uint64 { return 7 },
				func(node string) uint64 { return c.kept[node] })
			s.lines(t, c.script)
			expectSignature(t, s.o, c.signature)
		})
	}
}

// A new primary of 4.2 is informed of every commit of its shard by what is on record: that a commit
// may be in progress, or a config time that is not older.
func TestTakesOver(t *testing.T) {
	const next = "elected a.1 2 4 1:4\n"
	unfenced := strings.Replace(moved, "table 1 2", "release a.0 m1\ntable 1 2", 1)
	for name, c := range map[string]struct {
		script    string
		known     uint64
		counted   bool
		signature verdict.Signature
	}{
		"it knows the time":   {moved + next, 7, false, ""},
		"a commit is counted": {moved + next, 6, true, ""},
		"neither":             {moved + next, 6, false, timeNotKept},
		"committed since": {
			strings.Replace(moved, "majority config.0 1 2", next+"majority config.0 1 2", 1), 6, false, "",
		},
		"behind its back":        {unfenced + next, 6, false, ""},
		"of another shard":       {moved + strings.ReplaceAll(next, "a.1", "b.1"), 6, false, ""},
		"nothing is committed":   {opening + next, 0, false, ""},
		"of a database":          {primaryMoved + next, 6, false, timeNotKept},
		"of a database, counted": {primaryMoved + next, 6, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.o.ConfigTimes(func(string) uint64 { return 7 }, func(string) uint64 { return 7 })
			s.lines(t, c.script)
			last := strings.Fields(c.script[strings.LastIndex(c.script, "elected"):])[1]
			s.o.TakesOver(last, shardOf(last), c.known, c.counted)
			expectSignature(t, s.o, c.signature)
		})
	}
}

// A primary of 4.2 that has found a commit in progress serves users only when the config server has
// acknowledged a write of it.
func TestServedByTable(t *testing.T) {
	for name, c := range map[string]struct {
		counted bool
		before  func(*Oracle)
		arrived int64
		want    verdict.Signature
	}{
		"it wrote there":   {true, func(o *Oracle) { o.step = 8; o.ConfigWrote("a.1") }, 100, ""},
		"before it served": {true, func(o *Oracle) { o.step = 5; o.ConfigWrote("a.1") }, 100, ""},
		"it did not":       {true, func(*Oracle) {}, 100, servedUnsure},
		"another member did": {
			true, func(o *Oracle) { o.step = 8; o.ConfigWrote("a.0") }, 100, servedUnsure,
		},
		"no commit was in progress":     {false, func(*Oracle) {}, 100, ""},
		"it took over again":            {true, func(o *Oracle) { o.TakesOver("a.1", "a", 7, false) }, 100, ""},
		"asked while it was no primary": {true, func(*Oracle) {}, 10, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := New(nil)
			o.step = 3
			o.ConfigWrote("a.1") // in an earlier term
			o.elected["a.1"] = 4
			o.step, o.causes.now = 7, 50
			o.TakesOver("a.1", "a", 7, c.counted)
			c.before(o)
			o.ServedOwner("a.1", "Find", "test.docs", c.arrived)
			expectSignature(t, o, c.want)
		})
	}
}

// While a primary of 4.2 leads, each commit that it has asked for is counted on record until the time
// of the commit is.
func TestCommitsOnRecord(t *testing.T) {
	const more = "majority b.0 1 1\n"
	unfenced := strings.Replace(moved, "table 1 2", "release a.0 m1\ntable 1 2", 1)
	for name, c := range map[string]struct {
		script    string
		known     uint64
		counted   bool
		signature verdict.Signature
	}{
		"it is counted":     {moved + more, 6, true, ""},
		"the time is known": {moved + more, 7, false, ""},
		"neither":           {moved + more, 6, false, timeNotKept},
		"behind its back":   {unfenced + more, 6, false, ""},
		"of a database":     {primaryMoved + more, 6, false, timeNotKept},
		"under a new primary": {
			strings.Replace(moved, "majority config.0 1 2", "elected a.1 2 4 1:4\nmajority config.0 1 2", 1) +
				more, 6, false, "",
		},
		"a majority lacks it": {until(moved, "majority config.0 1 2") + more, 6, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.o.ConfigTimes(func(string) uint64 { return 7 }, func(string) uint64 { return 7 })
			s.o.CommitsOnRecord(func(string) (uint64, bool) { return c.known, c.counted })
			s.lines(t, c.script)
			expectSignature(t, s.o, c.signature)
		})
	}
}

// The recipient of a movePrimary of 4.2 notes the arrival once nothing changes on the donor any more.
func TestArrivals(t *testing.T) {
	const note, change = "NOTE\n", "plain user a.0 1 3 p 22\n"
	begun := opening + "moving a.0 p1 b\n"
	commit := "block a.0 p1\ndatabase 1 3 movePrimary_p1 -..+=b@2|0\n"
	for name, c := range map[string]struct {
		script    string
		signature verdict.Signature
	}{
		"behind the last change": {begun + change + note + commit, ""},
		"before a change":        {begun + note + change + commit, notedTooEarly},
		"a late copy of the commit": {
			begun + note + commit + change + "database 1 4 movePrimary_p1 -..+=b@3|0\n", "",
		},
		"given up before a late copy": {
			begun + note + "block a.0 p1\nrelease a.0 p1\n" + change +
				strings.TrimPrefix(commit, "block a.0 p1\n"), "",
		},
		"noted again":        {begun + note + change + note + commit, ""},
		"another collection": {begun + note + "user a.0 1 3 c 12\n" + commit, ""},
		"under another primary": {
			begun + note + change + "elected a.1 2 4 1:4\n" + strings.ReplaceAll(commit, "a.0", "a.1"), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.o.ConfigTimes(func(string) uint64 { return 7 }, func(string) uint64 { return 7 })
			s.o.CommitsOnRecord(func(string) (uint64, bool) { return 7, true })
			for _, part := range strings.SplitAfter(c.script, note) {
				s.lines(t, strings.TrimSuffix(part, note))
				if strings.HasSuffix(part, note) {
					s.o.Arrived("p1", true)
				}
			}
			expectSignature(t, s.o, c.signature)
		})
	}
}

// The recipient of a movePrimary has noted the arrival when it answers, whatever there was to copy.
func TestNotedArrivals(t *testing.T) {
	for name, c := range map[string]struct {
		move      string
		noted     bool
		signature verdict.Signature
	}{
		"noted":        {"p1", true, ""},
		"not noted":    {"p1", false, notNoted},
		"unknown move": {"p2", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.lines(t, opening+"moving a.0 p1 b\n")
			s.o.Arrived(c.move, c.noted)
			expectSignature(t, s.o, c.signature)
		})
	}
}

// When a migration of 4.2 is committed, its recipient remembers what it has received.
func TestReceivedRanges(t *testing.T) {
	done := strings.Replace(moved, "table 1 2", "receive b.0 m1 - m kDone\ntable 1 2", 1)
	for name, c := range map[string]struct {
		script    string
		receives  bool
		signature verdict.Signature
	}{
		"remembered": {done, true, ""},
		"forgotten":  {done, false, forgotRange},
		"not done":   {moved, false, ""},
		"it crashed": {
			strings.Replace(done, "table 1 2", "down b.0\ntable 1 2", 1), false, "",
		},
		"another primary": {
			strings.Replace(done, "table 1 2", "elected b.1 2 1 1:1\ntable 1 2", 1), false, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.o.ConfigTimes(func(string) uint64 { return 7 }, func(string) uint64 { return 7 })
			s.o.CommitsOnRecord(func(string) (uint64, bool) { return 7, true })
			s.o.ReceivedRanges(func(node, ns, lo, hi string) bool {
				if node != "b.0" || ns != "test.docs" || hi <= lo {
					t.Errorf("%s is asked for %s of %q to %q", node, ns, lo, hi)
				}
				return c.receives
			})
			s.lines(t, opening)
			e := trace.WritableEvent{Shard: "b", Term: 1}.Event()
			e.Node = "b.0"
			s.o.Observe(e)
			s.lines(t, strings.TrimPrefix(c.script, opening))
			expectSignature(t, s.o, c.signature)
		})
	}
}

// A donor fences a migration when an answer says that its recipient has released its section.
func TestFences(t *testing.T) {
	for name, c := range map[string]struct {
		released  string
		txn       int64
		left      string
		signature verdict.Signature
	}{
		"released":                   {"m1", 5, "", ""},
		"not released":               {"m2", 5, "", fencedTooEarly},
		"another transaction":        {"m2", 6, "", ""},
		"no shard any more":          {"m2", 5, "since", ""},
		"it leaves meanwhile":        {"m2", 5, "meanwhile", ""},
		"no shard at the start":      {"m2", 5, "before", ""},
		"another shard was removed":  {"m2", 5, "another", fencedTooEarly},
		"no majority has removed it": {"m2", 5, "undone", fencedTooEarly},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.lines(t, strings.Replace(opening, "-..m=a@1|0 m..+=b@1|1", "-..+=a@1|0", 1))
			for i, shard := range []string{"a", "b", "c"} {
				s.changeCluster(uint64(2+i), shard, trace.ShardAdded)
			}
			removed := map[string]string{
				"before": "b", "undone": "b", "meanwhile": "b", "another": "c",
			}[c.left]
			if removed != "" {
				s.changeCluster(5, removed, trace.ShardRemoved)
			}
			if c.left == "before" || c.left == "another" {
				s.lines(t, "majority config.0 1 5\n")
			}
			s.lines(t, "majority a.0 1 1\n")
			s.o.move("m1").to = "b"
			s.o.Starts("m1", "a_b_m1", "s", 4)
			if c.left == "since" {
				s.changeCluster(5, "b", trace.ShardRemoved)
			}
			if c.left == "since" || c.left == "meanwhile" {
				s.lines(t, "majority config.0 1 5\n")
			}
			s.o.Released(c.released)
			s.o.Fences("a.0", "s", c.txn)
			expectSignature(t, s.o, c.signature)
		})
	}
}

func (s *script) changeCluster(index uint64, shard string, what trace.ClusterChange) {
	s.step++
	e := trace.ClusterChangedEvent{
		Shard: "config", Term: 1, Index: index, Peer: shard, Change: what,
	}.Event()
	e.Node, e.Step, e.At = "config.0", s.step, s.now()
	s.o.Observe(e)
}

// In 4.2 a donor lets a recipient begin only while it has not blocked writes.
func TestLetBegin(t *testing.T) {
	blocked := until(ordered, "state a.0 m1 - m a b kCriticalSection") +
		"state a.0 m1 - m a b kCriticalSection\n"
	for name, c := range map[string]struct {
		script, node, session string
		protocol              migrationmodel.Protocol
		signature             verdict.Signature
	}{
		"in time": {
			until(ordered, "state a.0 m1 - m a b kCriticalSection"), "a.0", "s", migrationmodel.V42, "",
		},
		"after writes were blocked": {blocked, "a.0", "s", migrationmodel.V42, begunTooLate},
		"after the end": {
			blocked + "state a.0 m1 - m a b kDone\n", "a.0", "s", migrationmodel.V42, "",
		},
		"of 8.0":             {blocked, "a.0", "s", migrationmodel.V80, ""},
		"of another session": {blocked, "a.0", "t", migrationmodel.V42, ""},
		"by a deposed primary": {
			blocked + "elected a.1 2 1 1:1\n", "a.0", "s", migrationmodel.V42, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.lines(t, c.script)
			s.o.Speaks(c.protocol)
			s.o.Starts("m1", "s", "lsid", 4)
			s.o.LetBegin(c.node, c.session)
			expectSignature(t, s.o, c.signature)
		})
	}
}

// primaryMoved is a movePrimary of 4.2 that has been committed while its donor held the section.
const primaryMoved = opening + "moving a.0 p1 b\nblock a.0 p1\n" +
	"database 1 3 movePrimary_p1 -..+=b@2|0\nmajority config.0 1 3\n"

// The phase after the commit of a movePrimary rests on the time, too; nobody begins to copy to a
// shard with an earlier move on record.
func TestRecordsOfPrimaryMoves(t *testing.T) {
	for name, c := range map[string]struct {
		phases     string
		kept       uint64
		unfinished string
		signature  verdict.Signature
	}{
		"in order": {"clone catchup enterCriticalSection commit WRITE exitCriticalSection", 7, "", ""},
		"without the time": {
			"clone catchup enterCriticalSection commit WRITE exitCriticalSection", 6, "", timeNotKept,
		},
		"of 4.2":                 {"clone enterCriticalSection commit WRITE clean done", 0, "", ""},
		"unfinished":             {"clone", 7, "p0", moveUnfinished},
		"unfinished when undone": {"catchup clone", 7, "p0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.o.ConfigTimes(func(string) uint64 { return 7 }, func(string) uint64 { return c.kept })
			s.o.UnfinishedMoves(func(node, database string) string {
				if node != "b.0" || database != "test" {
					return ""
				}
				return c.unfinished
			})
			s.lines(t, on)
			for i, word := range strings.Fields(c.phases) {
				phase, _ := trace.ParsePrimaryMovePhase(word)
				node, e := "a.0", trace.PrimaryMovingEvent{
					Shard: "a", Peer: "b", NS: "test", Migration: "p1", Phase: phase,
				}.Event()
				if word == "WRITE" {
					node, e = "config.0",
						table("test", strings.Fields("database 1 3 movePrimary_p1 -..+=b@2|0"))
				}
				e.Step, e.Node = uint64(100+i), node
				s.o.Observe(e)
			}
			expectSignature(t, s.o, c.signature)
		})
	}
}

// plainMoved is a movePrimary of a database with an unsharded collection.
const plainMoved = opening + "database 1 2 create -..+=a@1|0\nmajority config.0 1 2\n" +
	"plain user a.0 1 2 c 11\nmajority a.0 1 2\nplain copy b.0 1 1 c 11 p1\nmajority b.0 1 1\n" +
	"moving a.0 p1 b\ndatabase 1 3 movePrimary_p1 -..+=b@2|0\nmajority config.0 1 3\n"

// At the commit of a migration the recipient has the collection as the donor has it.
func TestDefinitions(t *testing.T) {
	for name, c := range map[string]struct {
		script    string
		lacks     []string
		signature verdict.Signature
	}{
		"all of it":            {moved, nil, ""},
		"without an index":     {moved, []string{"the index a_1"}, notDefined},
		"not committed":        {until(moved, "majority config.0 1 2"), []string{"the index a_1"}, ""},
		"the recipient is new": {strings.Replace(moved, "table 1 2", "elected b.1 2 1 1:1\ntable 1 2", 1), []string{"the index a_1"}, ""},
		"another of a base":    {primaryMoved, []string{"the index a_1"}, ""},
		"one of a base":        {plainMoved, []string{"the index a_1"}, notDefined},
		"all of a base":        {plainMoved, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.o.Undefined(func(has, other, ns string) []string {
				if has != "a.0" || other != "b.0" || ns != "test.docs" && ns != "test.plain" {
					t.Errorf("%s is compared with %s, of %s", other, has, ns)
				}
				return c.lacks
			})
			s.lines(t, opening)
			for _, node := range []string{"a.0", "b.0"} {
				e := trace.WritableEvent{Shard: shardOf(node), Term: 1}.Event()
				e.Node = node
				s.o.Observe(e)
			}
			s.lines(t, strings.TrimPrefix(c.script, opening))
			expectSignature(t, s.o, c.signature)
		})
	}
}

// A primary executes for a client nothing that its own log excludes, whichever member wrote that.
func TestOnRecord(t *testing.T) {
	const once, again = opening + "execute a.0 1 2 c s 5 0\n", "execute a.0 1 3 c s 5 0"
	for name, c := range map[string]struct {
		script    string
		signature verdict.Signature
	}{
		"once":                   {once, ""},
		"twice":                  {once + again, executedAgain},
		"another statement":      {once + "execute a.0 1 3 d s 5 1", ""},
		"another session":        {once + "execute a.0 1 3 c t 5 0", ""},
		"the next transaction":   {once + "execute a.0 1 3 c s 6 0", ""},
		"an earlier transaction": {once + "execute a.0 1 3 c s 4 0", executedAgain},
		"told of it":             {opening + "import a.0 1 2 c s 5 0\n" + again, executedAgain},
		"told of a dead end":     {opening + "import a.0 1 2 - s 5 -1\n" + again, executedAgain},
		"told of an earlier end": {opening + "import a.0 1 2 - s 4 -1\n" + again, ""},
		"rolled back":            {once + "elected a.1 2 1 1:1\nexecute a.1 2 2 c s 5 0", ""},
		"kept by a successor":    {once + "elected a.1 2 2 1:2\nexecute a.1 2 3 c s 5 0", executedAgain},
		"a deposed primary":      {once + "elected a.1 2 2 1:2\n" + again, ""},
		"recorded once more":     {once + "import a.0 1 3 c s 5 0", ""},
	} {
		t.Run(name, func(t *testing.T) { expectSignature(t, observe(t, c.script), c.signature) })
	}
}
