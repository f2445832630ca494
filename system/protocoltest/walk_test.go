package protocoltest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
)

// TestWalks follows every script.
func TestWalks(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		r := &rig{t: t}
		defer r.close()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			r.out.Reset()
			if err := r.do(line{d}); err != nil {
				d.Fatalf(t, "%v\nso far:\n%s", err, r.out.String())
			}
			return r.out.String()
		})
	})
}

// do carries out a line. An errand is waited for, unless its verb is preceded by begin; then its answer is told when it
// comes.
func (r *rig) do(l line) error {
	if do := verbs[l.d.Cmd]; do != nil {
		return do(r, l)
	}
	verb, begun := strings.CutPrefix(l.d.Cmd, "begin")
	do := errands[verb]
	if do == nil {
		return fmt.Errorf("there is no verb %s", l.d.Cmd)
	}
	r.unanswered = new(int)
	mine := r.unanswered
	if err := do(r, l); err != nil || begun {
		return err
	}
	return r.until(2*time.Minute, verb+" is answered", func() bool { return *mine == 0 })
}

// errands are what users can ask of the cluster.
var errands = map[string]func(*rig, line) error{
	// move 10 20 to=shard-b: asks the config server; donor=shard-a asks that shard itself; wait, force=manual. A bound that is
	// open, the donor chooses. move find=15: the chunk with the key.
	"move": (*rig).move,
	// merge 0 10: the chunks that make up the range become one.
	"merge": (*rig).merge,
	// drop: the collection; create on=shard-b: anew, on one shard; rename test.papers: it has that name from then on.
	"drop": (*rig).drop, "create": (*rig).create, "rename": (*rig).rename,
	// moveprimary to=shard-b
	"moveprimary": (*rig).movePrimary,
	// cleanup shard-a: cleanupOrphaned, which waits for deletions; in 4.2 it deletes the next orphans, from=10 on.
	"cleanup": (*rig).cleanup,
	// refresh shard-a: the primary reads the catalogue, as if a router had told it of a newer version.
	"refresh": (*rig).refresh,
	// raise 0 10: the config server raises the version of a chunk, as it does for a donor's successor who fences the donor.
	"raise": (*rig).raise,
	// late KIND [nth=2]: the nth message of the kind that was ever sent arrives at who is primary there now.
	"late": (*rig).late,

	// write 1 2 v=x: upserts through a router, each document by a client of its own.
	"write": (*rig).write,
	// delete 1 2
	"delete": (*rig).erase,
	// statement 1 txn=1 session=s v=x in=test.plain: a findAndModify; the same session and transaction again is a retry.
	"statement": (*rig).statement,
	// direct shard-a 15 v=x: an update that asks the shard itself, without a version.
	"direct": (*rig).writeDirectly,
	// scan batch=4 concern=majority at=NAME secondary: reads everything through a router. times=8: so often, and tells of the
	// last; then whoever can be asked has been asked.
	"scan": (*rig).scan,
	// balancer start|stop|status: asks the config server; collection: whether test.docs is as the balancer would have it.
	"balancer": (*rig).balancer,
	// setting balancer mode=full window=(23:00,7:00) throttle=majority wait jumbo; setting chunksize bytes=400.
	"setting": (*rig).putSetting,
	// parameter config name=value: changes a setting of every member of the set while it runs.
	"parameter": (*rig).setParameter,

	// watch NAME [after=TOKEN]: opens a change stream, from now on or behind a token.
	"watch": (*rig).watch,
	// read NAME [for=200ms] [token=TOKEN]: asks a stream for changes for a while, and notes where it is.
	"read": (*rig).read,
}

// verbs are everything else.
var verbs = map[string]func(*rig, line) error{
	// cluster bounds=(10,20) docs=12: three members in each of two shards (shards=3), chunk i on shard i mod 2. With
	// unsharded, a third of the documents is in the sharded collection and a third in each of two that are not.
	// set=(name:value,...) changes settings. protocol=4.2: the older one. on=(shard-a): all chunks are there. balancer: it is on.
	"cluster": (*rig).found,
	// tell donor recipient section decision deletion election placement primary: what is told from now on; at the start all
	// of it. With rollback, what a node gives up that was deposed, or comes back from a crash.
	"tell": (*rig).tell,
	// note NAME: remembers the cluster time of what a client was last told, for scan.
	"note": (*rig).remember,

	// fault SITE [nth=2] [node=shard-a] do=crash|error[:Code]|pause:50ms|kill|stepdown|cut|wait|pass: what happens when a
	// node whose name begins so passes the site. Who waits, waits for go; who is cut off, for heal; pass only tells of it.
	"fault": (*rig).plan,
	"go":    (*rig).goOn, // [SITE]
	// cut shard-a.0: it hears nobody, and nobody hears it. The members of a set hear one another.
	"cut":  (*rig).cut,
	"heal": (*rig).heal,
	// crash shard-a, stepdown shard-a: its primary; restart: whatever is down.
	"crash":    (*rig).crash,
	"stepdown": (*rig).handOver,
	"restart":  (*rig).restart,
	// hold KIND: keeps back the next message of the kind, which its sender takes for lost. With reply it is executed, and its
	// answer lost.
	"hold": (*rig).hold,
	// recreate shard-a: drops test.plain there and makes it anew, behind the back of everybody.
	"recreate": (*rig).recreate,

	// pass 50ms: lets time go by.
	"pass": func(r *rig, l line) error { return r.pass(duration(l.word(0))) },
	// chunks: the catalogue; records: what the shards have on record of migrations; outstanding: what keeps the cluster
	// from resting; changelog: what the config server has recorded, without times.
	"chunks":      (*rig).chunks,
	"records":     (*rig).records,
	"outstanding": (*rig).outstanding,
	"changelog":   (*rig).changelog,
	"actions":     (*rig).actions, // what the balancer has recorded
	// settle: everything heals; waits until nothing is outstanding; shows who owns and holds what.
	"settle": func(r *rig, _ line) error { return errors.Join(r.settle(), r.happened()) },
}

// line is one command of a script.
type line struct{ d *datadriven.TestData }

// words are the arguments without a value.
func (l line) words() (all []string) {
	for _, a := range l.d.CmdArgs {
		if len(a.Vals) == 0 {
			all = append(all, a.Key)
		}
	}
	return all
}

func (l line) word(i int) string {
	if all := l.words(); i < len(all) {
		return all[i]
	}
	panic(fmt.Sprintf("%s: %s wants another argument", l.d.Pos, l.d.Cmd))
}

func (l line) has(word string) bool { return slices.Contains(l.words(), word) }

// keys are the arguments that are numbers.
func (l line) keys() (all []int64) {
	for _, w := range l.words() {
		all = append(all, number(w))
	}
	return all
}

func (l line) list(name string) []string {
	for _, a := range l.d.CmdArgs {
		if a.Key == name {
			return a.Vals
		}
	}
	return nil
}

func (l line) arg(name, otherwise string) string {
	if vals := l.list(name); len(vals) > 0 {
		return vals[0]
	}
	return otherwise
}

func (l line) number(name string, otherwise int64) int64 {
	if v := l.arg(name, ""); v != "" {
		return number(v)
	}
	return otherwise
}

// span is the range that the first two words bound.
func (l line) span() key.Range { return key.Range{Min: bound(l.word(0)), Max: bound(l.word(1))} }

// shown is the range as a walk tells it; what is open, the donor chooses.
func shown(rng key.Range) string {
	switch {
	case rng.Min == "":
		return fmt.Sprintf("what lies below %v", rng.Max)
	case rng.Max == "":
		return fmt.Sprintf("what lies from %v on", rng.Min)
	}
	return rng.String()
}

func bound(s string) key.Key {
	switch s {
	case "min":
		return key.Min
	case "max":
		return key.Max
	case "open":
		return ""
	}
	return key.Int(number(s))
}

func number(s string) (n int64) {
	if _, err := fmt.Sscan(s, &n); err != nil {
		panic(fmt.Sprintf("%q is no number", s))
	}
	return n
}

func duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		panic(err)
	}
	return d
}

// nodes are those that a word names: a node, or the members of a set.
func (r *rig) nodes(word string) []env.NodeID {
	if slices.Contains(r.cluster.Sets(), word) {
		return r.cluster.Topology().MembersOf(word)
	}
	return []env.NodeID{env.NodeID(word)}
}
