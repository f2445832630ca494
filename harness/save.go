package harness

import (
	"errors"
	"fmt"

	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/report"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/scenario"
)

// RunAndSave is Run with everything recorded and kept in a new folder; with no folder it only runs.
// The run is saved before it is checked; what is in the folder already is not overwritten. An error
// with a result says why it could not be saved.
func RunAndSave(
	s *scenario.Scenario, o runner.Options, folder string, where rundir.Environment,
) (*runner.Result, error) {
	if folder == "" {
		return Run(s, o)
	}
	var saved *rundir.Folder
	o.Events, o.Places = true, true
	o.Record = func(r *runner.Result) (err error) {
		where.Hash, where.Steps = r.HashText(), r.Steps
		saved, err = rundir.Save(folder, rundir.Record{
			Scenario: r.Plan(), History: r.History, Events: r.Events, Environment: where,
		})
		return err
	}
	r, err := Run(s, o)
	if err != nil {
		return r, err
	}
	err = saved.Conclude(rundir.Conclusion{
		Signature: r.Kind(), Verdict: r.Verdicts, Story: explain.Markdown(r),
	})
	if o.Curve || len(r.Curve) > 0 {
		err = errors.Join(err, saved.Add(rundir.CurveFile, []byte(runner.CurveText(r.Curve))))
	}
	return r, errors.Join(err, addPage(saved, r, folder, where))
}

// addPage adds the page of the run, unless there is one: that may know more.
func addPage(saved *rundir.Folder, r *runner.Result, folder string, in rundir.Environment) error {
	if saved.Has(rundir.ReportFile) {
		return nil
	}
	page, err := report.HTML(report.Page{
		Run: r, Build: in.String(),
		Commands: []string{"shardproof replay " + folder, "shardproof step " + folder},
	})
	if err != nil {
		return fmt.Errorf("the page of the run: %w", err)
	}
	return saved.Add(rundir.ReportFile, page)
}
