package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
)

// TestSaveKeepsTheCurve saves a run of the balancer: how data lay on the shards is kept as it was
// taken.
func TestSaveKeepsTheCurve(t *testing.T) {
	p, err := generate.FindProfile("balancer")
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "run")
	r, err := RunAndSave(generate.Draw(3, p), runner.Options{}, folder, rundir.Environment{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, rundir.CurveFile))
	if err != nil || string(text) != runner.CurveText(r.Curve) || len(r.Curve) == 0 {
		t.Errorf("the curve was kept as %.200s, %v", text, err)
	}
	for _, name := range []string{
		rundir.ScenarioFile, rundir.HistoryFile, rundir.EventsFile, rundir.VerdictFile,
		rundir.StoryFile,
	} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
}
