package oracle

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// A commit is unfenced when, as it is written, a primary of the donor leads that does not hold the
// migration's section.
func TestUnfencedCommits(t *testing.T) {
	for name, c := range map[string]struct {
		script   string
		unfenced bool
	}{
		"the donor holds its section": {moved, false},
		"the donor has given up": {
			strings.Replace(moved, "table 1 2", "release a.0 m1\ntable 1 2", 1), true,
		},
		"the donor has given up, and is down": {
			strings.Replace(moved, "table 1 2",
				"release a.0 m1\nend a.0 m1 aborted\ndown a.0\ntable 1 2", 1),
			true,
		},
		"the donor's successor leads": {
			strings.Replace(moved, "table 1 2", "elected a.1 2 1 1:1\ntable 1 2", 1), true,
		},
		"the donor's successor is not yet": {
			strings.Replace(moved, "table 1 2", "down a.0\ntable 1 2", 1), false,
		},
		"the donor's successor has led": {
			strings.Replace(moved, "table 1 2",
				"down a.0\nelected a.1 2 1 1:1\ndown a.1\ntable 1 2", 1),
			true,
		},
		"no majority has it": {
			strings.Replace(moved, "table 1 2 move_m1 -..m=b@2|0<a\nmajority config.0 1 2\n",
				"release a.0 m1\ntable 1 2 move_m1 -..m=b@2|0<a\n", 1), false,
		},
		"the donor gives up afterwards": {moved + "elected a.1 2 1 1:1\n", false},
		"nothing has moved":             {opening, false},
	} {
		if got := len(observe(t, c.script).Unfenced()) > 0; got != c.unfenced {
			t.Errorf("%s: unfenced %v", name, got)
		}
	}
}

// In 4.2, a shard that has left the cluster since a migration to it began has nothing of it any
// more.
func TestCommitToShardThatLeft(t *testing.T) {
	const joined = "shard config.0 1 3 a added\nshard config.0 1 4 b added\nmajority config.0 1 4\n"
	const leaves = "shard config.0 1 5 b removed\nmajority config.0 1 5\n"
	before, commit, _ := strings.Cut(strings.Replace(moved, "1 2", "1 6", -1), "table 1 6")
	for name, c := range map[string]struct {
		script   string
		protocol migrationmodel.Protocol
		unfenced bool
	}{
		"it stays":      {joined + before + "table 1 6" + commit, migrationmodel.V42, false},
		"it has left":   {joined + before + leaves + "table 1 6" + commit, migrationmodel.V42, true},
		"not of 4.2":    {joined + before + leaves + "table 1 6" + commit, migrationmodel.V80, false},
		"it had before": {joined + leaves + before + "table 1 6" + commit, migrationmodel.V42, false},
	} {
		s := script{o: New(nil)}
		s.o.Speaks(c.protocol)
		s.lines(t, c.script)
		if got := len(s.o.Unfenced()) > 0; got != c.unfenced {
			t.Errorf("%s: unfenced %v", name, got)
		}
	}
}

// Streams may not know of a shard that has got its first chunk by an unfenced commit: that concerns
// all that is written there, whatever the range.
func TestUnannounced(t *testing.T) {
	unfenced := strings.Replace(moved, "table 1 2", "release a.0 m1\ntable 1 2", 1)
	const owned, none = "m..+=b@1|1", "m..+=a@1|1"
	for name, c := range map[string]struct {
		script string
		want   bool
	}{
		"its first chunk":           {strings.Replace(unfenced, owned, none, 1), true},
		"it had one":                {unfenced, false},
		"its first, and was fenced": {strings.Replace(moved, owned, none, 1), false},
		"no majority has it": {
			strings.Replace(until(unfenced, "majority config.0 1 2"), owned, none, 1), false,
		},
	} {
		got := observe(t, c.script).Unannounced()
		if len(got) > 0 != c.want {
			t.Errorf("%s: %v", name, got)
		}
		for _, d := range got {
			if d.NS != "test.docs" || d.Min != "" || d.Max <= "z" {
				t.Errorf("%s: %+v", name, d)
			}
		}
	}
}

// A movePrimary of 4.2 that commits once more when the database has moved on is unfenced, too.
func TestUnfencedPrimary(t *testing.T) {
	commit := func(move, to string, since uint64) *trace.Event {
		return trace.CatalogWrittenEvent{
			Shard: "config", Term: 1, Index: 1, NS: "test", Why: trace.PrimaryMoved.Of(move),
			Chunks: []trace.Chunk{{Min: "", Max: "z", Shard: to, Major: 2, Since: since}},
		}.Event()
	}
	moves := func(move, from, to string) []*trace.Event {
		return []*trace.Event{
			trace.PrimaryMovingEvent{Shard: from, Peer: to, NS: "test", Migration: move}.Event(),
			trace.CriticalSectionEvent{
				Shard: from, NS: "test", Actor: trace.Donor, Migration: move,
				State: trace.WritesBlocked,
			}.Event(),
			commit(move, to, 1<<20),
		}
	}
	away, back := moves("p1", "a", "b"), moves("p2", "b", "a")
	for name, c := range map[string]struct {
		events   []*trace.Event
		unfenced int
	}{
		"away and back":             {slices.Concat(away, back), 0},
		"once more when it is back": {append(slices.Concat(away, back), away[2]), 1},
		"sent again":                {append(slices.Clone(away), away[2]), 0},
		"without its section":       {[]*trace.Event{away[0], away[2]}, 1},
	} {
		o := New(nil)
		for _, shard := range []string{"a", "b"} {
			o.Observe(elected(shard))
		}
		for i, e := range c.events {
			observed := *e
			observed.Step, observed.At, observed.Node = uint64(i+10), int64(i+10), e.Shard+".0"
			o.Observe(&observed)
		}
		if got := len(o.unfenced); got != c.unfenced {
			t.Errorf("%s: %d are unfenced, want %d", name, got, c.unfenced)
		}
	}
}

func elected(shard string) *trace.Event {
	e := trace.ElectedEvent{Shard: shard, Term: 1}.Event()
	e.Node = shard + ".0"
	return e
}

// A donor that reads the catalog after its commit has failed may miss a commit that was written
// before, until a majority has it. What it could have read is no excuse.
func TestUnfencedUnread(t *testing.T) {
	const written = "table 1 2 move_m1 -..m=b@2|0<a\nmajority config.0 1 2\n"
	for name, c := range map[string]struct {
		failed, asked int64
		owner, rest   string
		unchanged     bool
		unfenced      bool
	}{
		"asked before a majority had it":    {1, 2, " - m 1", written, false, true},
		"asked before its request failed":   {2, 1, " - m 1", written, false, false},
		"its request did not fail":          {0, 2, " - m 1", written, false, false},
		"learns that it has lost the range": {1, 2, "", written, false, false},
		"asked when a majority had it":      {1, 1 << 40, " - m 1", written, false, false},
		"no majority ever had it":           {1, 2, " - m 1", strings.Split(written, "maj")[0], false, false},
		"a majority has it when it is over": {1, 2, " - m 1", strings.Split(written, "maj")[0] +
			"knows a.0 - m 1\nrelease a.0 m1\nmajority config.0 1 2\n", false, true},
		"what it reads is what it knows":           {1, 2, " - m 1", written, true, true},
		"what it knows is older than the failure":  {2, 1, " - m 1", written, true, false},
		"what it knows is older than a majority's": {1, 1 << 40, " - m 1", written, true, false},
	} {
		s := script{o: New(nil)}
		run := func(text string) {
			for line := range strings.Lines(text) {
				if w := strings.Fields(line); len(w) > 0 {
					s.followedLine(t, w)
				}
			}
		}
		hear := func(what, code string, sent int64) {
			s.step++
			e := trace.CallEndedEvent{
				Peer: "config.0", NS: "test.docs", Request: what, Code: code, Sent: sent,
			}.Event()
			e.Step, e.Node, e.At = s.step, "a.0", c.failed
			s.o.Observe(e)
		}
		run(until(moved, "table 1 2 move_m1 -..m=b@2|0<a"))
		if c.unchanged {
			run("knows a.0" + c.owner)
		}
		if c.failed > 0 {
			hear(commitRequest, "NetworkTimeout", 0)
		}
		hear("GetRoutingTable", "", c.asked)
		run(c.rest)
		if !c.unchanged {
			run("knows a.0" + c.owner)
		}
		run("release a.0 m1\n")
		if got := len(s.o.Unfenced()) > 0; got != c.unfenced {
			t.Errorf("%s: unfenced %v", name, got)
		}
	}
}

// A donor of 4.2 that gives up may miss a commit that is written after its request has come back,
// and no other.
func TestGaveUpACommit(t *testing.T) {
	const (
		asks    = opening + "state a.0 m1 - m a b kCommittingOnConfig\n"
		written = "table 1 2 move_m1 -..m=b@2|0<a\n"
		kept    = "majority config.0 1 2\n"
		ends    = "end a.0 m1 aborted\n"
	)
	for name, c := range map[string]struct {
		before, after string
		missed        bool
	}{
		"written before, kept after it gave up":  {asks + written, ends + kept, true},
		"written before, kept before it gave up": {asks + written, kept + ends, true},
		"written while it made sure":             {asks, written + ends + kept, false},
		"no majority has it":                     {asks + written, ends, false},
		"it found the commit":                    {asks + written, kept + "end a.0 m1 committed\n", false},
		"nothing was asked for":                  {opening + written, ends + kept, false},
		"a successor gave up": {
			asks + written, "elected a.1 2 1 1:1\nend a.1 m1 aborted\n" + kept, false,
		},
		"it had a decision on record": {asks + written, "decide a.0 m1 aborted\n" + ends + kept, false},
	} {
		s := script{o: New(nil)}
		s.lines(t, c.before)
		if strings.HasPrefix(c.before, asks) {
			s.o.CommitReturned("a.0", "m1", false)
		}
		s.lines(t, c.after)
		missed := slices.ContainsFunc(s.o.Verdicts(), func(v verdict.Verdict) bool {
			return slices.ContainsFunc(v.Violations, func(v verdict.Violation) bool {
				return v.Signature == gaveUpCommitted
			})
		})
		if missed != c.missed {
			t.Errorf("%s: missed %v", name, missed)
		}
	}
}

// A donor of 4.2 gives up only behind a write on the config server, whatever the answer to its
// request to commit was.
func TestGaveUpUnsure(t *testing.T) {
	for name, c := range map[string]struct {
		wrote  string
		unsure bool
	}{
		"it wrote":      {"a.0", false},
		"another wrote": {"b.0", true},
	} {
		s := script{o: New(nil)}
		s.lines(t, opening+"state a.0 m1 - m a b kCommittingOnConfig\n")
		s.o.CommitReturned("a.0", "m1", false)
		s.lines(t, "table 1 2 split -..m=a@3|0\n")
		s.o.ConfigWrote(c.wrote)
		s.lines(t, "release a.0 m1\nend a.0 m1 aborted\n")
		unsure := slices.ContainsFunc(s.o.Verdicts(), func(v verdict.Verdict) bool {
			return slices.ContainsFunc(v.Violations, func(v verdict.Violation) bool {
				return v.Signature == gaveUpUnsure
			})
		})
		if unsure != c.unsure {
			t.Errorf("%s: unsure %v", name, unsure)
		}
	}
}
