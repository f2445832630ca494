package migration_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/store"
)

// TestWalks takes whole clusters through migrations; each script is a story, and shows what happened on the way: the
// states of donor and recipient, critical sections, decisions, range deletions. The verbs are those of (*rig).verb.
func TestWalks(t *testing.T) {
	datadriven.Walk(t, "testdata/walks", func(t *testing.T, path string) {
		r := &rig{t: t}
		defer r.close()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			r.out.Reset()
			if err := r.verb(d); err != nil {
				d.Fatalf(t, "%v\nso far:\n%s", err, r.out.String())
			}
			return r.out.String()
		})
	})
}

func (r *rig) verb(d *datadriven.TestData) error {
	switch d.Cmd {
	case "cluster": // bounds=(10) docs=20: two shards of three members, chunk i on shard i mod 2; set name=value
		return r.found(d)
	case "fault": // site [nth=1] [node=shard-a.0] do=crash|error|pause[:50ms]|stepdown: what happens when the site is passed
		return r.plan(d)
	case "move": // min=0 max=10 to=shard-b [wait] [force=manual]: asks the config server, shows its answer
		return r.move(d)
	case "begin": // like move, but does not wait for the answer; donor=shard-a asks that shard itself
		r.begin(d)
		return nil
	case "write": // keys=(1,2) v=x: writes through a client
		return r.write(d)
	case "scan": // batch=4: begins to read everything through a router, shows the end
		r.scan(d)
		return nil
	case "pass": // 50ms: lets time go by
		return r.pass(d.CmdArgs[0].Key)
	case "hold": // CommitChunkMigration [copy]: keeps the next message of the kind back, or with copy a double of it
		return r.hold(d)
	case "release": // lets go what was kept back
		r.world.Release(r.held)
		return r.pass("50ms")
	case "changelog": // shows what the config server has recorded, without the times
		return r.changelog()
	case "stepdown": // shard-a: has its primary hand over
		r.stepDown(r.cluster.Primary(d.CmdArgs[0].Key))
		return r.pass("1s")
	case "restart": // node: boots a crashed node
		r.world.Restart(nodeOf(d))
		return nil
	case "settle": // restarts whatever is down, waits until nothing is outstanding, shows who owns and holds what
		return r.settle()
	}
	return fmt.Errorf("unknown verb %s", d.Cmd)
}

// took is the time of a step, which is the world's business.
var took = regexp.MustCompile(`: [0-9.]+(ns|µs|ms|s)`)

func (r *rig) changelog() error {
	m := r.cluster.Member(r.cluster.Primary("config"))
	var lines []string
	m.Store().Scan("config.changelog", store.Latest, func(_ string, doc bson.Raw) bool {
		lines = append(lines, fmt.Sprintf("%s %s", doc.Lookup("what").StringValue(), took.ReplaceAllString(doc.Lookup("details").StringValue(), "")))
		return true
	})
	slices.Sort(lines)
	for _, line := range lines {
		r.say("%s", line)
	}
	return nil
}

func arg(d *datadriven.TestData, name, otherwise string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name && len(a.Vals) > 0 {
			return a.Vals[0]
		}
	}
	return otherwise
}

func bound(s string) key.Key {
	switch s {
	case "min":
		return key.Min
	case "max":
		return key.Max
	}
	var n int64
	if _, err := fmt.Sscan(s, &n); err != nil {
		panic(fmt.Sprintf("%q is no bound", s))
	}
	return key.Int(n)
}

func duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		panic(err)
	}
	return d
}

func list(d *datadriven.TestData, name string) []string {
	for _, a := range d.CmdArgs {
		if a.Key == name {
			return a.Vals
		}
	}
	return nil
}
