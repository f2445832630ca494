package shrunk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/histories/scenario"
)

// example is a row that keeps the demand as narrowly as can be.
func example() Row {
	return Row{
		Bug:       "late-start",
		Signature: "lost-write",
		Seed:      17,
		Before: Sizes{
			Operations: 300,
			Planned:    8,
			Decided:    24,
			Moves:      6,
			Commands:   3,
			Streams:    1,
		},
		After:   Sizes{Operations: 10, Planned: 1, Decided: 1, Moves: 2},
		Runs:    174,
		Seconds: 60,
	}
}

var good = Replays{Signature: "lost-write", Same: true, Passes: true}

// TestDemand breaks each part of it.
func TestDemand(t *testing.T) {
	for _, c := range []struct {
		want  string
		spoil func(r *Row, again *Replays)
	}{
		{"kept", func(*Row, *Replays) {}},
		{"more than 10 operations", func(r *Row, _ *Replays) { r.After.Operations++ }},
		{"more than 2 faults", func(r *Row, _ *Replays) { r.After.Planned++ }},
		{"more than 2 faults", func(r *Row, _ *Replays) { r.After.Decided++ }},
		{"more than 60 s", func(r *Row, _ *Replays) { r.Seconds += 0.1 }},
		{`signature "dirty-read"`, func(_ *Row, again *Replays) { again.Signature = "dirty-read" }},
		{
			`signature "", replays differ`,
			func(_ *Row, again *Replays) { again.Signature, again.Same = "", false },
		},
		{"fails without the bug", func(_ *Row, again *Replays) { again.Passes = false }},
	} {
		r, again := example(), good
		c.spoil(&r, &again)
		if r.Judge(again); r.Demand != c.want || r.Kept() != (c.want == "kept") {
			t.Errorf("demand %q, kept %t; want %q", r.Demand, r.Kept(), c.want)
		}
	}
}

// TestFaultsAreCounted counts what a scenario plans, what chance has decided and what settings
// switch on; one in which chance may decide more is refused.
func TestFaultsAreCounted(t *testing.T) {
	s, err := scenario.Parse("s", `shardproof scenario 2
seed 1
planned
topology shards=2 members=1 config=1 routers=1 clients=1
faults-end 1s
limit 1m0s
collection test.docs ranged keys=20 preload=0 bounds=10
collection plain.docs unsharded keys=1 preload=0
set timeoutMS 5s
set failpoint.donor.register return

op 1 at 0s client 0 read test.docs k=1
op 2 at 0s client 0 read test.docs k=2

move 1 at 0s test.docs [MinKey, 10) to shard-b

at 0s split test.docs 7

move-primary 1 at 0s plain to shard-b

stream 1 at 0s test.docs poll=10ms

fault 1 at 10ms crash shard-a.primary

decide net.loss client.0>router.0/Find #1 = 1
decide task.stall shard-a.0/donor.register #2 = 7
`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Of(s)
	diff := cmp.Diff(Sizes{
		Operations: 2,
		Planned:    2,
		Decided:    2,
		Moves:      2,
		Commands:   1,
		Streams:    1,
	}, got)
	if diff != "" || err != nil {
		t.Error(diff, err)
	}
	s.Planned = false
	if _, err := Of(s); err == nil {
		t.Error("a scenario that leaves faults to chance was counted")
	}
}

// TestTableReadsBack fills a table in two pieces.
func TestTableReadsBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "table.md")
	first, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	late, early := example(), example()
	late.Judge(good)
	first.Set(late)
	if err := first.Write(file); err != nil {
		t.Fatal(err)
	}
	second, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.Rows(), second.Rows()); diff != "" || !second.Has("late-start") ||
		second.Has("early-start") {
		t.Error(diff)
	}
	early.Bug, early.After.Operations, early.Seconds = "early-start", 11, 3.5
	early.Judge(good)
	second.Set(early)
	for _, want := range []string{
		"| early-start | 17 | lost-write | 300 → 11 | 8 → 1 | 24 → 1 | 6 → 2 | 3 → 0 | 1 → 0 | " +
			"174 | 3.5 | more than 10 operations |\n| late-start |",
		"\n1 of 2 keep the demand. Most operations: 11; most faults: 2; longest: 60.0 s, median " +
			"3.5 s.\n",
	} {
		if !strings.Contains(second.String(), want) {
			t.Errorf("no %q in\n%s", want, second)
		}
	}
}

// TestOtherFilesAreRefused leaves what is no table as it is.
func TestOtherFilesAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "table.md")
	wrong := strings.Join(append([]string{"| x", "soon"}, make([]string, len(columns)-2)...), " | ")
	for text, want := range map[string]string{
		"| known bug | seed |\n| --- | --- |\n| x | 1 |\n":       ":3: 2 fields, want 12",
		"| known bug | seed |\n| --- | --- |\n" + wrong + " |\n": ":3: \"soon\" is no seed",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(file); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
