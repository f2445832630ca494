// Command tracehash prints the trace hash of many runs: drawn seeds of every profile and all stored
// scenarios. Two builds that print the same lines do the same in all of these runs, step for step;
// a change that only moves code is held to that.
//
// Promise: one line a run, always in the same order, whatever the number of cores. Nothing else is
// printed on standard output.
//
// Refusal: equal hashes say that two builds did the same in these runs, and nothing about other
// runs.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/parallel"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/corpus"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/sim"
)

// subject is one run to be hashed: drawing is left to the worker.
type subject struct {
	name string
	draw func() (*scenario.Scenario, error)
}

func main() {
	mixed := flag.Int("mixed", 1000, "hash so many mixed seeds, from 1 on")
	each := flag.Int("profile", 200, "hash so many seeds of every profile by itself, from 1 on")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	if err := printHashes(out, allSubjects(*mixed, *each)); err != nil {
		fmt.Fprintln(os.Stderr, "tracehash:", err)
		os.Exit(4)
	}
}

// allSubjects lists the runs: mixed seeds, those of every profile, stored scenarios.
func allSubjects(mixed, each int) (all []subject) {
	for seed := range uint64(mixed) {
		all = append(all, drawnSubject("mixed", seed+1, generate.Mixed))
	}
	for _, p := range generate.Profiles() {
		for seed := range uint64(each) {
			draw := func(seed uint64) *scenario.Scenario { return generate.Draw(seed, p) }
			all = append(all, drawnSubject(p.Name, seed+1, draw))
		}
	}
	for _, story := range corpus.Stories() {
		parse := func() (*scenario.Scenario, error) {
			return runner.Parse(harness.Targets(), story.Name, story.Text)
		}
		all = append(all, subject{"stored " + story.Name, parse})
	}
	return all
}

func drawnSubject(profile string, seed uint64, draw func(uint64) *scenario.Scenario) subject {
	return subject{fmt.Sprintf("%s %d", profile, seed), func() (*scenario.Scenario, error) {
		return draw(seed), nil
	}}
}

// printHashes runs the subjects on all cores and writes a line for each in their order; it stops at
// the first that cannot be run.
func printHashes(out *bufio.Writer, all []subject) (err error) {
	workers := runtime.GOMAXPROCS(0)
	pools := make([]sim.Pool, workers)
	type hashed struct {
		text string
		err  error
	}
	parallel.Do(workers, len(all), nil, func(worker, i int) hashed {
		text, err := hashRun(&all[i], &pools[worker])
		return hashed{text, err}
	}, func(i int, h hashed) bool {
		err = h.err
		fmt.Fprintf(out, "%s %s\n", all[i].name, h.text)
		return err == nil
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// hashRun runs one subject: its trace hash and its signature, if it fails.
func hashRun(s *subject, pool *sim.Pool) (string, error) {
	scene, err := s.draw()
	if err != nil {
		return "", fmt.Errorf("%s cannot be read: %w", s.name, err)
	}
	r, err := runner.Run(scene, runner.Options{Targets: harness.Targets(), Pool: pool})
	if err != nil {
		return "", fmt.Errorf("%s cannot be run: %w", s.name, err)
	}
	return fmt.Sprintf("%s %d %s", r.HashText(), r.Steps, r.Signature()), nil
}
