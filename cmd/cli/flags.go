package cli

import (
	"context"
	"os"
	"runtime"

	"github.com/spf13/cobra"
)

// The flags that several commands have, each with the same meaning wherever it is.

// seedFlags say how the scenario of one seed is drawn.
func (f *runFlags) seedFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.profile, "profile", "mixed",
		"how scenarios are generated from seeds; see: "+programName()+" list profiles")
	c.Flags().StringVar(&f.of, "target", "", "the system under test, for the scenario of a seed")
	f.protocolFlag(c)
	c.Flags().StringArrayVar(&f.set, "set", nil, "name=value sets a setting")
	c.Flags().StringArrayVar(&f.failpoint, "failpoint", nil, "name=terms enables a failpoint")
}

// drawnBy names what draws the scenarios: a profile, behind the target if one is named.
func (f *runFlags) drawnBy() string {
	if f.of != "" {
		return f.of + "/" + f.profile
	}
	return f.profile
}

// repeat is a command on a scenario that was drawn or changed by the same flags.
func (f *runFlags) repeat(verb, what string) string {
	words := []string{verb}
	if f.of != "" {
		words = append(words, "--target", f.of)
	}
	if f.protocol != "both" {
		words = append(words, "--protocol", f.protocol)
	}
	for _, s := range f.set {
		words = append(words, "--set '"+s+"'")
	}
	for _, s := range f.failpoint {
		words = append(words, "--failpoint '"+s+"'")
	}
	return commandLine(append(words, what)...)
}

// repeatOn is a command on a file, or on a seed by its profile.
func (f *runFlags) repeatOn(verb, what string) string {
	if _, no := os.Stat(what); no != nil && f.profile != "mixed" {
		what = "--profile " + f.profile + " " + what
	}
	return f.repeat(verb, what)
}

func (f *runFlags) protocolFlag(c *cobra.Command) {
	c.Flags().StringVar(&f.protocol, "protocol", "both",
		"the protocol version of the servers: 8.0, 4.2, or both for a mix")
}

// longFlags are those of everything that makes many runs.
func (f *runFlags) longFlags(c *cobra.Command) {
	c.Flags().DurationVar(&f.for_, "for", 0, "stop after this much wall-clock time")
	c.Flags().IntVar(&f.parallel, "parallel", runtime.GOMAXPROCS(0), "number of runs in parallel")
}

// collectFlags say when failures end a search.
func (f *runFlags) collectFlags(c *cobra.Command) {
	c.Flags().BoolVar(&f.keepGoing, "keep-going", false,
		"collect failures instead of stopping at the first")
	c.Flags().IntVar(&f.failures, "max-failures", 20,
		"with --keep-going: stop after this many failures; 0 for no limit")
}

// within ends the context of the command when the time of --for is over.
func (f *runFlags) within(c *cobra.Command) (context.Context, context.CancelFunc) {
	if f.for_ > 0 {
		return context.WithTimeout(c.Context(), f.for_)
	}
	return context.WithCancel(c.Context())
}
