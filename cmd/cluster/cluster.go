// Package cluster is the part of the command line that runs real clusters: start, status and stop
// for a whole one in a folder, node for one process, events for what a node has logged.
//
// Stable are the commands with their flags, and the layout of the folder (docs/live.md).
//
// Promise: start on the folder of an earlier cluster starts that cluster again, with everything
// that it acknowledged; what is running is left alone. No command removes data.
//
// Refusal: nobody watches the processes: one that has ended stays so until the next start.
package cluster

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// The exit codes, besides 0 and those of cmd/cli.
const (
	exitDegraded = 1  // status: a node does not answer, or a replica set has no primary
	exitFailed   = 4  // the command could not do what it is for
	exitUsage    = 64 // wrong usage
)

// failure is an error with its exit code.
type failure struct {
	code int
	err  error
}

// Error is the sentence about what went wrong.
func (f *failure) Error() string { return f.err.Error() }

// Unwrap is the error behind.
func (f *failure) Unwrap() error { return f.err }

// ExitCode is what the program ends with.
func (f *failure) ExitCode() int { return f.code }

// failing gives every error of a command the exit code of a failure, unless it has one.
func failing(run func(c *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		err := run(c, args)
		if _, has := errors.AsType[*failure](err); err == nil || has {
			return err
		}
		return &failure{exitFailed, err}
	}
}

const about = `Runs clusters as real processes on this machine: replica sets, a config server and
routers that talk over TCP and keep their data in files. A folder holds everything of one cluster.

Exit codes: 0 done, 1 the cluster is degraded (status), 4 failed, 64 wrong usage.`

// New returns the command.
func New() *cobra.Command {
	c := &cobra.Command{
		Use:   "cluster",
		Short: "run a sharded cluster as real processes",
		Long:  about,
		Example: `  shardproof cluster start /tmp/c --shards 3   create a cluster, or start it again
  shardproof cluster status /tmp/c             shards, collections, chunks, nodes
  shardproof cluster stop /tmp/c               stop it; nothing is lost`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &failure{exitUsage, fmt.Errorf("there is no command %q; the commands of "+
					"`cluster` are start, status, stop, node and events", args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return c.Help() },
	}
	c.AddCommand(newStart(), newStatus(), newStop(), newNode(), newEvents())
	return c
}

// counted is a number of things, in the singular for one.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// one takes the folder of a cluster, or another single argument.
func one(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return &failure{exitUsage, fmt.Errorf("%s needs %s, and nothing else",
				c.CommandPath(), what)}
		}
		return nil
	}
}
