package scenario_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/histories/scenario"
)

const ofSchema1 = `# What d.register is called stays in comments.
shardproof scenario 1
name dense
topology shards=2 members=3 config=3 routers=1 clients=2 # a comment
collection test.docs ranged keys=40 preload=20 bounds=20
collection test.plain unsharded keys=4 preload=0
set world.tail 1000
set timeoutMS 5s
set world.zone.config.0 2h
set timeoutMS 20s
set failpoint.d.register "1*return(\"crash\")"

moveprimary 1 at 50ms test to shard-b
at 60ms moveprimary test to shard-a
at 70ms set world.jitter 2ms
fault 1 at d.register #1 by watcher.0 blackout donor.* until m.journal.afterSync #2
fault 2 at 5ms cut-link donor.primary>administrator.0 direction=both for 1s
decide loss watcher.0>router.1/Find #3 = 1
decide stall shard-a.0/m.send #1 = 7  # any other value fails too
`

const ofSchema2 = `# What d.register is called stays in comments.
shardproof scenario 2
name contended
topology shards=2 members=3 config=3 routers=1 clients=2 # a comment
collection test.docs ranged keys=40 preload=20 bounds=20
collection test.plain unsharded keys=4 preload=0
set sim.net.slowPerMillion 1000
set sim.clock.utcOffset.config.0 2h
set timeoutMS 20s
set failpoint.donor.register "1*return(\"crash\")"

move-primary 1 at 50ms test to shard-b
at 60ms move-primary test to shard-a
at 70ms set sim.net.jitter 2ms
fault 1 at donor.register #1 by stream-reader.0 power-loss donor.* until replica.journal.afterSync #2
fault 2 at 5ms partial-partition donor.primary>admin.0 direction=both for 1s
decide net.loss stream-reader.0>router.1/Find #3 = 1
decide task.stall shard-a.0/router.send #1 = 7  # any other value fails too
`

// TestUpgrade rewrites the names of schema 1 where they are names, and nothing else; a second time
// nothing changes.
func TestUpgrade(t *testing.T) {
	for _, text := range []string{ofSchema1, ofSchema2} {
		got, err := scenario.Upgrade("old.txt", text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ofSchema2, got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestUpgradeRefuses what is no scenario, or one that would not be read.
func TestUpgradeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"# nothing\n": `f: this is not a scenario; expected the first line to be "shardproof scenario 2", as this build writes it`,
		"\n{}\n":      `f:2: this is not a scenario; expected the first line to be "shardproof scenario 2", as this build writes it`,
		"shardproof scenario " +
			"9": `f:1: the scenario has a schema that this build does not know; expected the first line to be "shardproof scenario 2", as this build writes it`,
		"shardproof scenario 1": `f: shards=0; expected shards=1 or more`,
	} {
		if _, err := scenario.Upgrade("f", text); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

const cluster = "shardproof scenario 2\nseed 0\ntopology shards=1 members=1 config=1 routers=1 " +
	"clients=1\nfaults-end 0s\nlimit 0s\n"

// TestPresets: a preset stands for its settings, of which single ones may have other values.
func TestPresets(t *testing.T) {
	for _, name := range []string{"quick", "drawn"} {
		held := scenario.Preset(name)
		text := cluster + "preset " + name + "\nset " + held[3].Name + " 77\nset other 1\n"
		s, err := scenario.Parse("f", text)
		if err != nil {
			t.Fatal(err)
		}
		want := append(scenario.Preset(name), scenario.Setting{Name: "other", Value: "1"})
		want[3].Value = "77"
		if diff := cmp.Diff(want, s.Settings); diff != "" {
			t.Error(diff)
		}
		closed := strings.Replace(text, "2\n", "2 until end\n", 1) + "end\n"
		if diff := cmp.Diff(closed, s.String()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestUpgradeUsesPresets: lines of settings that a preset holds become its line, in whatever order
// they stood.
func TestUpgradeUsesPresets(t *testing.T) {
	old, want := "shardproof scenario 1\ntopology shards=1 members=1 config=1 routers=1 "+
		"clients=1\nset other 1\n", ""
	held := scenario.Preset("quick")
	for i := range held {
		v := held[len(held)-1-i]
		if i == 2 {
			v.Value = "77"
			want = "preset quick\nset other 1\nset " + v.Name + " 77\n"
		}
		old += v.String() + "\n"
	}
	got, err := scenario.Upgrade("f", old)
	if err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff(
		"shardproof scenario 2\ntopology shards=1 members=1 config=1 routers=1 clients=1\n"+want,
		got,
	)
	if diff != "" {
		t.Error(diff)
	}
}
