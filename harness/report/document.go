package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
)

// Schema is the version of the page's data, which is JSON in an element of the page.
const Schema = "shardproof.report/1"

// document is the data of a page.
type document struct {
	Schema   string   `json:"schema"`
	Title    string   `json:"title"`
	Build    string   `json:"build,omitempty"`
	Commands []string `json:"commands,omitempty"`
	// Views are the runs, the most instructive one first.
	Views []*view `json:"views"`
	// Parting is where the failing run and the nearest passing one diverge.
	Parting *parting `json:"parting,omitempty"`
}

// parting is the difference of two runs.
type parting struct {
	Change  string `json:"change"`
	Failing string `json:"failing"`
	Passing string `json:"passing"`
	Only    string `json:"only,omitempty"`
	Instead string `json:"instead,omitempty"`
	// FailingStep and PassingStep are those of the first events that differ; 0 for none.
	FailingStep uint64 `json:"failingStep,omitempty"`
	PassingStep uint64 `json:"passingStep,omitempty"`
}

// document gathers the data.
func (p *Page) document() (*document, error) {
	worst := p.Run.Worst()
	d := &document{
		Schema: Schema,
		Title: fmt.Sprintf("%s %s seed %d", strings.ToUpper(string(worst.Outcome)),
			cmp.Or(p.Run.Signature(), p.Run.Scenario.Name), p.Run.Scenario.Seed),
		Build:    p.Build,
		Commands: p.Commands,
	}
	if p.Smallest != nil {
		if err := d.add("smallest", "Smallest that fails so", p.Smallest, p.Annotated); err != nil {
			return nil, err
		}
	}
	if err := d.add("run", "As it was found", p.Run, p.Run.Plan().String()); err != nil {
		return nil, err
	}
	return d, d.addNearest(p)
}

func (d *document) add(name, title string, r *runner.Result, scenario string) error {
	v, err := viewOf(r)
	if err != nil {
		return err
	}
	v.Name, v.Title, v.Scenario = name, title, scenario
	d.Views = append(d.Views, v)
	return nil
}

// addNearest adds the nearest passing run, and where it diverges from the failing one.
func (d *document) addNearest(p *Page) error {
	n := p.Nearest
	if n == nil {
		return nil
	}
	passing, err := runner.Run(n.Scenario, runner.Options{
		Targets: target.Set{p.Run.Target},
		Events:  true,
		Places:  true,
		Steps:   p.Run.StepLimit(),
	})
	if err != nil {
		return err
	}
	d.Parting = &parting{
		Change: n.Change, Failing: n.Parting.RecordedNext, Passing: n.Parting.NowNext,
		Only: textOf(n.Only), Instead: textOf(n.Instead),
		FailingStep: stepIn(n.Parting.RecordedNext), PassingStep: stepIn(n.Parting.NowNext),
	}
	return d.add("passing", "Nearest that passes", passing, n.Scenario.String())
}

func textOf(m *explain.Moment) string {
	if m == nil {
		return ""
	}
	return m.Text
}

// stepIn is the step that a text begins with, 0 for none.
func stepIn(text string) (step uint64) {
	if _, err := fmt.Sscanf(text, "step %d", &step); err != nil {
		return 0
	}
	return step
}

// limitEvents keeps at most that many events of each view, and the states at those that it keeps.
func (d *document) limitEvents(most int) {
	for _, v := range d.Views {
		v.limitEvents(most)
	}
}

// summary is the text that the page shows without its script.
func (d *document) summary() []string {
	for _, v := range d.Views {
		if v.Name == "run" {
			return append([]string{v.Promise, v.Broke}, v.Because...)
		}
	}
	return nil
}
