package harness

import (
	"os" //shardproof:allow import a saved run is read from its folder
	"path/filepath"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
)

// IsAttack reports whether a folder or a file is of an attack on real servers, of which a run
// cannot be made again: it was recorded, and is read by Recorded.
func IsAttack(path string) bool {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, rundir.ScenarioFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	s, err := scenario.Parse(path, string(text))
	return err == nil && s.Target == attack.TargetName
}

// Recorded is the run of a folder as it was recorded: its history, which is checked again, and its
// events. Nothing is run.
func Recorded(folder string) (*Result, error) {
	path := filepath.Join(folder, rundir.ScenarioFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Result{Counters: &runner.Counters{}}
	if r.Scenario, err = scenario.Parse(path, string(text)); err != nil {
		return nil, err
	}
	file := filepath.Join(folder, rundir.HistoryFile)
	if _, r.History, err = histories.ReadFile[histories.Op](file); err != nil {
		return nil, err
	}
	file = filepath.Join(folder, rundir.EventsFile)
	if _, r.Events, err = histories.ReadFile[trace.Event](file); err != nil {
		return nil, err
	}
	r.Steps = uint64(len(r.Events))
	r.Verdicts = checkers.Check(r.History, checkers.Limits{})
	return r, nil
}
