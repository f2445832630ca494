package oracle

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers/migrationmodel"
)

// A statement is executed twice behind a drop only if two shards did it for the client, a majority
// had the first execution, and the collection was dropped between; behind a migration only if the
// donor knew a later statement of the session before it began to clone, and behind a move of the
// primary only if that shard knew one before this began, when the collection is not sharded.
func TestExecutedTwice(t *testing.T) {
	const (
		write  = "execute a.0 1 2 c s 5 0\nuser a.0 1 2 c 12\n"
		first  = opening + write
		kept   = "majority a.0 1 2\n"
		rest   = "table 1 2 drop\nmajority config.0 1 2\n" + again
		second = "execute b.0 1 1 c s 5 0\nuser b.0 1 1 c 12\n"
		later  = "execute a.0 1 3 d s 6 0\nuser a.0 1 3 d 13\nmajority a.0 1 3\n"
		asked  = "state a.0 m1 - m a b kCreated\n"
		clones = "state a.0 m1 - m a b kCloning\n"
		begun  = asked + clones
		moved  = "table 1 2 move_m1 -..m=b@2|0<a\nmajority config.0 1 2\n"
	)
	// The same of an unsharded collection, whose range is its database.
	const (
		firstHere  = on + "plain execute a.0 1 4 c s 5 0\nmajority a.0 1 4\n"
		laterHere  = "execute a.0 1 5 d s 6 0\nuser a.0 1 5 d 13\nmajority a.0 1 5\n"
		moving     = "moving a.0 p1 b\n"
		movedHere  = "database 1 3 movePrimary_p1 -..+=b@2|0\nmajority config.0 1 3\n"
		secondHere = "plain execute b.0 1 1 c s 5 0\n"
	)
	with := func(old, new string) string { return strings.ReplaceAll(second, old, new) }
	for name, c := range map[string]struct {
		script string
		twice  bool
	}{
		"behind a drop": {first + kept + rest + second, true},
		"behind a drop, by _id in one that is not sharded": {
			first + kept + "table 1 2 drop\nmajority config.0 1 2\n" + with(" c ", " z "), true,
		},
		"by another key in one that is": {first + kept + rest + with(" c ", " z "), false},
		"without a drop":                {first + kept + second, false},
		"the drop came before":          {opening + rest + write + kept + second, false},
		"no majority has the drop": {
			first + kept + "table 1 2 drop\n" + second, false,
		},
		"no majority had the first": {first + rest + second, false},
		"given up before its move":  {first + kept + later + begun + moved + second, true},
		"given up before its move clones": {
			first + kept + asked + later + clones + moved + second, true,
		},
		"given up during its move": {first + kept + begun + later + moved + second, false},
		"moved and not given up":   {first + kept + begun + moved + second, false},
		"one of several given up before its move": {
			first + kept + "execute a.0 1 3 d s 5 1\nuser a.0 1 3 d 12\nmajority a.0 1 3\n" +
				strings.ReplaceAll(later, "a.0 1 3", "a.0 1 4") + begun + moved + second, true,
		},
		"one of several, moved and not given up": {
			first + kept + "execute a.0 1 3 d s 5 1\nuser a.0 1 3 d 12\nmajority a.0 1 3\n" +
				begun + moved + second, false,
		},
		"given up by another session": {
			first + kept + strings.ReplaceAll(later, " s ", " z ") + begun + moved + second, false,
		},
		"given up and dropped":   {first + kept + later + rest + second, true},
		"given up and not moved": {first + kept + later + begun + second, false},
		"given up elsewhere": {
			first + kept + strings.ReplaceAll(later, "a.0 1 3", "b.0 1 1") + begun + moved +
				with("b.0 1 1", "b.0 1 2"), false,
		},
		"given up, another key moved": {
			first + kept + later + strings.ReplaceAll(begun, "- m", "d m") + moved + second, false,
		},
		"given up before the primary moved": {
			firstHere + laterHere + moving + movedHere + secondHere, true,
		},
		"given up while the primary moved": {
			firstHere + moving + laterHere + movedHere + secondHere, false,
		},
		"not given up, and the primary moved": {firstHere + moving + movedHere + secondHere, false},
		"given up, and the primary stayed":    {firstHere + laterHere + moving + secondHere, false},
		"given up, and another shard's primary moved": {
			firstHere + laterHere + "moving c.0 p1 b\n" + movedHere + secondHere, false,
		},
		"given up, sharded, and the primary moved": {
			first + kept + later + moving + movedHere + second, false,
		},
		"the same shard":       {first + kept + rest + with("b.0 1 1", "a.0 1 3"), false},
		"another statement":    {first + kept + rest + with("5 0", "5 1"), false},
		"another transaction":  {first + kept + rest + with("5 0", "6 0"), false},
		"another key":          {first + kept + rest + with(" c ", " d "), false},
		"known from the first": {first + kept + rest + with("execute", "import"), false},
		"not by a primary":     {first + kept + rest + with("b.0", "b.1"), false},
	} {
		if got := len(observe(t, c.script).ExecutedTwice()) > 0; got != c.twice {
			t.Errorf("%s: executed twice %v", name, got)
		}
	}
}

// What is executed in a dropped collection and finds nothing in the next one, on another shard,
// counts as executed twice, from when that shard answers.
func TestFoundNothing(t *testing.T) {
	const (
		first = opening + "execute a.0 1 2 c s 5 0\nuser a.0 1 2 c 12\n"
		kept  = "majority a.0 1 2\n"
		drop  = "table 1 2 drop\nmajority config.0 1 2\n"
	)
	for name, c := range map[string]struct {
		script, node, ns string
		statement        int
		twice            bool
	}{
		"after a drop":              {first + kept + drop, "b.0", "test.docs", 0, true},
		"without a drop":            {first + kept, "b.0", "test.docs", 0, false},
		"no majority has the drop":  {first + kept + "table 1 2 drop\n", "b.0", "test.docs", 0, false},
		"no majority had the first": {first + drop, "b.0", "test.docs", 0, false},
		"the same shard":            {first + kept + drop, "a.1", "test.docs", 0, false},
		"another statement":         {first + kept + drop, "b.0", "test.docs", 1, false},
		"another collection":        {first + kept + drop, "b.0", "test.more", 0, false},
	} {
		o := observe(t, c.script)
		o.FoundNothing(c.node, c.ns, "s", 5, c.statement)
		if got := len(o.ExecutedTwice()) > 0; got != c.twice {
			t.Errorf("%s: executed twice %v", name, got)
		}
	}
}

// A document is left behind if a client of the primary changed it during the copy of 4.2, and the
// new primary does not have the change when the commit is written; the history of sessions always.
func TestLeftBehind(t *testing.T) {
	const (
		change = "plain user a.0 1 4 c 13\n"
		moving = "moving a.0 p1 b copies\n"
		copied = "plain copy b.0 1 1 c 13 p1\n"
		commit = "database 1 3 movePrimary_p1 -..+=b@2|0\n"
		kept   = "majority config.0 1 3\n"
		// A movePrimary that failed has copied a document that has been dropped or renamed since.
		remains = "plain copy b.0 1 1 r 14 p0\n"
		first   = "plain execute a.0 1 4 d s 5 0\nmajority a.0 1 4\n"
		moves   = moving + commit + kept
		second  = "plain execute b.0 1 1 d s 5 0\n"
	)
	for name, c := range map[string]struct {
		protocol migrationmodel.Protocol
		script   string
		left     []string
	}{
		"changed during the copy": {migrationmodel.V42, moving + change + commit + kept, []string{"c"}},
		"and copied":              {migrationmodel.V42, moving + change + copied + commit + kept, nil},
		"changed before the copy": {migrationmodel.V42, change + moving + commit + kept, nil},
		"changed behind it":       {migrationmodel.V42, moving + commit + kept + change, nil},
		"in 8.0":                  {migrationmodel.V80, moving + change + commit + kept, nil},
		"no majority has it":      {migrationmodel.V42, moving + change + commit, nil},
		"by nobody's order": {
			migrationmodel.V42, moving + strings.Replace(change, "user", "copy", 1) + commit + kept, nil,
		},
		"on a secondary": {
			migrationmodel.V42, moving + strings.Replace(change, "a.0", "a.1", 1) + commit + kept, nil,
		},
		"on another shard": {
			migrationmodel.V42, moving + strings.Replace(change, "a.0", "b.0", 1) + commit + kept, nil,
		},
		"executed before the move and behind it": {
			migrationmodel.V42, first + moves + second, []string{"d"},
		},
		"executed twice behind it": {migrationmodel.V42, moves + first + second, nil},
		"executed twice in 8.0":    {migrationmodel.V80, first + moves + second, nil},
		"executed twice, and no majority has the commit": {
			migrationmodel.V42, first + moving + commit + second, nil,
		},
		"executed twice, and another shard's moved": {
			migrationmodel.V42, first + strings.ReplaceAll(moves, "a.0", "c.0") + second, nil,
		},
		"executed twice, on another key": {
			migrationmodel.V42, first + moves + strings.Replace(second, " d ", " e ", 1), nil,
		},
		"remains of another move": {
			migrationmodel.V42, "moving a.0 p0 b copies\n" + remains + moving + commit + kept,
			[]string{"r"},
		},
		"remains of another move that are the donor's": {
			migrationmodel.V42,
			"moving a.0 p0 b copies\nplain user a.0 1 4 r 14\n" + remains + moving + commit + kept, nil,
		},
		"remains of another move on another shard": {
			migrationmodel.V42, "moving a.0 p0 c copies\n" +
				strings.Replace(remains, "b.0", "c.0", 1) + moving + commit + kept, nil,
		},
		"what the move itself has copied": {
			migrationmodel.V42, moving + strings.Replace(remains, "p0", "p1", 1) + commit + kept, nil,
		},
		"sharded": {
			migrationmodel.V42, moving + strings.TrimPrefix(change, "plain ") + commit + kept, nil,
		},
	} {
		var left []string
		for _, d := range observeIn(t, c.protocol, opening+on+c.script).LeftBehind() {
			if d.NS != "test.plain" || d.Max != d.Min+"\x00" || d.Step == 0 || d.From == 0 {
				t.Errorf("%s: %+v", name, d)
			}
			left = append(left, d.Min)
		}
		if !slices.Equal(left, c.left) {
			t.Errorf("%s: %v was left behind, want %v", name, left, c.left)
		}
	}
}

// A copy of 4.2 counts from its beginning, if the database moves in the end.
func TestCopied(t *testing.T) {
	const (
		moving = "moving a.0 p1 b copies\n"
		commit = "database 1 3 movePrimary_p1 -..+=b@2|0\n"
	)
	for name, c := range map[string]struct {
		protocol   migrationmodel.Protocol
		script, ns string
		copies     int
	}{
		"a move":                  {migrationmodel.V42, moving + commit, "test.plain", 1},
		"a move of another":       {migrationmodel.V42, moving + commit, "more.plain", 0},
		"a move without a commit": {migrationmodel.V42, moving, "test.plain", 0},
		"a move of 8.0":           {migrationmodel.V80, moving + commit, "test.plain", 0},
	} {
		o := observeIn(t, c.protocol, opening+on+c.script)
		if o.Copied(c.ns) != nil {
			t.Errorf("%s: a collection that was always sharded was copied", name)
		}
		o.Plain(c.ns)
		copied := o.Copied(c.ns)
		if len(copied) != c.copies || c.copies > 0 && copied[0][1] != math.MaxInt64 {
			t.Errorf("%s: copied at %v, want %d copies without an end", name, copied, c.copies)
		}
	}
}

// What the former primary has executed, and whose client has not gone on, is not taken along.
func TestUnmoved(t *testing.T) {
	const (
		first = "plain execute a.0 1 4 d s 5 0\n"
		later = "execute a.0 1 5 e s 6 0\n"
		moves = "moving a.0 p1 b copies\ndatabase 1 3 movePrimary_p1 -..+=b@2|0\n"
		kept  = "majority config.0 1 3\n"
	)
	for name, c := range map[string]struct {
		protocol migrationmodel.Protocol
		script   string
		unmoved  int
	}{
		"executed before the commit":     {migrationmodel.V42, first + moves + kept, 1},
		"its client has gone on":         {migrationmodel.V42, first + later + moves + kept, 0},
		"executed after the commit":      {migrationmodel.V42, moves + first + kept, 0},
		"in 8.0":                         {migrationmodel.V80, first + moves + kept, 0},
		"no majority has the commit":     {migrationmodel.V42, first + moves, 0},
		"executed on another shard":      {migrationmodel.V42, strings.Replace(first, "a.0 1 4", "b.0 1 1", 1) + moves + kept, 0},
		"executed on a sharded document": {migrationmodel.V42, strings.TrimPrefix(first, "plain ") + moves + kept, 0},
	} {
		got := observeIn(t, c.protocol, opening+on+c.script).Unmoved()
		if len(got) != c.unmoved {
			t.Errorf("%s: %+v", name, got)
		}
		for _, u := range got {
			if u.Txn != 5 || u.Session != "s" || u.Damage.Min != "d" || u.Committed <= u.Damage.From {
				t.Errorf("%s: %+v", name, u)
			}
		}
	}
}

// No log of the config server tells that an unsharded collection was dropped: its identity does. The
// collection that is made next may be sharded, by another key.
func TestExecutedTwiceInTheNextCollection(t *testing.T) {
	const (
		plain = on + "plain execute a.0 1 4 c s 5 0\n"
		kept  = "majority a.0 1 4\n"
		again = "plain execute b.0 1 1 hash s 5 0\n"
	)
	for name, c := range map[string]struct {
		before, after string
		first, second string
		twice         bool
	}{
		"in the next":               {plain + kept, again, "one", "another", true},
		"in the same":               {plain + kept, again, "one", "one", false},
		"in an unknown one":         {plain + kept, again, "one", "", false},
		"of an unknown one":         {plain + kept, again, "", "another", false},
		"no majority had the first": {plain, again, "one", "another", false},
		"on the same shard": {
			plain + kept, strings.ReplaceAll(again, "b.0 1 1", "a.0 1 5"), "one", "another", false,
		},
		"that was sharded before": {
			opening + "execute a.0 1 4 c s 5 0\n" + kept, "execute b.0 1 1 c s 5 0\n",
			"one", "another", false,
		},
	} {
		s, has := script{o: New(nil)}, c.first
		s.o.Identities(func(string, string) string { return has })
		s.lines(t, c.before)
		has = c.second
		s.lines(t, c.after)
		if got := len(s.o.ExecutedTwice()) > 0; got != c.twice {
			t.Errorf("%s: executed twice %v", name, got)
		}
	}
}

// No stream delivers a write that a migration has copied before a majority of the donor had it, if
// the migration commits and the donor's next primary lacks the write. One of a session is waited
// for, one that was copied as a majority had it is delivered.
func TestUndelivered(t *testing.T) {
	const (
		begun  = opening + "state a.0 m1 - m a b kCreated\nstate a.0 m1 - m a b kCloning\n"
		write  = "user a.0 1 2 c 12\n"
		copied = "copy b.0 1 1 c 12 m1\n"
		moved  = "table 1 2 move_m1 -..m=b@2|0<a\nmajority config.0 1 2\n"
		lost   = "elected a.1 2 1 1:1\n"
	)
	for name, c := range map[string]struct {
		script string
		want   bool
	}{
		"copied, moved and lost": {begun + write + copied + moved + lost, true},
		"lost before the commit": {begun + write + copied + lost + moved, true},
		"kept by the next primary": {
			begun + write + copied + moved + "elected a.1 2 2 1:2\n", false,
		},
		"kept by a later one": {
			begun + write + copied + moved + lost + "elected a.2 3 2 1:2\n", false,
		},
		"replaced by the next": {
			begun + write + copied + moved + "elected a.1 3 2 1:1,2:2\n", true,
		},
		"no election": {begun + write + copied + moved, false},
		"not moved":   {begun + write + copied + lost, false},
		"a majority had it": {
			begun + write + "majority a.0 1 2\n" + copied + moved + lost, false,
		},
		"another version was copied": {
			begun + write + "copy b.0 1 1 c 11 m1\n" + moved + lost, false,
		},
		"a statement of a session": {
			begun + "execute a.0 1 2 c s 5 0\n" + write + copied + moved + lost, false,
		},
		"the copy of another migration": {
			begun + "copy a.0 1 2 c 12 m0\n" + copied + moved + lost, false,
		},
		"the election of another set": {
			begun + write + copied + moved + "elected b.1 2 1 1:1\n", false,
		},
	} {
		if got := len(observe(t, c.script).Undelivered()) > 0; got != c.want {
			t.Errorf("%s: undelivered %v", name, got)
		}
	}
}
