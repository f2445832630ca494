package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

const about = `shardproof runs a whole sharded document store in a deterministic simulation, moves data between its shards while faults
are injected, and checks every history for lost, duplicated and stale data. A seed determines the whole run, so that
every failure can be replayed step by step.

Exit codes: 0 passed, 1 a promise was broken, 2 undecided, 3 a replay diverged, 4 the harness failed, 64 wrong usage,
130 interrupted (with a report of what was done until then).`

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "shardproof",
		Short:         "test that moving data between shards loses nothing",
		Long:          about,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(fmt.Errorf("there is no command %q; the commands are run, explore, sweep, replay, shrink, step, check, memory, upgrade and list", args[0]))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w; `%s --help` shows the flags", err, c.CommandPath()))
	})
	root.AddCommand(newRun(), newExplore(), newSweep(), newReplay(), newShrink(), newStep(), newCheck(), newMemory(), newUpgrade(), newList())
	return root
}

// exactly wants one argument and says what for.
func exactly(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usage(errors.New(c.CommandPath() + " wants " + what))
		case len(args) > 1:
			return usage(fmt.Errorf("%s wants %s, and %d arguments were given", c.CommandPath(), what, len(args)))
		}
		return nil
	}
}
