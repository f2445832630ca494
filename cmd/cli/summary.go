package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/shardproof/shardproof/cmd/cli/terminal"
	"github.com/shardproof/shardproof/harness/campaign"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
)

// printSummary prints what a campaign of a system did, and which of its failpoints it never
// reached; the last command of it may have been interrupted.
func printSummary(
	out io.Writer, of *target.Description, t *campaign.Tally, last *campaign.Summary, workers int,
) {
	w := &terminal.Sheet{}
	defer w.Print(out)
	s := t.Sum.Counters
	w.Row("seeds", "%s%s", withCommas(uint64(s.Runs)), interruptedText(last))
	w.Row("protocols", "8.0 %s, 4.2 %s; known anomalies: %s",
		withCommas(uint64(s.Runs-s.Older)), withCommas(uint64(s.Older)),
		cmp.Or(eachText(s.Weaknesses), "none"))
	w.Row("failures", "%d", t.Violations)
	w.Row("undecided", "%d", t.Undecided)
	w.Row("virtual time", "%s", time.Duration(s.Virtual).Round(time.Second))
	addWork(w, s)
	w.Row("failovers", "%s, %s, %s",
		counted(s.Crashes, "crash", "crashes"), counted(s.Elections, "election", "elections"),
		counted(s.RolledBack, "rollback", "rollbacks"))
	w.Row("faults", "%s", countsText(s.Faults))
	w.Row("failpoints", "%s", reachedText(s, of))
	w.Row("determinism", "%s repeated, %d with a different trace hash",
		counted(t.Repeated, "seed", "seeds"), t.Diverged)
	w.Row("steps", "%s%s", withCommas(s.Steps), slowestText(t.Slowest))
	w.Row("coverage", "%s", newsText(t))
	w.Row("wall time", "%s on %s, %.1f seeds/s",
		t.Sum.Wall.Round(10*time.Millisecond), counted(workers, "worker", "workers"),
		float64(s.Runs)/max(t.Sum.Wall.Seconds(), 0.001))
}

func slowestText(slow []campaign.Slow) string {
	if len(slow) == 0 {
		return ""
	}
	return fmt.Sprintf(", slowest seed %d took %s", slow[0].Seed,
		slow[0].Took.Round(time.Millisecond))
}

// newsText says whether it is worth to go on: how much was reached, and how many seeds have added
// nothing to that.
func newsText(t *campaign.Tally) string {
	news := t.Reached.News()
	if len(news) == 0 {
		return "nothing was reached"
	}
	reached := counted(len(news), "site, probe, fault or state", "sites, probes, faults and states")
	if quiet := t.Last - news[len(news)-1]; quiet > 0 {
		return fmt.Sprintf("%s reached; nothing new in the last %s", reached,
			counted(int(quiet), "seed", "seeds"))
	}
	return fmt.Sprintf("%s reached; the last seed still reached something new", reached)
}

// addWork are the rows on what the clusters were asked to do.
func addWork(w *terminal.Sheet, s *runner.Counters) {
	w.Row("operations", "%s checked: %s ok, %s failed, %s unknown",
		withCommas(uint64(s.Ops)), withCommas(uint64(s.OK)), withCommas(uint64(s.Failed)),
		withCommas(uint64(s.Unknown)))
	w.Row("migrations", "%s", migrationsText(s))
	w.Row("movePrimary", "%s", outcomesText(s.Primaries))
	w.Row("balancer", "%s, %s of %s committed, %s, %s, %s", counted(s.Rounds, "round", "rounds"),
		withCommas(uint64(s.Balanced)), counted(s.Chosen, "migration", "migrations"),
		counted(s.Stopped, "stop", "stops"), counted(s.Drained, "shard removed", "shards removed"),
		counted(s.Rezoned, "zone change", "zone changes"))
	w.Row("shards", "%s", statisticsText(s.Statistics))
}

// migrationsText says how the migrations ended.
func migrationsText(s *runner.Counters) string {
	return fmt.Sprintf("%s started: %s committed, %s aborted, %s ended without a decision; "+
		"recovery completed %s", withCommas(uint64(s.Started)), withCommas(uint64(s.Committed)),
		withCommas(uint64(s.Aborted)),
		withCommas(uint64(max(0, s.Started-s.Committed-s.Aborted))),
		withCommas(uint64(s.Recovered)))
}

func interruptedText(s *campaign.Summary) string {
	if s.Interrupted {
		return fmt.Sprintf(" of %s, interrupted", withCommas(uint64(s.Wanted)))
	}
	return ""
}

// statisticsText sums up what the shards have counted themselves, without what crashed processes
// knew.
func statisticsText(of map[string]int64) string {
	docs := func(name string) string { return withCommas(uint64(of[name])) }
	spent := func(name string) time.Duration { return time.Duration(of[name]) * time.Millisecond }
	return fmt.Sprintf("documents: %s cloned, %s caught up, %s deleted; donors blocked writes "+
		"for %s, %s of it to commit; "+
		"migrations aborted: %s with a chunk too big, %s out of memory",
		docs("countDocsClonedOnRecipient"), docs("countDocsClonedOnCatchUpOnRecipient"),
		docs("countDocsDeletedByRangeDeleter"), spent("totalCriticalSectionTimeMillis"),
		spent("totalCriticalSectionCommitTimeMillis"), docs("countDonorMoveChunkTooBig"),
		docs("countDonorMoveChunkMemoryExceeded"))
}

// countsText is "5: a 3, b 2", by name.
func countsText(of map[string]int) string {
	total := 0
	for _, n := range of {
		total += n
	}
	if total == 0 {
		return "none"
	}
	return withCommas(uint64(total)) + ": " + eachText(of)
}

// eachText is "a 3, b 2", by name.
func eachText(of map[string]int) string {
	var names []string
	for name, n := range of {
		names = append(names, fmt.Sprintf("%s %s", name, withCommas(uint64(n))))
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

// outcomesText is "3: 2 done, 1 aborted", by name.
func outcomesText(of map[string]int) string {
	var ends []string
	total := 0
	for name, n := range of {
		ends = append(ends, fmt.Sprintf("%s %s", withCommas(uint64(n)), name))
		total += n
	}
	sort.Strings(ends)
	if total == 0 {
		return "none"
	}
	return fmt.Sprintf("%s: %s", withCommas(uint64(total)), strings.Join(ends, ", "))
}

// neverShown is how many failpoints that were not reached are named.
const neverShown = 12

func reachedText(s *runner.Counters, of *target.Description) string {
	var never []string
	for _, in := range of.Sites {
		if s.Sites[in.Site] == 0 {
			never = append(never, in.Name)
		}
	}
	text := fmt.Sprintf("%d of %d reached", len(of.Sites)-len(never), len(of.Sites))
	if len(never) == 0 {
		return text
	}
	more := ""
	if len(never) > neverShown {
		more = fmt.Sprintf(" and %d more", len(never)-neverShown)
		never = never[:neverShown]
	}
	return text + "; never: " + strings.Join(never, ", ") + more
}

// printTable prints how often a primary was lost in each state of a migration, and every counter of
// the shards.
func printTable(out io.Writer, s *runner.Counters) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer w.Flush()
	for _, t := range []struct {
		title  string
		states []string
		lost   map[string]int
	}{
		{"donor failovers by state", runner.DonorStates, s.DonorFailover},
		{"recipient crashes by state", runner.RecipientStates, s.RecipientCrash},
	} {
		fmt.Fprintf(w, "%s\n", t.title)
		for _, state := range t.states {
			fmt.Fprintf(w, "  %s\t%s\n", state, withCommas(uint64(t.lost[state])))
		}
	}
	fmt.Fprintf(w, "shardingStatistics\n")
	for _, name := range slices.Sorted(maps.Keys(s.Statistics)) {
		fmt.Fprintf(w, "  %s\t%s\n", name, withCommas(uint64(s.Statistics[name])))
	}
}

// counted is a number with the noun it counts.
func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return withCommas(uint64(n)) + " " + several
}

// withCommas is a number with commas.
func withCommas(n uint64) string {
	digits := fmt.Sprint(n)
	var out []byte
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out = append(out, ',')
		}
		out = append(out, digits[i])
	}
	return string(out)
}
