package cli

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shardproof/shardproof/cmd/cli/lists"
	"github.com/shardproof/shardproof/harness/rundir"
)

// flagMistake says what is wrong with a flag, without the words of the library that parses it.
func flagMistake(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		name := unknown.GetSpecifiedName()
		return fmt.Errorf("there is no flag --%s%s", name, likely(c, name))
	}
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	wanted := map[string]string{
		"int": "a whole number", "int64": "a whole number", "uint64": "a whole number from 0",
		"duration": "a duration such as 90s or 5m", "bool": "true or false",
	}[invalid.GetFlag().Value.Type()]
	if wanted == "" {
		return err
	}
	return fmt.Errorf("--%s needs %s, not %q", invalid.GetFlag().Name, wanted, invalid.GetValue())
}

// likely asks whether one of the command's flags was meant; empty when none is like it.
func likely(c *cobra.Command, name string) string {
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	return lists.Likely("--", name, known)
}

// withoutEffect refuses flags that were given and change nothing, because of why.
func withoutEffect(c *cobra.Command, why string, names ...string) error {
	for _, name := range names {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s has no effect %s; leave it out", name, why)
		}
	}
	return nil
}

// notNegative refuses times below zero.
func notNegative(name string, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("--%s must be 0s or more, not %v", name, d)
	}
	return nil
}

// refuse says which flags of a campaign contradict each other.
func (f *runFlags) refuse(c *cobra.Command) error {
	err := notNegative("for", f.for_)
	switch {
	case err != nil:
		return err
	case f.failures < 0:
		return fmt.Errorf("--max-failures must be 0 (no limit) or more, not %d", f.failures)
	case !f.keepGoing:
		err = withoutEffect(c, "without --keep-going", "max-failures")
	}
	if err == nil && f.memory != "" {
		err = withoutEffect(c, "with --memory, which has a folder of its own", "out")
	}
	if n := uint64(max(f.seeds, 1)) - 1; err == nil && f.first > math.MaxUint64-n {
		err = fmt.Errorf("--first-seed %d leaves no room for %d seeds: the last one is %d", f.first,
			f.seeds, uint64(math.MaxUint64))
	}
	return err
}

// tryFolder finds out whether a folder can be made and written to, before anything is to be kept
// there. It makes none.
func tryFolder(path string) error {
	there := filepath.Clean(path)
	for {
		info, err := os.Stat(there)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("failing runs cannot be kept in %s: %s is no folder", path, there)
		}
		if err == nil || there == filepath.Dir(there) {
			break
		}
		there = filepath.Dir(there)
	}
	probe, err := os.MkdirTemp(there, ".draft-")
	if err != nil {
		return fmt.Errorf("failing runs cannot be kept in %s: %w", path, err)
	}
	return os.Remove(probe)
}

// ownFile refuses to replace a file that no earlier command of the same folder has written; begins
// is how those begin.
func ownFile(path, begins string) error {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case begins == "" || !strings.HasPrefix(string(text), begins):
		return &rundir.ExistsError{Path: path}
	}
	return nil
}
