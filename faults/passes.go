package faults

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/system/failpoint"
)

//go:embed passes.txt
var passesText string

// passes are how often a thousand mixed seeds pass each failpoint: `go run ./ci/passes` counts.
var passes = readPasses()

func readPasses() []int {
	all := make([]int, failpoint.Count())
	for line := range strings.Lines(passesText) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if site, known := failpoint.Parse(name); known {
			all[site], _ = strconv.Atoi(number)
		}
	}
	return all
}

// mostOdds is what a failpoint that hardly any run passes has at most, in parts per million: what
// comes behind it is to be seen as well.
const mostOdds = 300_000

// Evenly are the odds of a pass of each failpoint, by failpoint.Site and in parts per million, at
// which something happens at each in so many of a million runs, be it passed often or seldom.
func Evenly(runs int) []int {
	if runs == 0 {
		return nil
	}
	counts := passes
	odds := make([]int, len(counts))
	for site, n := range counts {
		odds[site] = min(runs*1000/max(n, 1), mostOdds)
	}
	return odds
}

// PassesARun is how often a mixed seed passes a failpoint, on average and rounded down.
func PassesARun(site failpoint.Site) int { return PassesIn1000(site) / 1000 }

// PassesIn1000 is how often a thousand mixed seeds pass a failpoint.
func PassesIn1000(site failpoint.Site) int { return passes[site] }
