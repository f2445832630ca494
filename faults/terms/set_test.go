package terms

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/system/failpoint"
)

const site = "config.commit.reply"

func never(string, int) int { return million - 1 }

func TestChainsCountAndFallThrough(t *testing.T) {
	for _, c := range []struct {
		terms string
		want  []Do
	}{
		{`return("crash")`, []Do{Crash, Crash, Crash}},
		{`1*return("crash")->return("stepdown")`, []Do{Crash, StepDown, StepDown}},
		{`2*off->1*return("pause=50ms")`, []Do{Nothing, Nothing, Pause, Nothing}},
		{`30%return("crash")->return("error=NetworkTimeout")`, []Do{Fail, Fail}},
		{`30%2*return("crash")`, []Do{Nothing, Nothing}},
		{`return("until=` + site + `")`, []Do{Until}},
	} {
		s := New(never)
		if err := s.Enable(site, c.terms); err != nil {
			t.Errorf("%s: %v", c.terms, err)
			continue
		}
		at, _ := failpoint.Parse(site)
		var got []Do
		for range c.want {
			got = append(got, s.Eval(at).Do)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.terms, diff)
		}
	}
}

func TestPercentagesAskTheGateBySiteAndTerm(t *testing.T) {
	var asked []string
	s := New(func(question string, n int) int {
		asked = append(asked, question)
		return 299_999
	})
	if err := s.Enable(site, `0.5%return("crash")->30%return("delay=3ms")`); err != nil {
		t.Fatal(err)
	}
	at, _ := failpoint.Parse(site)
	if got := s.Eval(at); got.Do != Delay || got.For != 3*time.Millisecond {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff([]string{site + "#0", site + "#1"}, asked); diff != "" {
		t.Error(diff)
	}
	if s.Fired(at) != 1 {
		t.Errorf("fired %d times", s.Fired(at))
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ name, terms, want string }{
		{
			"config.comit.reply", `off`,
			"there is no failpoint \"config.comit.reply\"; did you mean config.commit.reply",
		},
		{site, ``, `no terms are given`},
		{site, `1*return("crash"`, `a bracket or a quotation mark may be missing`},
		{site, `sleep(50)`, `use return("pause=50ms")`},
		{site, `pause`, `use return("until=<failpoint>")`},
		{site, `panic`, `use return("crash")`},
		{site, `break`, `use a replay`},
		{site, `print("x")`, `use a replay`},
		{site, `return(5)`, `return needs a text`},
		{site, `return("cash")`, `use crash, stepdown`},
		{site, `return("pause=soon")`, `needs a duration above zero`},
		{site, `2*30%return("crash")`, `the percentage comes first`},
		{site, `130%return("crash")`, `not between 0 and 100`},
		{site, `explode`, `must be return("...") or off`},
	} {
		err := New(nil).Enable(c.name, c.terms)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %s: error %v, want one that says %q", c.name, c.terms, err, c.want)
		}
	}
}

func TestSplit(t *testing.T) {
	got, err := Split(`a=return("x=1"); b=off ;`)
	if diff := cmp.Diff([][2]string{{"a", `return("x=1")`}, {"b", "off"}}, got); diff != "" ||
		err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := Split("nothing"); err == nil {
		t.Error("a pair without = was accepted")
	}
}
