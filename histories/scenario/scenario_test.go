package scenario_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
)

var text = rapid.OneOf(rapid.StringMatching(`[a-z][a-z0-9.]{0,8}`), rapid.StringN(1, 6, -1))

var span = rapid.Custom(func(t *rapid.T) time.Duration {
	return time.Duration(rapid.Int64Range(0, 1<<50).Draw(t, "ns"))
})

func drawTrigger(t *rapid.T) scenario.Trigger {
	if rapid.Bool().Draw(t, "timed") {
		return scenario.Trigger{At: span.Draw(t, "at")}
	}
	return scenario.Trigger{
		Site: "s" + text.Draw(t, "site"), Nth: rapid.IntRange(1, 9).Draw(t, "nth"),
		After: span.Draw(t, "after"), Node: rapid.OneOf(rapid.Just(""), text).Draw(t, "node"),
	}
}

func drawOp(
	t *rapid.T, id int, c scenario.Collection, clients, members int,
) scenario.Op {
	kinds := []scenario.OpKind{
		"read", "write", "cas", "insert", "delete", "update", "upsert", "push", "scan",
	}
	o := scenario.Op{
		ID:     id,
		At:     span.Draw(t, "at"),
		Client: rapid.IntRange(0, clients-1).Draw(t, "client"),
		NS:     c.NS,
		Kind:   rapid.SampledFrom(kinds).Draw(t, "kind"),
		Key:    rapid.Int64Range(0, int64(c.Keys)-1).Draw(t, "key"),
		Concern: rapid.SampledFrom([]string{"", "local", "majority", "snapshot"}).Draw(t,
			"concern"),
	}
	if o.Kind.Writes() {
		o.Value = text.Draw(t, "value")
	}
	if o.Kind == scenario.CAS && rapid.Bool().Draw(t, "expects") {
		o.Expect = text.Draw(t, "expect")
	}
	if o.Kind == scenario.Scan {
		o.To = rapid.Int64Range(o.Key+1, int64(c.Keys)).Draw(t, "to")
		o.Batch = rapid.IntRange(1, 9).Draw(t, "batch")
		o.Rest = time.Duration(rapid.Int64Range(0, 90).Draw(t, "rest")) * time.Millisecond
	}
	if o.Kind == scenario.Scan || o.Kind == scenario.Read {
		o.Causal = rapid.Bool().Draw(t, "causal")
		if o.Concern != "" && rapid.Bool().Draw(t, "on a secondary") {
			o.Prefer = scenario.Secondary
		}
		if o.Concern == "snapshot" && !o.Causal {
			o.Age = time.Duration(rapid.Int64Range(0, 2000).Draw(t, "age")) * time.Millisecond
		}
	} else {
		o.Batched = rapid.Bool().Draw(t, "batched")
		o.Together = o.Kind == scenario.Insert && !o.Batched && rapid.Bool().Draw(t, "together")
		o.WTimeout = time.Duration(rapid.Int64Range(0, 500).Draw(t, "wtimeout")) * time.Millisecond
		if members > 1 {
			o.W = rapid.IntRange(members/2+1, members).Draw(t, "w")
		}
	}
	return o
}

func drawFault(t *rapid.T, id int) scenario.Fault {
	f := scenario.Fault{
		ID: id, Kind: "f" + text.Draw(t, "kind"), When: drawTrigger(t), For: span.Draw(t, "for"),
		Target: rapid.OneOf(rapid.Just(""), text).Draw(t, "target"),
	}
	if rapid.Bool().Draw(t, "until") {
		until := drawTrigger(t)
		f.Until = &until
	}
	for range rapid.IntRange(0, 2).Draw(t, "args") {
		f.Args = append(f.Args, scenario.Setting{
			Name:  rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "arg"),
			Value: text.Draw(t, "value"),
		})
	}
	return f
}

func drawMove(t *rapid.T, id int, ns string, shards int) scenario.Migration {
	bound := rapid.OneOf(rapid.Int64(),
		rapid.SampledFrom([]int64{scenario.MinKey, scenario.MaxKey, 0, 20}))
	lo, hi := bound.Draw(t, "min"), bound.Draw(t, "max")
	if lo >= hi {
		lo, hi = scenario.MinKey, scenario.MaxKey
	}
	return scenario.Migration{
		ID: id, At: span.Draw(t, "at"), NS: ns, Min: lo, Max: hi,
		To: rapid.IntRange(0, shards-1).Draw(t, "to"), WaitDelete: rapid.Bool().Draw(t, "wait"),
		Open:       rapid.SampledFrom([]string{"", "min", "max", "chunk"}).Draw(t, "open"),
		ForceJumbo: rapid.SampledFrom([]string{"", "manual", "balancer"}).Draw(t, "force"),
		Throttle:   rapid.SampledFrom([]string{"", "2", "majority"}).Draw(t, "throttle"),
	}
}

func drawCommand(t *rapid.T, ns string) scenario.Command {
	key := rapid.Int64Range(scenario.MinKey+1, scenario.MaxKey-1)
	zone := rapid.SampledFrom([]string{"east", "west", commandkind.NoZone}).Draw(t, "zone")
	state := rapid.SampledFrom([]string{"on", "off"}).Draw(t, "state")
	c := rapid.SampledFrom([]scenario.Command{
		{Do: commandkind.CleanupOrphaned, Name: ns}, {Do: commandkind.JoinMigrations, Name: ns},
		{Do: commandkind.SetParameter, Name: text.Draw(t, "name"), Value: text.Draw(t, "value")},
		{Do: commandkind.SplitChunk, Name: ns, Min: key.Draw(t, "key")},
		{
			Do:   commandkind.MergeChunks,
			Name: ns,
			Min:  scenario.MinKey,
			Max:  rapid.Int64Min(scenario.MinKey+1).Draw(t, "max"),
		},
		{
			Do:   commandkind.PutSetting,
			Name: "balancer",
			Fields: []scenario.Setting{
				{Name: "mode", Value: text.Draw(t, "mode")},
				{Name: "activeWindow", Value: "23:00-7:00"},
			},
		},
		{Do: commandkind.PutSetting, Name: "chunksize"}, {Do: commandkind.BalancerStart},
		{Do: commandkind.BalancerStop}, {Do: commandkind.RemoveShard, Name: "shard-a"},
		{Do: commandkind.AddShard, Name: "shard-a"}, {
			Do:    commandkind.ZoneAdd,
			Name:  "shard-a",
			Value: zone,
		}, {Do: commandkind.ZoneRemove, Name: "shard-a", Value: zone},
		{
			Do:    commandkind.ZoneRange,
			Name:  ns,
			Min:   scenario.MinKey,
			Max:   rapid.Int64Min(scenario.MinKey+1).Draw(t, "end"),
			Value: zone,
		},
		{Do: commandkind.Balance, Name: ns, Value: state},
		{Do: commandkind.Defragment, Name: ns, Value: state},
		{Do: commandkind.ChunkSize, Name: ns, Value: "400"},
		{Do: commandkind.ClearJumboFlag, Name: ns, Min: key.Draw(t, "held")},
	}).Draw(t, "command")
	c.At = span.Draw(t, "at")
	return c
}

func drawStream(t *rapid.T, id int, ns string) scenario.Stream {
	some := rapid.IntRange(0, 9)
	return scenario.Stream{
		ID: id, At: span.Draw(t, "at"), NS: ns, Poll: span.Draw(t, "poll") + 1,
		Batch: some.Draw(t, "batch"), Resume: some.Draw(t, "resume"), Back: some.Draw(t, "back"),
	}
}

func drawScenario(t *rapid.T) *scenario.Scenario {
	size := rapid.IntRange(1, 5)
	s := &scenario.Scenario{
		Name:      rapid.OneOf(rapid.Just(""), text).Draw(t, "name"),
		Seed:      rapid.Uint64().Draw(t, "seed"),
		Planned:   rapid.Bool().Draw(t, "planned"),
		Protocol:  rapid.SampledFrom([]string{"", "8.0", "4.2"}).Draw(t, "protocol"),
		FaultsEnd: span.Draw(t, "end"),
		Limit:     span.Draw(t, "limit"),
		Topology: scenario.Topology{
			Shards:        size.Draw(t, "shards"),
			Members:       size.Draw(t, "members"),
			ConfigMembers: size.Draw(t, "config"),
			Routers:       size.Draw(t, "routers"),
			Clients:       size.Draw(t, "clients"),
		},
		Balancer: rapid.Bool().Draw(t, "balancer"),
		Settings: []scenario.Setting{{Name: text.Draw(t, "setting"), Value: text.Draw(t, "value")}},
	}
	c := scenario.Collection{
		NS:      "test.docs",
		Hashed:  rapid.Bool().Draw(t, "hashed"),
		Bounds:  []int64{-3, 10, 20},
		Keys:    40,
		Preload: 20,
		Owners:  rapid.IntRange(0, s.Topology.Shards).Draw(t, "owners"),
		Made:    rapid.SampledFrom([]string{"", "dealt", "placed"}).Draw(t, "made"),
	}
	if c.Hashed && c.Made == scenario.MadePlaced {
		c.Initial = rapid.IntRange(0, 9).Draw(t, "initial")
	}
	plain := scenario.Collection{NS: "plain.docs", Keys: 2, Unsharded: true}
	if plain.By = rapid.SampledFrom([]string{"", scenario.ByField}).Draw(t, "by"); plain.By != "" {
		plain.Hashed = rapid.Bool().Draw(t, "by hash")
	}
	s.Collections = []scenario.Collection{c, {NS: "test.other docs", Keys: 1}, plain}
	for i := range rapid.IntRange(0, 6).Draw(t, "ops") {
		s.Ops = append(s.Ops, drawOp(t, 3*i, c, s.Topology.Clients, s.Topology.Members))
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "moves") {
		s.Migrations = append(s.Migrations, drawMove(t, i, c.NS, s.Topology.Shards))
	}
	for range rapid.IntRange(0, 3).Draw(t, "commands") {
		s.Commands = append(s.Commands, drawCommand(t, c.NS))
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "moves of primaries") {
		to := rapid.IntRange(0, s.Topology.Shards-1).Draw(t, "to")
		s.Primaries = append(s.Primaries,
			scenario.MovePrimary{ID: i, At: span.Draw(t, "at"), Database: "plain", To: to})
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "streams") {
		s.Streams = append(s.Streams, drawStream(t, i+1, c.NS))
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "faults") {
		s.Faults = append(s.Faults, drawFault(t, i))
	}
	s.Decisions = []scenario.Decision{{
		Kind:       text.Draw(t, "kind"),
		Site:       text.Draw(t, "site"),
		Occurrence: rapid.Uint64().Draw(t, "occurrence"),
		Answer:     rapid.Int64().Draw(t, "answer"),
	}}
	return s
}

// Every valid scenario prints as a text that parses back to an equal one.
func TestPrintAndParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawScenario(t)
		if err := want.Validate(scenario.Names{}); err != nil {
			t.Skip(err)
		}
		got, err := scenario.Parse("drawn.txt", want.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, want)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("parsed back differently:\n%s\n%s", diff, want)
		}
	})
}

const frame = `shardproof scenario 2
# a comment
topology shards=2 members=3 config=3 routers=1 clients=2 # another
collection test.docs ranged keys=40 preload=20 bounds=20
`

// What people write by hand: no numbers, comments, names for the bounds.
func TestWrittenByHand(t *testing.T) {
	got, err := scenario.Parse("hand.txt", frame+`
at 120ms client 1 write test.docs k=17 v=w4
at 300ms move test.docs [MinKey, 20) to shard-b
fault 3 at donor.coordinatorInsert.afterMajority #2 crash donor.primary for 800ms
decide net.loss shard-a.0>shard-b.1 #17 = 1
`)
	if err != nil {
		t.Fatal(err)
	}
	want := &scenario.Scenario{
		Topology: scenario.Topology{
			Shards:        2,
			Members:       3,
			ConfigMembers: 3,
			Routers:       1,
			Clients:       2,
		},
		Collections: []scenario.Collection{{
			NS:      "test.docs",
			Keys:    40,
			Preload: 20,
			Bounds:  []int64{20},
		}},
		Ops: []scenario.Op{{
			ID:     1,
			At:     120 * time.Millisecond,
			Client: 1,
			NS:     "test.docs",
			Kind:   scenario.Write,
			Key:    17,
			Value:  "w4",
		}},
		Migrations: []scenario.Migration{{
			ID:  1,
			At:  300 * time.Millisecond,
			NS:  "test.docs",
			Min: scenario.MinKey,
			Max: 20,
			To:  1,
		}},
		Faults: []scenario.Fault{{
			ID: 3, Kind: "crash", Target: "donor.primary", For: 800 * time.Millisecond,
			When: scenario.Trigger{Site: "donor.coordinatorInsert.afterMajority", Nth: 2},
		}},
		Decisions: []scenario.Decision{{
			Kind:       "net.loss",
			Site:       "shard-a.0>shard-b.1",
			Occurrence: 17,
			Answer:     1,
		}},
		Limit: scenario.DefaultLimit,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

// Every kind of malformed line is refused with its place, what is wrong and what is expected; one
// for which nothing is wanted is just within a bound.
func TestMalformed(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"opp 1 at 2s", "bad.txt:5: unknown fact opp; expected name, seed"},
		{
			"op one at 2s client 1 read test.docs k=1",
			"bad.txt:5: one is not a whole number; expected a number",
		},
		{
			"op 1 at soon client 1 read test.docs k=1",
			"bad.txt:5: soon is not a time; expected a time such as 120ms",
		},
		{
			"op 1 at 2s client 9 read test.docs k=1",
			"bad.txt:5: there is no client 9; expected a client from 0 to 1",
		},
		{
			"op 1 at 2s client 1 fetch test.docs k=1",
			"bad.txt:5: unknown operation fetch; expected one of read, write",
		},
		{
			"op 1 at 2s client 1 read test.docs k=99",
			"bad.txt:5: the key 99 is not one of test.docs; expected a key from 0 to 39",
		},
		{
			"op 1 at 2s client 1 read test.none k=9",
			"bad.txt:5: there is no collection test.none; expected one of the collections above",
		},
		{
			"op 1 at 2s client 1 write test.docs k=9",
			"bad.txt:5: the write has no value; expected an identity",
		},
		{
			"op 1 at 2s client 1 write test.docs k=9 v=w1 w=1",
			"bad.txt:5: w=1 with 3 members; expected at least two members, a majority",
		},
		{
			"op 1 at 2s client 1 write test.docs k=9 v=w1 w=4",
			"bad.txt:5: w=4 with 3 members; expected at least two members, a majority",
		},
		{
			"op 1 at 2s client 1 read test.docs k=9 wtimeout=2ms",
			"bad.txt:5: a read waits for no members; expected w= and wtimeout= with writes",
		},
		{
			"op 1 at 2s client 1 read test.docs k=9 colour=red",
			"bad.txt:5: unknown colour=; expected k=",
		},
		{
			"op 1 at 2s client 1 cas test.docs k=9 v=w1",
			"bad.txt:5: the cas does not say what it expects; expected either if=VALUE or " +
				"if-absent",
		},
		{
			"op 1 at 2s client 1 read test.docs k=9 if-absent",
			"bad.txt:5: a read expects nothing; expected no if= and no if-absent",
		},
		{
			"op 1 at 2s client 1 read test.docs k=9 k=8 now",
			"bad.txt:5: unexpected now; expected the end of the line",
		},
		{
			"op 1 at 2s client 1 scan test.docs [3 20) batch=2",
			"bad.txt:5: unexpected \"[3 20)\"; expected a range of keys such as [0, 20)",
		},
		{
			"op 1 at 2s client 1 scan test.docs [9, 3) batch=2",
			"bad.txt:5: the range [9, 3) is empty or ends beyond the keys; expected an end from " +
				"10 to 40",
		},
		{
			"move 1 at 1s test.docs [0, 20) to shard-q",
			"bad.txt:5: there is no shard-q; expected a shard from shard-a to shard-b",
		},
		{
			"move 1 at 1s test.docs [0, 20) to elsewhere",
			"bad.txt:5: elsewhere is no shard; expected a shard such as shard-b",
		},
		{
			"move 1 at 1s test.docs [20, 0) to shard-b",
			"bad.txt:5: the range [20, 0) is empty; expected an end above the start",
		},
		{
			"move 1 at 1s test.docs [20, 0",
			"bad.txt:5: the range has no end; expected a range such as [MinKey, 20)",
		},
		{
			"fault 1 at donor.x crash donor.primary",
			"bad.txt:5: unexpected crash; expected which pass of the site, such as #1",
		},
		{
			"fault 1 at donor.x #0 crash donor.primary",
			"bad.txt:5: the trigger names pass #0 at 0s; expected a pass from #1 and no time",
		},
		{
			"fault 1 at 1s crash donor.primary for ever",
			"bad.txt:5: ever is not a time; expected a time such as 800ms",
		},
		{
			"fault 1 at 1s flood donor.primary",
			"bad.txt:5: unknown fault flood",
		},
		{
			"fault 1 at no.such #1 crash donor.primary",
			"bad.txt:5: unknown site no.such",
		},
		{
			"moveprimary 1 at 1s test to shard-b",
			"bad.txt:5: the fact moveprimary is now called move-primary; expected name, seed",
		},
		{
			"decide loss shard-a.0>shard-b.1 #17 = 1",
			"bad.txt:5: the decision loss is now called net.loss; expected the present name",
		},
		{
			"decide task.stall shard-a.0/d.register #1 = 1",
			"bad.txt:5: the failpoint d.register is now called donor.register; expected the " +
				"present name",
		},
		{"preset slow", "bad.txt:5: there is no preset slow; expected quick or drawn or short"},
		{
			"set known 1\npreset quick",
			"bad.txt:6: the preset comes behind a setting; expected it before the first set",
		},
		{
			"set known 1\nset known 2",
			"bad.txt:6: the setting known is given twice; expected it once",
		},
		{
			"set no.such 3",
			"bad.txt:5: unknown setting no.such",
		},
		{
			"decide net.loss a #x = 1",
			"bad.txt:5: x is not a whole number from 0; expected an occurrence such as #17",
		},
		{"decide net.loss a #1 1", "bad.txt:5: unexpected 1; expected \"=\""},
		{
			`name "a\x00b"`,
			`bad.txt:5: the name "a\x00b" has control characters; expected printable text`,
		},
		{"name a\x00b", `bad.txt:5: the name "a\x00b" has control characters`},
		{`name "a\u009bb"`, `bad.txt:5: the name "a\u009bb" has control characters`},
		{
			`collection "test.d\nocs" ranged keys=3`,
			`bad.txt:5: the namespace "test.d\nocs" has control characters`,
		},
		{
			"collection test.d\x00ocs ranged keys=3",
			`bad.txt:5: the namespace "test.d\x00ocs" has control characters`,
		},
		{
			`collection "test.d\xffocs" ranged keys=3`,
			`bad.txt:5: the namespace "test.d\xffocs" has control characters`,
		},
		{`name "open`, `bad.txt:5: the quoted text has no end; expected a closing "`},
		{"seed 1\nseed 2", "bad.txt:6: seed is given twice; expected it once"},
		{"seed -1", "bad.txt:5: -1 is not a whole number from 0; expected a seed such as 42"},
		{"limit", "bad.txt:5: the line ends too early; expected a time such as 60s"},
		{"limit -1s", "bad.txt:5: the limit is negative; expected a time of 0s or more"},
		{
			"collection test.docs ranged keys=3",
			"bad.txt:5: the namespace test.docs is given twice or has no dot; expected a " +
				"namespace of its own",
		},
		{
			"collection test.more ranged keys=100000000",
			"bad.txt:5: keys=100000000; expected at most keys=1000000",
		},
		{
			"collection test.more ranged keys=1000001",
			"bad.txt:5: keys=1000001; expected at most keys=1000000",
		},
		{"collection test.more ranged keys=1000000 preload=1000000", ""},
		{
			"collection test.more ranged keys=3 preload=4",
			"bad.txt:5: keys=3 preload=4; expected at least one key, and at most so many preloaded",
		},
		{
			"collection test.more sorted keys=3",
			"bad.txt:5: unexpected sorted; expected ranged, hashed or unsharded",
		},
		{
			"collection test.more unsharded keys=3 bounds=2",
			"bad.txt:5: the collection is unsharded and has bounds; expected one of the two",
		},
		{
			"collection test.more ranged keys=3 by=k",
			"bad.txt:5: by= on a sharded collection; expected by= only on an unsharded " +
				"collection, for the operation shard",
		},
		{
			"collection test.more unsharded keys=3 by=v",
			"bad.txt:5: by=v; expected by=k or by=hashed",
		},
		{"collection test.more unsharded keys=3 by=hashed", ""},
		{
			"collection test.more hashed keys=3 initial=4",
			"bad.txt:5: initial=4; expected initial=1 to 8192, of a hashed collection with " +
				"made=placed",
		},
		{
			"collection test.more unsharded keys=3\nmove 1 at 1s test.more [0, 2) to shard-b",
			"bad.txt:6: the collection test.more is not sharded; expected a sharded collection",
		},
		{
			"move-primary 1 at 1s test to shard-b",
			"bad.txt:5: no unsharded collection is in the database test; expected the database " +
				"of one",
		},
		{
			"collection more.a unsharded keys=3\nmove-primary 1 at 1s more to shard-c",
			"bad.txt:6: there is no shard-c; expected a shard from shard-a to shard-b",
		},
		{
			"collection more.a unsharded keys=3\nmove-primary 1 at 1s more to nowhere",
			"bad.txt:6: nowhere is no shard; expected a shard such as shard-b",
		},
		{"balancer off", "bad.txt:5: unexpected off; expected \"on\""},
		{
			"at 1s remove-shard shard-c",
			"bad.txt:5: there is no shard shard-c; expected a shard from shard-a to shard-b",
		},
		{
			"at 1s zone-add shard-a",
			"bad.txt:5: the line ends too early; expected a zone such as east, or none",
		},
		{
			"at 1s zone test.docs [20, 10) east",
			"bad.txt:5: the range [20, 10) is empty; expected a range such as",
		},
		{"at 1s balance test.docs maybe", "bad.txt:5: unexpected maybe; expected on or off"},
		{"at 1s chunk-size test.docs -3", "bad.txt:5: unexpected -3; expected a number of bytes"},
		{
			"at 1s put-setting window start=1",
			"bad.txt:5: nothing of config.settings is called window; expected automerge, " +
				"autosplit, balancer, chunksize",
		},
		{
			"at 1s put-setting balancer colour=red",
			"bad.txt:5: unknown field colour; expected mode=, activeWindow=",
		},
		{
			"at 1s put-setting balancer mode=off mode=full",
			"bad.txt:5: mode= is given twice; expected it once",
		},
		{"at 1s balancer-stop now", "bad.txt:5: unexpected now; expected the end of the line"},
		{
			"at 1s split test.docs MinKey",
			"bad.txt:5: MinKey is not a whole number; expected where the chunk is cut",
		},
		{
			"collection test.more ranged keys=3 owners=9",
			"bad.txt:5: owners=9; expected owners=1 to 2",
		},
		{
			"collection test.more unsharded keys=3 share=2",
			"bad.txt:5: share=2; expected share=1 or more, of a sharded collection",
		},
		{"collection test.more ranged keys=9 preload=9 bounds=4 ids=5", ""},
		{
			"collection test.more ranged keys=9 preload=9 ids=5",
			"bad.txt:5: ids=5; expected documents that share an _id to start on different shards",
		},
		{
			"collection test.more hashed keys=9 ids=5",
			"bad.txt:5: ids=5; expected ids=1 or more, of a ranged collection without share=",
		},
		{"protocol 5.0", "bad.txt:5: there is no protocol 5.0; expected 8.0 or 4.2"},
		{
			"collection test.more ranged keys=3 bounds=2,1",
			"bad.txt:5: the bounds [2 1] do not ascend; expected each greater",
		},
	} {
		_, err := scenario.ParseWith("bad.txt", frame+c.line+"\n", catalogs)
		if c.want == "" && err == nil {
			continue
		}
		var parse *scenario.ParseError
		if !errors.As(err, &parse) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s\n got %v\nwant %s", c.line, err, c.want)
		}
	}
}

var catalogs = scenario.Names{
	Site:    only("site", "donor.x"),
	Fault:   only("fault", "crash"),
	Setting: only("setting", "known"),
}

func only(what, name string) func(string) error {
	return func(s string) error {
		if s != name {
			return errors.New("unknown " + what + " " + s)
		}
		return nil
	}
}

// A foreign text and another schema are refused at their first line.
func TestHeader(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{
			"",
			`f:1: the file is empty; expected the first line to be "shardproof scenario 2", as this build writes it`,
		},
		{"# nothing\n\n{}", `f:3: this is not a scenario; expected the first line to be`},
		{
			"shardproof scenario 3\n",
			`f:1: the scenario has schema 3; expected the first line to be`,
		},
		{
			"shardproof scenario 1\n",
			"f:1: the scenario has schema 1; `shardproof upgrade f` rewrites it for this build",
		},
		{
			"shardproof scenario 2\ntopology shards=0 members=1 config=1 routers=1 clients=1",
			`f:2: shards=0; expected shards=1 or more`,
		},
		{"shardproof scenario 2\n", `f: shards=0; expected shards=1 or more`},
		{"shardproof scenario 2 until\n", `f:1: the scenario has schema "2 until"; expected`},
		{
			"shardproof scenario 2 until end\nseed 1\n\n",
			`f:2: the scenario was cut: its first line says "until end", and no line "end" follows`,
		},
		{
			"shardproof scenario 2 until end\nseed 1\nend\n# a comment\nlimit 3s",
			`f:5: a line after the end; expected the line "end" last`,
		},
	} {
		_, err := scenario.Parse("f", c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}
