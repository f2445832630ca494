package rundir_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
)

func record() rundir.Record {
	return rundir.Record{
		Scenario: &scenario.Scenario{
			Name: "contended",
			Seed: 7,
			Topology: scenario.Topology{
				Shards:        1,
				Members:       1,
				ConfigMembers: 1,
				Routers:       1,
				Clients:       1,
			},
		},
		History: []histories.Op{{
			ID:      1,
			Kind:    scenario.Read,
			Call:    1,
			Return:  2,
			Outcome: histories.OK,
		}},
		Events: []trace.Event{{Step: 1, Kind: trace.NodeUp, Node: "router.0"}},
		Environment: rundir.Environment{
			Go:    "go1.26",
			OS:    "linux",
			Arch:  "amd64",
			Hash:  "5f3a",
			Steps: 1,
		},
	}
}

func names(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// What was saved can be read back, and a second save of the same run changes nothing.
func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "lost-write-3b9e")
	folder, err := rundir.Save(path, record())
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.Conclude(rundir.Conclusion{
		Verdict: []string{"fail"}, Story: "# A story\n",
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := rundir.Save(path, record()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"env.json", "events.ndjson.zst", "history.ndjson.zst", "scenario.txt", "story.md",
		"verdict.json",
	}
	if diff := cmp.Diff(want, names(t, path)); diff != "" {
		t.Fatal(diff)
	}
	header, ops, err := histories.ReadFile[histories.Op](filepath.Join(path, rundir.HistoryFile))
	if err != nil || header.Hash != "5f3a" || len(ops) != 1 {
		t.Fatal(header, ops, err)
	}
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Fatalf("drafts were left behind: %v", got)
	}
}

// Nothing that is there is replaced: not another run, not a foreign folder, not a file, not a
// verdict.
func TestNothingIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	for name, prepare := range map[string]func(path string){
		"other run": func(path string) {
			other := record()
			other.Scenario.Seed = 8
			if _, err := rundir.Save(path, other); err != nil {
				t.Fatal(err)
			}
		},
		"foreign folder": func(path string) {
			if err := os.MkdirAll(filepath.Join(path, "src"), 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"empty folder": func(path string) { os.Mkdir(path, 0o755) },
		"file":         func(path string) { os.WriteFile(path, nil, 0o644) },
	} {
		path := filepath.Join(dir, name)
		prepare(path)
		var exists *rundir.ExistsError
		if _, err := rundir.Save(path, record()); !errors.As(err, &exists) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	folder, err := rundir.Save(filepath.Join(dir, "run"), record())
	if err != nil {
		t.Fatal(err)
	}
	var exists *rundir.ExistsError
	if err := errors.Join(
		folder.Conclude(rundir.Conclusion{Verdict: "pass"}),
		folder.Conclude(rundir.Conclusion{Verdict: "fail"}),
	); !errors.As(err, &exists) {
		t.Errorf("the verdict was replaced: %v", err)
	}
}

// Of too many events the last are kept, and the file says how many are missing.
func TestEventsAreBounded(t *testing.T) {
	r := record()
	r.Events = make([]trace.Event, rundir.MaxEvents+5)
	for i := range r.Events {
		r.Events[i] = trace.Event{Step: uint64(i + 1), Kind: trace.Majority}
	}
	path := filepath.Join(t.TempDir(), "run")
	if _, err := rundir.Save(path, r); err != nil {
		t.Fatal(err)
	}
	header, events, err := histories.ReadFile[trace.Event](filepath.Join(path, rundir.EventsFile))
	if err != nil || header.Dropped != 5 || len(events) != rundir.MaxEvents || events[0].Step != 6 {
		t.Fatal(header, len(events), err)
	}
}
