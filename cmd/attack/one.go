package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/harness/live"
	"github.com/shardproof/shardproof/harness/live/mongodb"
	"github.com/shardproof/shardproof/harness/live/processes"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/live/process"
)

// one is a run, from its start to its folder.
func (f *flags) one(c *cobra.Command, name string, s *scenario.Scenario) (checkers.Outcome, error) {
	path, err := freeFolder(f.out, fmt.Sprintf("%s-%d", name, s.Seed))
	if err != nil {
		return "", &failure{exitFailed, err}
	}
	work := path + ".servers"
	if err := os.Mkdir(work, 0o700); err != nil {
		return "", &failure{exitFailed, err}
	}
	logFile, err := os.Create(filepath.Join(work, attackLog))
	if err != nil {
		return "", &failure{exitFailed, err}
	}
	defer logFile.Close()
	log := slog.New(slog.NewJSONHandler(logFile, nil))
	began := time.Now()
	result, nodes, err := f.attack(c.Context(), work, s, log)
	if err != nil {
		return "", &failure{exitFailed, fmt.Errorf("%w; the logs are in %s", err, work)}
	}
	r := &saved{path: path, work: work, schedule: s, result: result, nodes: nodes,
		program: f.program, keep: f.keep}
	if r.verdicts, err = r.save(); err != nil {
		return "", &failure{exitFailed, fmt.Errorf("%w; what is left is in %s", err, work)}
	}
	if result.Interrupted {
		return "", &failure{exitInterrupted,
			errors.New("interrupted; what was done until then is in " + path)}
	}
	outcome := checkers.Worst(r.verdicts).Outcome
	report(c.OutOrStdout(), r, outcome, time.Since(began))
	return outcome, nil
}

// attack starts what is attacked, unless it is there, and runs the schedule.
func (f *flags) attack(
	ctx context.Context, work string, s *scenario.Scenario, log *slog.Logger,
) (result *live.Result, nodes []string, err error) {
	o := live.Options{Schedule: s, Log: log}
	uri := f.uri
	if uri == "" {
		cluster, err := f.start(ctx, work, s, log)
		if err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, cluster.Close()) }()
		uri, nodes, o.Servers = cluster.URI(), cluster.Nodes(), cluster
	}
	deployment, err := mongodb.Connect(ctx, uri, s.Topology.Shards)
	if err != nil {
		return nil, nodes, err
	}
	defer deployment.Close()
	o.System = deployment
	result, err = live.Run(ctx, o)
	return result, nodes, err
}

func (f *flags) start(
	ctx context.Context, work string, s *scenario.Scenario, log *slog.Logger,
) (*processes.Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	t := s.Topology
	protocol := s.Protocol
	if protocol == "" {
		protocol = "8.0"
	}
	return processes.Start(ctx, processes.Options{
		Program: f.program, Folder: filepath.Join(work, nodesFolder), Log: log,
		Settings: attack.ServerSettings(s),
		Topology: process.Topology{Shards: t.Shards, Members: t.Members,
			ConfigMembers: t.ConfigMembers, Routers: t.Routers, Protocol: protocol},
	})
}

// report says what came of a run.
func report(out io.Writer, r *saved, outcome checkers.Outcome, took time.Duration) {
	fmt.Fprintf(out, "%s  %s  %d operations in %s, %.0f a second\n", outcome, r.path,
		len(r.result.History), r.result.Took.Round(time.Second),
		float64(len(r.result.History))/r.result.Took.Seconds())
	for _, name := range slices.Sorted(maps.Keys(r.result.Counts)) {
		fmt.Fprintf(out, "  %-32s %d\n", name, r.result.Counts[name])
	}
	fmt.Fprint(out, told(r.verdicts))
}
