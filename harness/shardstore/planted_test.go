package shardstore

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/shardstore/replies"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
)

var (
	plantedSeeds = flag.Int("planted-seeds", 300, "seeds within which each wrong answer is found")
	plantedEvery = flag.Int("planted-every", 1,
		"routers give the wrong answer once in so many answers that it fits")
)

// lie is a wrong answer of routers to clients, about one field of replies.Fields. Of a reply that
// it does not fit, tell returns nil; else what is said instead: a reply, or an *errcode.Error.
type lie struct {
	field, about string
	tell         func(asked, said env.Message) any
	// needs is an operation without which a seed has no answer that it fits; nil: any.
	needs func(op *scenario.Op) bool
	// in is the scenario that seeds play instead of their own; empty for those.
	in string
}

// Each wrong answer is found, and without one nothing is.
func TestPlanted(t *testing.T) {
	pool := new(sim.Pool)
	for _, one := range allLies() {
		t.Run(one.field+"/"+strings.ReplaceAll(one.about, " ", "-"), func(t *testing.T) {
			told := 0
			for seed := range uint64(*plantedSeeds) {
				r := runLying(t, seed+1, one, &told, pool)
				if !r.Passed() {
					t.Logf("told %d times and found at seed %d: %s", told, seed+1, r.Kind())
					return
				}
			}
			t.Errorf("told %d times in %d seeds and never found", told, *plantedSeeds)
		})
	}
	told := 0
	truth := lie{tell: func(_, said env.Message) any { return said }}
	for seed := range uint64(5) {
		if r := runLying(t, seed+1, truth, &told, pool); !r.Passed() {
			t.Errorf("seed %d fails with true answers: %s", seed+1, r.Signature())
		}
	}
	if told == 0 {
		t.Error("no answer was passed through")
	}
}

// Every field of an answer to a client that has a judge has a wrong answer, and no wrong answer is
// of a field that there is not.
func TestPlantedFields(t *testing.T) {
	planted, kinds := map[string]bool{}, map[string]bool{}
	for _, one := range allLies() {
		field := "command." + one.field
		planted[field], kinds[field[:strings.LastIndex(field, ".")]] = true, true
		if _, known := replies.Fields[field]; !known {
			t.Errorf("there is no field %s to lie about", field)
		}
	}
	for field, judge := range replies.Fields {
		if judge.By != "" && kinds[field[:strings.LastIndex(field, ".")]] && !planted[field] {
			t.Errorf("nobody lies about %s", field)
		}
	}
}

func allLies() []lie {
	return slices.Concat(lies("Written", writtenLies), lies("Batch", batchLies),
		lies("ChangeBatch", changeBatchLies), lies("Change", changeLies))
}

func lies(reply string, of map[string][]lie) (all []lie) {
	for _, field := range slices.Sorted(maps.Keys(of)) {
		for _, one := range of[field] {
			one.field = reply + "." + field
			all = append(all, one)
		}
	}
	return all
}

func runLying(t *testing.T, seed uint64, one lie, told *int, pool *sim.Pool) *runner.Result {
	t.Helper()
	s := generate.Mixed(seed)
	if one.in != "" {
		var err error
		if s, err = scenario.Parse("lists.txt", one.in); err != nil {
			t.Fatal(err)
		}
		s.Seed = seed
	}
	if one.needs != nil && !slices.ContainsFunc(s.Ops, func(op scenario.Op) bool {
		return one.needs(&op)
	}) {
		return &runner.Result{Verdicts: []checkers.Verdict{{Outcome: checkers.Pass}}}
	}
	r, err := runner.Run(s, runner.Options{
		Targets: target.Set{liar{lie: one, told: told}}, Pool: pool,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// liar is the store with routers that lie.
type liar struct {
	Store
	lie  lie
	told *int
}

func (l liar) Start(s target.Setup) (target.System, error) {
	c, err := l.Store.Start(s)
	if err != nil {
		return nil, err
	}
	return &falsifier{
		cluster: c.(*cluster), lie: l.lie, told: l.told, asked: map[string]*command.Find{},
	}, nil
}

// falsifier changes replies of routers on their way, and lets the cluster's own judges see the true
// ones.
type falsifier struct {
	*cluster
	lie   lie
	told  *int
	fits  int
	asked map[string]*command.Find // by cursor
}

func (l *falsifier) Exchanged(x *env.Exchange) {
	l.cluster.Exchanged(x)
	asked, _ := x.Request.(*rpc.Envelope)
	said, _ := x.Reply.(*rpc.Envelope)
	if !x.Served || x.Err != nil || asked == nil || said == nil ||
		!strings.HasPrefix(string(x.To), "router") || !isReader(x.From) {
		return
	}
	about := asked.Body
	if more, ok := about.(*command.GetMore); ok {
		about = l.asked[more.Cursor]
	}
	if find, ok := about.(*command.Find); ok && said.Err == nil {
		l.asked[said.Body.(*command.Batch).Cursor] = find
	}
	if said.Err != nil {
		return
	}
	wrong := l.lie.tell(about, said.Body)
	if wrong == nil {
		return
	}
	if l.fits++; l.fits%*plantedEvery != 0 {
		return
	}
	*l.told++
	switch wrong := wrong.(type) {
	case *errcode.Error:
		said.Body, said.Err = nil, wrong
	case env.Message:
		said.Body = wrong
	default:
		panic(fmt.Sprintf("shardstore: %T is no reply", wrong))
	}
}

// isReader says whether the node is one of those whose answers are judged.
func isReader(node env.NodeID) bool {
	return strings.HasPrefix(string(node), "client") ||
		strings.HasPrefix(string(node), "stream-reader")
}
