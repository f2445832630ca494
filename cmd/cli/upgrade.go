package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/histories/scenario"
)

func newUpgrade() *cobra.Command {
	return &cobra.Command{
		Use:   "upgrade FILE...",
		Short: "rewrite scenario files of an older schema",
		Long: `Upgrade rewrites scenario files of an older schema in place, each as a whole
or not at all: old names become the present ones, comments stay. For the folder of a saved run it
rewrites scenario.txt; the events and the trace hash were recorded with the old names and stay as
they are, so a replay of that folder reports a difference.`,
		Example: "  shardproof upgrade scenario.txt\n  shardproof upgrade out/lost-write-4711",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError(errors.New(c.CommandPath() + " needs at least one scenario file"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			for _, file := range args {
				done, err := upgrade(file)
				if err != nil {
					return err
				}
				fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", file, done)
			}
			return nil
		},
	}
}

// upgrade rewrites one file and says what was done.
func upgrade(file string) (done string, err error) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, rundir.ScenarioFile)
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return "", usageError(fmt.Errorf("the scenario file cannot be read: %w", err))
	}
	text, err := scenario.Upgrade(file, string(old))
	switch {
	case err != nil:
		return "", usageError(err)
	case text == string(old):
		return fmt.Sprintf("has schema %d already", scenario.Schema), nil
	}
	if err := rundir.Replace(file, []byte(text)); err != nil {
		return "", &exitError{exitHarness, err}
	}
	return fmt.Sprintf("rewritten for schema %d", scenario.Schema), nil
}
