// Package attack is the part of the command line that attacks real servers: a cluster of processes
// that it starts itself, or a deployment that somebody else runs.
//
// Stable are the command with its flags, its exit codes, and the files of a run's folder
// (docs/attack.md).
//
// Promise: the command ends within the time that its flags give plus what starting, settling and
// reading may take; no process of its own is left. Every run leaves a folder.
//
// Refusal: a deployment that was given by its connection string is moved and balanced, and not
// harmed: nothing of it is killed, cut or stopped.
package attack

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/histories/scenario"
)

// The exit codes, besides 0 and those of cmd/cli.
const (
	exitBroke       = 1
	exitUndecided   = 2
	exitFailed      = 4
	exitUsage       = 64
	exitInterrupted = 130
)

// failure is an error with its exit code; without an error it has been reported already.
type failure struct {
	code int
	err  error
}

// Error is the sentence about what went wrong.
func (f *failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

// Unwrap is the error behind.
func (f *failure) Unwrap() error { return f.err }

// ExitCode is what the program ends with.
func (f *failure) ExitCode() int { return f.code }

// flags are those of the command.
type flags struct {
	target   string
	uri      string
	program  string
	out      string
	schedule string
	controls time.Duration
	faults   string
	set      []string
	keep     bool
	params   attack.Params
}

const about = `Attacks real servers: clients work, ranges move, servers are killed, stopped, cut off
and more, by a schedule that a seed draws. The history is checked as that of a simulated run.

Without --uri it starts a cluster of processes of its own, on loopback. Before the attack come three
short controls: neither faults nor movements, faults alone, movements alone.

Exit codes: 0 every promise held, 1 one broke, 2 undecided, 4 the attack itself failed, 64 wrong
usage, 130 interrupted.`

// New returns the command.
func New() *cobra.Command {
	f := &flags{params: attack.Params{Target: attack.TargetName}}
	c := &cobra.Command{
		Use:   "attack",
		Short: "attack real servers while ranges move, and check what clients saw",
		Long:  about,
		Example: `  shardproof attack --for 1m                 a cluster of processes, three controls first
  shardproof attack --seed 7 --controls 0s   another schedule, at once
  shardproof attack --uri mongodb://HOST/    a deployment of yours: it is moved, not harmed
  shardproof attack --schedule FILE          the schedule of another run once more`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &failure{exitUsage, fmt.Errorf("attack takes flags only, not %q", args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.declare(c)
	return c
}

func (f *flags) declare(c *cobra.Command) {
	p, t := &f.params, &f.params.Topology
	c.Flags().StringVar(&f.uri, "uri", "", "connection string of a deployment; empty: start one")
	c.Flags().StringVar(&f.program, "program", "",
		"the program whose processes are attacked (default: this one)")
	c.Flags().StringVar(&f.out, "out", "out", "the folder in which the runs' folders are made")
	c.Flags().StringVar(&f.schedule, "schedule", "", "the file of a schedule, instead of a seed")
	c.Flags().Uint64Var(&p.Seed, "seed", 1, "what is drawn")
	c.Flags().DurationVar(&p.For, "for", 30*time.Second, "how long the attack lasts, at most 1h")
	c.Flags().DurationVar(&f.controls, "controls", 10*time.Second,
		"how long each control lasts; 0s for none")
	c.Flags().IntVar(&t.Shards, "shards", 2, "number of shards")
	c.Flags().IntVar(&t.Members, "members", 3, "members of each shard")
	c.Flags().IntVar(&t.ConfigMembers, "config-members", 3, "members of the config server")
	c.Flags().IntVar(&t.Routers, "routers", 2, "number of routers")
	c.Flags().StringVar(&p.Protocol, "protocol", "8.0", "the migration protocol, 8.0 or 4.2")
	c.Flags().IntVar(&t.Clients, "clients", 8, "number of clients")
	c.Flags().IntVar(&p.Keys, "keys", 60, "number of keys")
	c.Flags().IntVar(&p.Rate, "rate", 400, "operations a second at most, of all clients; 0: any")
	c.Flags().DurationVar(&p.Moves, "moves", 700*time.Millisecond,
		"time between two movements, on average; 0s: nothing moves")
	c.Flags().StringVar(&f.faults, "faults", "all",
		"kinds of faults, with commas between; all or none")
	c.Flags().DurationVar(&p.Between, "between", 3*time.Second,
		"time between two faults, on average")
	c.Flags().StringArrayVar(&f.set, "set", nil, "name=value sets a setting of every server")
	c.Flags().BoolVar(&f.keep, "keep", false, "keep what the processes have stored")
}

// run is the command.
func (f *flags) run(c *cobra.Command) error {
	if err := f.prepare(); err != nil {
		return &failure{exitUsage, err}
	}
	s := attack.Draw(f.params)
	controls := map[string]checkers.Outcome{}
	if f.schedule != "" {
		var err error
		if s, err = readSchedule(f.schedule); err != nil {
			return &failure{exitUsage, err}
		}
	} else if f.controls > 0 {
		for _, control := range attack.Controls {
			p := control.Of(f.params)
			p.For = f.controls
			outcome, err := f.one(c, "control-"+control.Name, attack.Draw(p))
			if err != nil {
				return err
			}
			controls[control.Name] = outcome
		}
	}
	outcome, err := f.one(c, "attack", s)
	if err != nil {
		return err
	}
	if note := attack.Attribute(controls, outcome); note != "" && len(controls) > 0 {
		fmt.Fprintln(c.OutOrStdout(), "Controls: "+note+".")
	}
	for _, of := range controls {
		if of.Worse(outcome) {
			outcome = of
		}
	}
	return ending(outcome)
}

func ending(o checkers.Outcome) error {
	switch o {
	case checkers.Fail:
		return &failure{code: exitBroke}
	case checkers.Undecided:
		return &failure{code: exitUndecided}
	}
	return nil
}

// prepare checks the flags and fills in what they stand for.
func (f *flags) prepare() error {
	p := &f.params
	switch {
	case p.For <= 0 || p.For > time.Hour || f.controls < 0 || f.controls > time.Hour:
		return errors.New("--for must be above 0s, --controls 0s or more, both at most 1h")
	case p.Moves < 0 || p.Moves > 0 && p.Moves < 10*time.Millisecond:
		return errors.New("--moves must be 0s, or 10ms or more")
	case p.Between < 100*time.Millisecond:
		return errors.New("--between must be 100ms or more")
	case p.Keys < 10 || p.Keys > 100_000 || p.Rate < 0:
		return errors.New("--keys must be from 10 to 100000, --rate 0 or more")
	case p.Topology.Clients < 1 || p.Topology.Clients > 200:
		return errors.New("--clients must be from 1 to 200")
	}
	for _, one := range f.set {
		name, value, ok := strings.Cut(one, "=")
		if !ok {
			return fmt.Errorf("--set takes name=value, not %q", one)
		}
		p.Settings = append(p.Settings, scenario.Setting{Name: name, Value: value})
	}
	if err := f.chooseFaults(); err != nil {
		return err
	}
	p.Own = f.uri == ""
	if f.program == "" {
		var err error
		if f.program, err = os.Executable(); err != nil {
			return err
		}
	}
	return nil
}

func (f *flags) chooseFaults() error {
	switch {
	case f.faults == "none":
		return nil
	case f.uri != "" && f.faults == "all":
		return nil // servers of others are not harmed
	case f.uri != "":
		return errors.New("--faults is for clusters that the attack starts itself; leave out " +
			"--uri, or the faults")
	case f.faults == "all":
		f.params.Faults = attack.KindNames()
		return nil
	}
	for _, name := range strings.Split(f.faults, ",") {
		if _, err := attack.FindKind(name); err != nil {
			return err
		}
		if !slices.Contains(f.params.Faults, name) {
			f.params.Faults = append(f.params.Faults, name)
		}
	}
	return nil
}

func readSchedule(file string) (*scenario.Scenario, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s, err := scenario.Parse(file, string(text))
	if err != nil {
		return nil, err
	}
	if err := attack.Check(s); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}
