// Package harness is the front door for programs: it draws scenarios, runs them, and shrinks and
// explains those that fail. Tests use harness/harnesstest, people the command shardproof.
//
// Stable are the names in this package and in harness/harnesstest, what they document, and the
// files that they read and write. The packages below harness may change with every version; types
// of theirs that have a name here are stable in the fields that the examples use.
//
// Promise: Run is a pure function of its scenario: it gives the same result in every process and on
// every machine.
//
// Refusal: nothing is decided here; each name stands for the one package that does the work.
package harness

import (
	"context" //shardproof:allow import a campaign runs on the wall clock and ends with its context

	"github.com/shardproof/shardproof/harness/campaign"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/overview"
	"github.com/shardproof/shardproof/harness/report"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/shardstore"
	"github.com/shardproof/shardproof/harness/shrink"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Target is a system under test; package harness/target says what it must offer.
type Target = target.Target

// Targets are the systems that a program tests unless its options name others: the sharded store of
// this module.
func Targets() target.Set { return target.Set{shardstore.Store{}} }

func orOurs(targets target.Set) target.Set {
	if len(targets) == 0 {
		return Targets()
	}
	return targets
}

// Scenario is everything that decides a run: cluster, settings, operations, migrations, faults and
// a seed for the rest.
type Scenario = scenario.Scenario

// Options say how a run is observed; the zero value only checks it.
type Options = runner.Options

// Result is what came of one run: the history, the verdicts, and the trace hash by which two runs
// are compared.
type Result = runner.Result

// Draw is the scenario of a seed, of the profile that the seed draws from the mix of all.
func Draw(seed uint64) *Scenario { return generate.Mixed(seed) }

// Parse reads a scenario from its text; file is the name that errors give.
func Parse(file, text string) (*Scenario, error) { return runner.Parse(Targets(), file, text) }

// Run carries a scenario out in virtual time and checks it. The error says why the scenario cannot
// be run; a run that breaks a promise is a Result that has not Passed.
func Run(s *Scenario, o Options) (*Result, error) {
	o.Targets = orOurs(o.Targets)
	return runner.Run(s, o)
}

// CampaignOptions say which seeds are run, on how many cores, and what happens at a failure.
type CampaignOptions = campaign.Options

// CampaignSummary is what a campaign did and which seeds failed.
type CampaignSummary = campaign.Summary

// Campaign runs many seeds on all cores until the seeds or the context end. Without
// CampaignOptions.Draw it uses Draw.
func Campaign(ctx context.Context, o CampaignOptions) *CampaignSummary {
	if o.Draw == nil {
		o.Draw = Draw
	}
	o.Targets = orOurs(o.Targets)
	return campaign.Run(ctx, o)
}

// ShrinkOptions limit the search for a smaller scenario; with the zero value it makes at most 3,000
// runs, one at a time.
type ShrinkOptions = shrink.Options

// Shrunk is the smallest scenario that was found, and the runs of it and of the original.
type Shrunk = shrink.Shrunk

// Shrink looks for the smallest scenario that fails with the same signature as s. A scenario that
// passes is an error.
func Shrink(s *Scenario, o ShrinkOptions) (*Shrunk, error) {
	o.Targets = orOurs(o.Targets)
	return shrink.Failure(s, o)
}

// Page is what the page of a run is made of.
type Page = report.Page

// PageGenerator is in every page, to tell it from files of others.
const PageGenerator = report.Generator

// Report is the page of a run as one HTML file that needs nothing beside it.
func Report(p Page) ([]byte, error) { return report.HTML(p) }

// HoldsCampaign reports whether a folder holds a campaign, or the timeline of a real cluster, of
// which Overview can make a page.
func HoldsCampaign(folder string) bool { return overview.Holds(folder) }

// Overview is the page of a campaign's folder as one HTML file that needs nothing beside it, and
// what the page shows; build names the program that writes it.
func Overview(folder string, of Target, build string) ([]byte, *overview.Page, error) {
	p, err := overview.Read(folder)
	if err != nil {
		return nil, nil, err
	}
	p.Build = build
	for _, site := range of.Describe().Sites {
		p.Sites = append(p.Sites, site.Name)
	}
	text, err := overview.HTML(p)
	return text, p, err
}

// Explain is the failure block of a run that was made with Options.Events and did not pass: which
// promise broke, how it came to that, and what proves it.
func Explain(r *Result) string { return explain.Report(r, explain.Where{}) }
