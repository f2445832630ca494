package report_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/report"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/shardstore"
	"github.com/shardproof/shardproof/harness/target"
)

var store = target.Set{shardstore.Store{}}

const moves = `shardproof scenario 2
seed 5
topology shards=2 members=3 config=1 routers=1 clients=2
faults-end 300ms
limit 30s
collection test.docs ranged keys=8 preload=8 bounds=4
set orphanCleanupDelaySecs 100ms
op 1 at 20ms client 0 write test.docs k=5 v=w1
op 2 at 60ms client 1 read test.docs k=5
move 1 at 10ms test.docs [4, MaxKey) to shard-a
fault 1 at 250ms crash shard-b.1 for 40ms
`

func run(t *testing.T, text string) *runner.Result {
	t.Helper()
	s, err := runner.Parse(store, "moves", text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.Run(s, runner.Options{Targets: store, Events: true, Places: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// accuse has a run fail with a violation about its two operations and the commit of its migration.
func accuse(r *runner.Result) {
	v := checkers.Verdict{Checker: "test", Promise: "Nothing is accused.", Outcome: checkers.Fail}
	v.Found = 1
	v.Violations = []checkers.Violation{{
		Signature: "accused", NS: "test.docs", Key: "5", Broke: "k=5: it is accused",
		Because: []string{"operation 1 wrote", "operation 2 read"}, Ops: []int{1, 2},
	}}
	for i := range r.Events {
		if e := &r.Events[i]; e.Kind.String() == "catalog-written" {
			v.Violations[0].Events = []uint64{e.Step}
		}
	}
	r.Verdicts = append(r.Verdicts, v)
}

func pageOf(t *testing.T, p report.Page) (text []byte, data shown) {
	t.Helper()
	text, err := report.HTML(p)
	if err != nil {
		t.Fatal(err)
	}
	inside := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).
		FindSubmatch(text)
	if inside == nil {
		t.Fatal("the page has no data")
	}
	if err := json.Unmarshal(inside[1], &data); err != nil {
		t.Fatal(err)
	}
	return text, data
}

// shown is what the tests read of a page's data.
type shown struct {
	Schema string
	Views  []struct {
		Name  string
		Story []struct{ Text string }
		Lanes []struct{ Name, Kind string }
		Spans []struct {
			C, X, M string
			L       int
			F, T    int64
		}
		Events []struct {
			S uint64
			C []int
			D int
			O int
		}
		Code     []string
		Ops      []struct{ P bool }
		Messages []struct{ X string }
		Ranges   []struct {
			Text   string
			Owners []struct{ L int }
		}
		States struct {
			Lines []string
			At    []struct {
				S                   uint64
				Who, Catalog, Nodes []int
				Migrations, Faults  []int
			}
		}
	}
	Parting *struct{ Change string }
}

// TestPage finds on the page of a failing run what must be on it.
func TestPage(t *testing.T) {
	r := run(t, moves)
	accuse(r)
	_, data := pageOf(t, report.Page{Run: r})
	if data.Schema != report.Schema || len(data.Views) != 1 {
		t.Fatalf("schema %q with %d views", data.Schema, len(data.Views))
	}
	v := &data.Views[0]
	var lanes []string
	for _, l := range v.Lanes {
		lanes = append(lanes, l.Kind+" "+l.Name)
	}
	for _, want := range []string{
		"client client.0", "router router.0", "set config", "set shard-a", "member shard-b.1",
	} {
		if !slices.Contains(lanes, want) {
			t.Errorf("no lane %s in %v", want, lanes)
		}
	}
	classes := map[string]bool{}
	for _, s := range v.Spans {
		classes[s.C] = true
		if s.T < s.F || s.L >= len(v.Lanes) {
			t.Errorf("a span of lane %d from %d to %d", s.L, s.F, s.T)
		}
	}
	for _, want := range []string{
		"donor", "recipient", "section", "deletion", "fault", "down", "leads",
	} {
		if !classes[want] {
			t.Errorf("nothing is drawn of class %s", want)
		}
	}
	var told, coded, proven int
	for _, e := range v.Events {
		told += min(e.O, 1)
		coded += min(len(e.C), 1)
	}
	for _, o := range v.Ops {
		if o.P {
			proven++
		}
	}
	if told == 0 || coded == 0 || proven != 2 || len(v.Story) == 0 || len(v.Messages) == 0 {
		t.Errorf("%d told, %d with their code, %d operations proven, %d moments, %d messages",
			told, coded, proven, len(v.Story), len(v.Messages))
	}
	if !slices.ContainsFunc(v.Code, func(c string) bool {
		return regexp.MustCompile(`^system/migration/[a-z_]+\.go:\d+ migration\.`).MatchString(c)
	}) {
		t.Errorf("no code of a migration in %d places", len(v.Code))
	}
	moved := slices.ContainsFunc(v.Ranges, func(r struct {
		Text   string
		Owners []struct{ L int }
	}) bool {
		return r.Text == "[4, MaxKey)" && len(r.Owners) > 1
	})
	if !moved {
		t.Errorf("the range that moved has no two owners: %+v", v.Ranges)
	}
}

// TestStates: what the page shows at a step is what a stepper shows there, and every number of a
// line stands for one.
func TestStates(t *testing.T) {
	r := run(t, moves)
	accuse(r)
	_, data := pageOf(t, report.Page{Run: r})
	states := data.Views[0].States
	if len(states.At) < 10 {
		t.Fatalf("%d states", len(states.At))
	}
	var who []string
	for i, s := range states.At {
		if i > 0 && s.S <= states.At[i-1].S {
			t.Fatalf("step %d follows %d", s.S, states.At[i-1].S)
		}
		for _, numbers := range [][]int{s.Who, s.Catalog, s.Nodes, s.Migrations, s.Faults} {
			if len(numbers) == 0 || slices.Max(numbers) >= len(states.Lines) {
				t.Fatalf("step %d has lines %v of %d", s.S, numbers, len(states.Lines))
			}
		}
		who = append(who, states.Lines[s.Who[0]])
	}
	if !strings.HasSuffix(who[len(who)-1], "catalog: shard-a") ||
		!slices.ContainsFunc(who, func(s string) bool { return strings.HasSuffix(s, "shard-b") }) {
		t.Errorf("owners of the key: %v", slices.Compact(who))
	}
}

// TestHostile: names and values of a scenario are data, whatever is in them.
func TestHostile(t *testing.T) {
	const evil = "</script><img/onerror/alert(1)><!--"
	r := run(t, strings.ReplaceAll(moves, "w1", evil))
	accuse(r)
	r.Verdicts[len(r.Verdicts)-1].Violations[0].Broke = evil
	text, data := pageOf(t, report.Page{Run: r, Commands: []string{evil}, Build: evil})
	if bytes.Contains(text, []byte("<img")) || bytes.Contains(text, []byte("<!--")) {
		t.Error("a value of the scenario became markup")
	}
	if n := bytes.Count(text, []byte("</script>")); n != 2 {
		t.Errorf("%d scripts end, not 2", n)
	}
	if len(data.Views[0].Events) == 0 {
		t.Error("the data ends early")
	}
}

// TestNothingIsFetched: the page names no address.
func TestNothingIsFetched(t *testing.T) {
	text, data := pageOf(t, report.Page{Run: run(t, moves)})
	for _, address := range regexp.MustCompile(`https?://[^'" ]+`).FindAllString(string(text), -1) {
		if address != "http://www.w3.org/2000/svg" {
			t.Errorf("the page names %s", address)
		}
	}
	if len(data.Views[0].Story) != 0 || len(text) > report.MaxBytes {
		t.Errorf("a run that passes has %d moments and %d bytes",
			len(data.Views[0].Story), len(text))
	}
}

// TestNoLists: a run in which nothing of some kind happened has empty lists of it, which the script
// can go through.
func TestNoLists(t *testing.T) {
	var quiet []string
	for line := range strings.Lines(moves) {
		if !strings.HasPrefix(line, "op ") && !strings.HasPrefix(line, "move ") {
			quiet = append(quiet, line)
		}
	}
	r := run(t, strings.Join(quiet, ""))
	recorded := &runner.Result{Scenario: r.Scenario, Counters: &runner.Counters{}}
	for _, r := range []*runner.Result{r, recorded} {
		text, _ := pageOf(t, report.Page{Run: r})
		if found := regexp.MustCompile(`"\w+":null`).Find(text); found != nil {
			t.Errorf("the page has %s", found)
		}
	}
}

// TestSame: a page is a function of the run.
func TestSame(t *testing.T) {
	first, _ := pageOf(t, report.Page{Run: run(t, moves)})
	second, _ := pageOf(t, report.Page{Run: run(t, moves)})
	if !bytes.Equal(first, second) {
		t.Error("two pages of one run differ")
	}
}

// TestBeside puts the smallest scenario first and the nearest passing run beside.
func TestBeside(t *testing.T) {
	r := run(t, moves)
	accuse(r)
	nearest := &explain.NearestPassing{
		Scenario: run(t, strings.Replace(moves, "at 250ms", "at 260ms", 1)).Plan(),
		Change:   "with fault 1 10ms later",
		Parting: explain.Divergence{
			RecordedNext: "step 900 FAULT 1", NowNext: "step 901 shard-b.1 crashes",
		},
	}
	_, data := pageOf(t, report.Page{Run: r, Smallest: r, Annotated: "smaller", Nearest: nearest})
	var names []string
	for _, v := range data.Views {
		names = append(names, v.Name)
	}
	if !slices.Equal(names, []string{"smallest", "run", "passing"}) || data.Parting == nil {
		t.Errorf("views %v, parting %v", names, data.Parting)
	}
}
