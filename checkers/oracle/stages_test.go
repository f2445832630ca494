package oracle

import (
	"cmp"
	"strconv"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// TestJoins: every shard says before the first step that its migrations have ended; in 4.2 each is
// asked again when all have said so.
func TestJoins(t *testing.T) {
	const once = "join a 10 12\njoin b 12 14\n"
	const twice = once + "join a 14 15\njoin b 15 16\n"
	for name, c := range map[string]struct {
		speaks migrationmodel.Protocol
		change Step
		script string
		want   verdict.Signature
	}{
		"once":               {migrationmodel.V80, DropStep, once + "ask block\n", ""},
		"b not at all":       {migrationmodel.V80, DropStep, "join a 10 12\nask block\n", stageTooEarly},
		"nobody":             {migrationmodel.V80, IndexStep, "ask index\n", stageTooEarly},
		"a creation":         {migrationmodel.V80, CreateStep, "ask block\n", ""},
		"4.2, twice":         {migrationmodel.V42, DropStep, twice + "ask block\n", ""},
		"4.2, once":          {migrationmodel.V42, DropStep, once + "ask block\n", stageTooEarly},
		"4.2, a renamed one": {migrationmodel.V42, RenameStep, once + "ask block\n", stageTooEarly},
		"4.2, b was asked before a said so": {
			migrationmodel.V42, IndexStep, once + "join a 14 15\njoin b 13 16\nask index\n",
			stageTooEarly,
		},
		"4.2, allowed meanwhile": {
			migrationmodel.V42, IndexStep, twice + "allow listed\nask index\n", stageTooEarly,
		},
		"4.2, a later step": {
			migrationmodel.V42, DropStep, twice + "ask block\nblock a\nblock b\ncatalog drop\nask drop\n", "",
		},
		"4.2, a deposed primary asks": {
			migrationmodel.V42, DropStep, once + "elected config.1\nask block\n", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := told(nil)
			o.Speaks(c.speaks)
			stageLine(o, c.change, []string{"listed"})
			for line := range strings.Lines(c.script) {
				stageLine(o, c.change, strings.Fields(line))
			}
			expectOf(t, o, stagesRule, c.want)
		})
	}
}

// TestOperationStages reads scripts. A line says that a shard has answered a step, that shards are
// asked for one ("ask"), or what is written to the catalog.
func TestOperationStages(t *testing.T) {
	const (
		blocked = "block a\nblock b\n"
		drop    = blocked + "catalog drop\nask drop\ndrop a\ndrop b\nask release\n"
		rename  = blocked + "catalog drop\nask rename\nrename a\nrename b\nallow\nask release\n"
		create  = blocked + "ask create\ncreate a\ncatalog new\nask release\n"
		index   = "index a\nindex b\nallow\nask release\n"
	)
	without := func(text, line string) string { return strings.Replace(text, line+"\n", "", 1) }
	for name, c := range map[string]struct {
		change Step
		script string
		want   verdict.Signature
	}{
		"drop":                            {DropStep, drop, ""},
		"drop, b does not block":          {DropStep, without(drop, "block b"), stageTooEarly},
		"drop, still in the catalog":      {DropStep, without(drop, "catalog drop"), stageTooEarly},
		"drop, b still has it":            {DropStep, without(drop, "drop b"), stageTooEarly},
		"drop, taken up again":            {DropStep, drop + drop, ""},
		"rename":                          {RenameStep, rename, ""},
		"rename, refused":                 {RenameStep, blocked + "allow\nask release\n", ""},
		"rename, a has the old name":      {RenameStep, without(rename, "rename a"), stageTooEarly},
		"rename, the catalog has it, too": {RenameStep, without(rename, "catalog drop"), stageTooEarly},
		"create":                          {CreateStep, create, ""},
		"create, b does not block":        {CreateStep, without(create, "block b"), stageTooEarly},
		"create, released before":         {CreateStep, blocked + "create a\nask release\ncatalog new\n", stageTooEarly},
		"create, refused":                 {CreateStep, blocked + "ask release\n", ""},
		"create, its owner has none":      {CreateStep, without(create, "create a"), stageTooEarly},
		"index":                           {IndexStep, index, ""},
		"index, b has none":               {IndexStep, without(index, "index b"), stageTooEarly},
		"index, b has none on release": {
			IndexStep, "index a\nask release\n", stageTooEarly,
		},
		"drop beside a migration":  {DropStep, "elected config.0\nmoving a.0\nask block\n" + drop, stageTooEarly},
		"index beside a migration": {IndexStep, "elected config.0\nmoving a.0\nask index\n", stageTooEarly},
		"drop after a migration": {
			DropStep, "moving a.0\nmoved a.0\nask block\n" + drop, "",
		},
		"drop after one that was given up": {
			DropStep, "moving a.0\ngave-up a.0\nask block\n" + drop, "",
		},
		"drop after the donor's time": {
			DropStep, "moving a.0\nelected a.1\nask block\n" + drop, "",
		},
		"create again, and what is released already moves": {
			CreateStep, "elected config.0\n" + create + "release a\nmoving a.0\nask block\n", "",
		},
		"index asked for by one that is deposed": {
			IndexStep, "elected config.1\nindex a\nindex b\nallow\nmoving a.0\nask index\n", "",
		},
		"drop beside what a deposed one does": {
			DropStep, "moving a.1\nask block\n" + drop, "",
		},
		"index, and a shard is added meanwhile": {
			IndexStep, index + "release a\nadd c\n", stageTooEarly,
		},
		"drop, and a shard is added before": {DropStep, "add c\nblock c\n" + without(drop, "ask release") +
			"drop c\nask release\n", ""},
		"index, and a shard is added later": {
			IndexStep, index + "release a\nrelease b\nadd c\nallow\n", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := told(nil)
			for line := range strings.Lines(c.script) {
				stageLine(o, c.change, strings.Fields(line))
			}
			expectOf(t, o, stagesRule, c.want)
		})
	}
}

func stageLine(o *Oracle, change Step, words []string) {
	s := OperationStep{NS: "test.some", Operation: 1, Change: change}
	if change == RenameStep {
		s.To = "test.other"
	}
	write := func(ns string, c trace.CatalogChange, chunks ...trace.Chunk) {
		e := trace.CatalogWrittenEvent{
			Shard: "config", Term: 1, Index: 9, NS: ns, Why: c.String(), Chunks: chunks,
		}.Event()
		e.Step, e.At, e.Node = 1000, 100*ms, "config.0"
		o.Observe(e)
	}
	step := func(word string) Step {
		if word == "index" {
			return IndexStep
		}
		return Step(word)
	}
	switch words[0] {
	case "ask":
		s.Step = step(words[1])
		o.StepAsked("config.0", s)
	case "join":
		sent, _ := strconv.ParseInt(words[2], 10, 64)
		o.causes.now, _ = strconv.ParseInt(words[3], 10, 64)
		o.JoinAnswered("config.0", words[1], s.NS, sent)
	case "listed":
		write(s.NS, 0, trace.Chunk{Min: "\x00", Max: "\xff", Shard: "a", Major: 1})
	case "allow":
		var raised []trace.Chunk
		if len(words) > 1 {
			raised = []trace.Chunk{{Min: "\x00", Max: "\xff", Shard: "a", Major: 2}}
		}
		write(cmp.Or(s.To, s.NS), trace.AllowsMigrations, raised...)
	case "add":
		e := trace.ClusterChangedEvent{
			Shard: "config", Term: 1, Index: 10, Peer: words[1], Change: trace.ShardAdded,
		}.Event()
		known := trace.MajorityEvent{Shard: "config", Term: 1, Index: 10}.Event()
		for _, one := range []*trace.Event{e, known} {
			one.Step, one.At, one.Node = 1000, 100*ms, "config.0"
			o.Observe(one)
		}
	case "catalog":
		if words[1] == "drop" {
			write(s.NS, trace.Dropped)
		} else {
			write(s.NS, 0, trace.Chunk{Min: "\x00", Max: "\xff", Shard: "a", Major: 1})
		}
	case "moving", "moved", "gave-up", "elected":
		migrationLine(o, words)
	default:
		s.Step = step(words[0])
		o.StepTaken(words[1], s)
	}
}

// migrationLine says how a migration of the collection goes on that a member of a donates, or that
// it is elected; a.0 is when the first begins.
func migrationLine(o *Oracle, words []string) {
	happens := func(node string, step uint64, e *trace.Event) {
		e.Step, e.At, e.Node = step, 90*ms, node
		o.Observe(e)
	}
	donor := trace.DonorAdvancedEvent{Shard: "a", Peer: "b", NS: "test.some", Migration: "m1"}
	switch words[0] {
	case "moving":
		happens("a.0", 900, trace.ElectedEvent{Shard: "a", Term: 1}.Event())
		donor.State = trace.DonorCloning
		happens(words[1], 910, donor.Event())
	case "moved":
		happens(words[1], 920,
			trace.MigrationEndedEvent{Shard: "a", Migration: "m1"}.Event())
	case "gave-up":
		donor.State = trace.DonorDone
		happens(words[1], 920, donor.Event())
	case "elected":
		set, _, _ := strings.Cut(words[1], ".")
		happens(words[1], 930, trace.ElectedEvent{Shard: set, Term: 2}.Event())
	}
}
