package shardstore

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
)

var orphanSeeds = flag.Int("orphan-seeds", 30, "seeds whose queries are asked what if they "+
	"returned an orphan")

// What if a shard returned, in place of nothing, a document that another shard has just returned to
// the same query, the owner's or one of its former values? That is found whatever clients write
// meanwhile, but for what is undecidable for a reason that has a name; less than one in a hundred
// is missed.
func TestOrphansShown(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays whole seeds")
	}
	pool, rates := new(sim.Pool), map[command.ReadConcern]*rate{}
	for seed := range uint64(*orphanSeeds) {
		r, err := runner.Run(generate.Mixed(seed+1), runner.Options{
			Targets: target.Set{supposing{rates: rates}}, Pool: pool,
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed+1, err)
		}
		if !r.Passed() {
			t.Fatalf("seed %d: %s", seed+1, r.Kind())
		}
	}
	for _, concern := range slices.Sorted(maps.Keys(rates)) {
		of := rates[concern]
		t.Logf("%-12q %v", concern, of)
		if missed := of.shown - of.found - of.open(); missed*100 >= of.shown {
			t.Errorf("%s reads miss %d of %d orphans", concern, missed, of.shown)
		}
	}
	for _, concern := range []command.ReadConcern{command.MajorityRead, command.Snapshot} {
		if of := rates[concern]; of == nil || of.found*10 < of.shown*9 {
			t.Errorf("%s reads: %v", concern, of)
		}
	}
}

// rate is how many orphans were shown, how many of these were found, and why others cannot be.
type rate struct {
	shown, found int
	undecidable  map[string]int
}

func (r *rate) open() (n int) {
	for _, of := range r.undecidable {
		n += of
	}
	return n
}

func (r *rate) String() string {
	return fmt.Sprintf("shown %d, found %d, undecidable %v", r.shown, r.found, r.undecidable)
}

// supposing is the store, with a second oracle that is told of what was not returned.
type supposing struct {
	Store
	rates map[command.ReadConcern]*rate
}

func (s supposing) Start(setup target.Setup) (target.System, error) {
	started, err := s.Store.Start(setup)
	if err != nil {
		return nil, err
	}
	c := started.(*cluster)
	second := oracle.New(func(k string) string { return key.Key(k).String() })
	second.Speaks(modelOf(c.scenario))
	second.Limit(c.limits)
	second.Views(c.view)
	second.Extents(c.extent)
	second.Identities(c.identity)
	return &supposed{c, second, s.rates, map[string]map[string][]string{}}, nil
}

type supposed struct {
	*cluster
	second *oracle.Oracle
	rates  map[command.ReadConcern]*rate
	// returned are the keys that each shard has returned to a query of a router.
	returned map[string]map[string][]string
}

func (s *supposed) Observe(e *trace.Event) {
	s.second.Observe(e)
	s.cluster.Observe(e)
}

func (s *supposed) Exchanged(x *env.Exchange) {
	s.cluster.Exchanged(x)
	asked, _ := x.Request.(*rpc.Envelope)
	said, _ := x.Reply.(*rpc.Envelope)
	if asked == nil || said == nil || strings.HasPrefix(string(x.To), "router") {
		return
	}
	find, ok := asked.Body.(*command.Find)
	if !ok || !isScan(find) || !x.Served || x.Err != nil {
		return
	}
	query := fmt.Sprint(x.From, find.NS, find.Filter, find.Concern, find.At, find.After)
	batch, ok := said.Body.(*command.Batch)
	if said.Err != nil || !ok {
		delete(s.returned, query) // the router begins again, maybe by another table
		return
	}
	s.suppose(x.To, find, query, s.keysOf(find.NS, batch.Docs))
}

// suppose has a node return what others have returned to the same query and it has not.
func (s *supposed) suppose(node env.NodeID, find *command.Find, query string, own []string) {
	shard, _, _ := strings.Cut(string(node), ".")
	all := s.returned[query]
	if all == nil || all[shard] != nil { // the same query again
		all = map[string][]string{}
		s.returned[query] = all
	}
	of := s.rates[find.Concern]
	if of == nil {
		of = &rate{undecidable: map[string]int{}}
		s.rates[find.Concern] = of
	}
	a := askingOf(node, find)
	for _, other := range slices.Sorted(maps.Keys(all)) {
		for _, k := range all[other] {
			if slices.Contains(own, k) {
				continue
			}
			of.shown++
			if a.unknown != "" {
				of.undecidable[a.unknown]++
				continue
			}
			before := s.judged()
			s.second.Returned(&a.query, k)
			after := s.judged()
			of.found += after.Found - before.Found
			for why, n := range after.Undecidable {
				of.undecidable[why] += n - before.Undecidable[why]
			}
		}
	}
	all[shard] = append([]string{}, own...)
}

func (s *supposed) judged() (v checkers.Verdict) {
	for _, v = range s.second.Verdicts() {
		if v.Checker == "ownership" {
			break
		}
	}
	return v
}
