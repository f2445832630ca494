package containers

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/harness/live"
	"github.com/shardproof/shardproof/harness/live/mongodb"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/live/process"
)

var (
	run   = flag.Bool("containers", false, "attack a cluster in Docker containers")
	lasts = flag.Duration("attack", 20*time.Second, "how long the attack lasts")
	seed  = flag.Uint64("seed", 1, "of the schedule")
	keep  = flag.String("keep", "", "the folder in which the run is kept; empty: a temporary one")
)

// needDocker fails with what is missing.
func needDocker(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("docker"); err != nil {
		t.Fatal("there is no `docker` on this machine, which this test needs: install it " +
			"(Debian: apt-get install docker.io) and start its engine")
	}
	out, err := exec.Command("docker", "version", "--format", "{{.Server.Version}}").
		CombinedOutput()
	if err != nil {
		t.Fatalf("the Docker engine does not answer, and this test needs it: start it (as root: "+
			"dockerd), or set DOCKER_HOST: %s", strings.TrimSpace(string(out)))
	}
	t.Logf("Docker engine %s", strings.TrimSpace(string(out)))
}

// TestAttack attacks a whole cluster: 3 shards of 3, a config server of 3, 2 routers, a container
// each.
func TestAttack(t *testing.T) {
	if !*run {
		t.Skip("attacks on containers are run by `make test-containers` (flag -containers)")
	}
	needDocker(t)
	ctx, cancel := context.WithTimeout(context.Background(), *lasts+8*time.Minute)
	defer cancel()
	s := schedule()
	c := startCluster(ctx, t, process.Topology{Shards: 3, Members: 3, ConfigMembers: 3, Routers: 2,
		Protocol: "8.0"}, attack.ServerSettings(s))
	d, err := connect(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	result, err := live.Run(ctx, live.Options{Schedule: s, System: d, Servers: c,
		Log: slog.New(slog.NewTextHandler(testWriter{t}, nil))})
	if err != nil {
		t.Fatal(err)
	}
	judge(t, s, result)
}

func schedule() *scenario.Scenario {
	return attack.Draw(attack.Params{
		Seed: *seed, Target: attack.TargetName, Protocol: "8.0", Own: true,
		For: *lasts, Keys: 60, Rate: 200,
		Topology: scenario.Topology{Shards: 3, Members: 3, ConfigMembers: 3,
			Routers: 2, Clients: 6},
		Moves: time.Second, Between: 4 * time.Second,
		Faults: (&cluster{}).Faults(),
	})
}

// connect waits until the routers answer.
func connect(ctx context.Context, c *cluster) (*mongodb.Deployment, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		d, err := mongodb.Connect(ctx, c.uri(), c.top.Shards)
		if err == nil {
			return d, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		case <-time.After(time.Second):
		}
	}
}

// judge checks the history and keeps the run.
func judge(t *testing.T, s *scenario.Scenario, result *live.Result) {
	t.Helper()
	folder := *keep
	if folder == "" {
		folder = filepath.Join(t.TempDir(), "run")
	}
	if _, err := rundir.Save(folder,
		rundir.Record{Scenario: s, History: result.History}); err != nil {
		t.Error(err)
	}
	verdicts := attack.Judge(result.Record)
	t.Logf("%d operations in %s, %.0f a second; %v", len(result.History),
		result.Took.Round(time.Second), float64(len(result.History))/result.Took.Seconds(),
		result.Counts)
	for _, v := range verdicts {
		if v.Outcome != checkers.Pass {
			t.Errorf("%s is %s: %v %v", v.Checker, v.Outcome, v.Undecided, v.Violations)
		}
	}
	if result.Counts["moves done"] == 0 || result.Counts["operations ok"] == 0 {
		t.Error("nothing was moved, or no operation succeeded: the attack has shown nothing")
	}
}

// testWriter is the test's log.
type testWriter struct{ t *testing.T }

// Write logs a line.
func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// TestMain has containers end with the test, by itself: the engine may have no image of a reaper.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"TESTCONTAINERS_RYUK_DISABLED": "true", "TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1",
	} {
		if os.Getenv(name) == "" {
			_ = os.Setenv(name, value)
		}
	}
	os.Exit(m.Run())
}
