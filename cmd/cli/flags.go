package cli

import (
	"context"
	"runtime"

	"github.com/spf13/cobra"
)

// The flags that several commands have, each with the same meaning wherever it is.

// seedFlags say how the scenario of one seed is drawn.
func (f *runFlags) seedFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.profile, "profile", "mixed", "how the scenario of a seed is drawn")
	c.Flags().StringVar(&f.of, "target", "", "the system that the scenario of a seed is drawn for")
	f.protocolFlag(c)
	c.Flags().StringArrayVar(&f.set, "set", nil, "name=value sets a setting")
	c.Flags().StringArrayVar(&f.failpoint, "failpoint", nil, "name=terms switches a failpoint on")
}

func (f *runFlags) protocolFlag(c *cobra.Command) {
	c.Flags().StringVar(&f.protocol, "protocol", "both", "the version that the servers speak: 8.0, 4.2, or both in turn")
}

// longFlags are those of everything that makes many runs.
func (f *runFlags) longFlags(c *cobra.Command) {
	c.Flags().DurationVar(&f.for_, "for", 0, "stop after so much real time")
	c.Flags().IntVar(&f.parallel, "parallel", runtime.GOMAXPROCS(0), "how many runs go on at a time")
}

// collectFlags say when failures end a search.
func (f *runFlags) collectFlags(c *cobra.Command) {
	c.Flags().BoolVar(&f.keepGoing, "keep-going", false, "collect failures instead of stopping at the first")
	c.Flags().IntVar(&f.failures, "max-failures", 20, "with --keep-going: stop after so many; 0 for no limit")
}

// within ends the context of the command when the time of --for is over.
func (f *runFlags) within(c *cobra.Command) (context.Context, context.CancelFunc) {
	if f.for_ > 0 {
		return context.WithTimeout(c.Context(), f.for_)
	}
	return context.WithCancel(c.Context())
}
