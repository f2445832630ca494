package overview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/harness/campaign"
	"github.com/shardproof/shardproof/harness/failuredb"
	"github.com/shardproof/shardproof/harness/runner"
)

// view is what the page shows.
type view struct {
	Title, Outcome string
	// Sentences are the verdict in words.
	Sentences  []string
	Rows       [][2]string
	Signatures []signature
	Saturation *chart
	Failures   *chart
	Matrix     matrix
	Lost       []lost
	Groups     []group
	Never      []string
	Slowest    []slow
	Balance    []*chart
	Live       []*chart
}

// signature is a row of the table of failures.
type signature struct {
	failuredb.Entry
	Cases []kept
}

// kept is a kept run; Page is where its page is, if it has one.
type kept struct{ Name, Page string }

// matrix is a table of runs: kinds of faults by states of a migration.
type matrix struct {
	Columns []string
	Rows    []matrixRow
}

type matrixRow struct {
	Name  string
	Cells []held
}

// held is in how many runs something was reached, and in how many of those every promise held.
type held struct{ Runs, Held int }

// Broke is in how many runs a promise broke.
func (h held) Broke() int { return h.Runs - h.Held }

// lost is how often a primary was lost in a state.
type lost struct {
	Role, State string
	held
}

// group is what was reached of one sort, rarest first.
type group struct {
	Name string
	All  []reached
}

type reached struct {
	Name  string
	First uint64
	held
}

type slow struct {
	Seed uint64
	Took string
}

func (p *Page) view() *view {
	v := &view{Title: p.Folder, Outcome: "pass"}
	if p.Record != nil {
		p.campaignView(v)
	}
	for _, e := range p.Signatures {
		s := signature{Entry: e}
		for _, run := range e.Cases {
			k := kept{Name: run}
			if p.Pages[run] {
				k.Page = run + "/report.html"
			}
			s.Cases = append(s.Cases, k)
		}
		v.Signatures = append(v.Signatures, s)
	}
	for _, c := range p.Curves {
		c.Lines = sortedLines(c.Lines)
		v.Balance = append(v.Balance, draw(c))
	}
	if p.Live != nil {
		v.Live = p.liveCharts()
		if p.Record == nil {
			v.Sentences = append(v.Sentences, fmt.Sprintf("%s samples of clients, %d faults.",
				commas(len(p.Live.Samples)), len(p.Live.Faults)))
			v.Title, v.Outcome = cmp.Or(p.Live.Header.Name, p.Folder), ""
		}
	}
	return v
}

// campaignView fills in what is known of a campaign.
func (p *Page) campaignView(v *view) {
	t := p.Record.Tally
	v.Sentences = p.sentences()
	if t.Violations > 0 {
		v.Outcome = "fail"
	} else if t.Undecided+t.Diverged > 0 {
		v.Outcome = "undecided"
	}
	v.Rows = p.rows()
	v.Saturation, v.Failures = p.saturation()
	v.Matrix = matrixOf(t.Reached)
	v.Lost = lostIn(t.Reached)
	v.Never = p.never()
	for _, g := range [][2]string{
		{campaign.SiteReached, "failpoint sites"}, {campaign.FaultReached, "kinds of faults"},
		{campaign.ProbeReached, "situations"},
	} {
		v.Groups = append(v.Groups, group{g[1], reachedOf(t.Reached, g[0])})
	}
	for _, s := range t.Slowest {
		v.Slowest = append(v.Slowest, slow{s.Seed, s.Took.Round(time.Millisecond).String()})
	}
}

// sentences are the verdict, and what it is worth.
func (p *Page) sentences() []string {
	t, n := p.Record.Tally, len(p.Record.Outcomes)
	var all []string
	switch {
	case n == 0:
		return []string{"No seed has been finished yet."}
	case t.Violations == 0 && t.Undecided == 0:
		all = append(all, fmt.Sprintf("Every promise held in %s seeds: with 95 %% confidence at "+
			"most one seed in %s of this mix fails.", commas(n), commas(max(1, n/3))))
	default:
		all = append(all, fmt.Sprintf("%s of %s seeds broke a promise, %s were undecided.",
			commas(t.Violations), commas(n), commas(t.Undecided)))
	}
	if t.Diverged > 0 {
		all = append(all, fmt.Sprintf("%d seeds took another path when they were repeated.",
			t.Diverged))
	}
	if left := t.Wanted - n; left > 0 {
		all = append(all, fmt.Sprintf("%s seeds are left.", commas(left)))
	}
	return append(all, p.worth())
}

// worth says whether more of the same is worth it.
func (p *Page) worth() string {
	news, seeds := p.Record.Tally.Reached.News(), p.Record.Seeds()
	if len(news) == 0 || len(seeds) == 0 {
		return "Nothing was reached."
	}
	at, _ := slices.BinarySearch(seeds, news[len(news)-1])
	quiet := len(seeds) - 1 - at
	switch {
	case quiet <= 0:
		return "The last seed still reached something new: more seeds are worth it."
	case quiet < len(seeds)/2:
		return fmt.Sprintf("The last %s seeds reached nothing new.", commas(quiet))
	}
	return fmt.Sprintf("The last %s seeds, more than half of all, reached nothing new: change the "+
		"workload or the profile instead of adding seeds.", commas(quiet))
}

// rows are the numbers of the summary.
func (p *Page) rows() [][2]string {
	t := p.Record.Tally
	c := t.Sum.Counters
	row := func(name, format string, args ...any) [2]string {
		return [2]string{name, fmt.Sprintf(format, args...)}
	}
	each := func(of map[string]int) string {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(of)) {
			parts = append(parts, fmt.Sprintf("%s %s", name, commas(of[name])))
		}
		return cmp.Or(strings.Join(parts, ", "), "none")
	}
	return [][2]string{
		row("seeds", "%s, from %d: profile %s, protocol %s %s", commas(len(p.Record.Outcomes)),
			p.Record.First, p.Record.Profile, p.Record.Protocol, strings.Join(p.Record.Set, " ")),
		row("build", "%s", p.Record.Build),
		row("operations", "%s: %s ok, %s failed, %s unknown", commas(c.Ops), commas(c.OK),
			commas(c.Failed), commas(c.Unknown)),
		row("migrations", "%s started, %s committed, %s aborted, recovery completed %s",
			commas(c.Started), commas(c.Committed), commas(c.Aborted), commas(c.Recovered)),
		row("failovers", "%s crashes, %s elections, %s rollbacks", commas(c.Crashes),
			commas(c.Elections), commas(c.RolledBack)),
		row("faults", "%s", each(c.Faults)),
		row("known anomalies", "%s", each(c.Weaknesses)),
		row("determinism", "%s seeds repeated, %s with another trace hash", commas(t.Repeated),
			commas(t.Diverged)),
		row("time", "%s of processor time, %s on the clock, %s of virtual time",
			t.Sum.CPU.Round(time.Second), t.Sum.Wall.Round(time.Second),
			time.Duration(c.Virtual).Round(time.Second)),
	}
}

// saturation draws what was reached, and what failed, over the seeds.
func (p *Page) saturation() (news, failures *chart) {
	seeds := p.Record.Seeds()
	if len(seeds) == 0 {
		return nil, nil
	}
	first := p.Record.Tally.Reached.News()
	kinds := make(map[uint64]string)
	for _, o := range p.Record.Outcomes {
		kinds[o.Seed] = o.Kind
	}
	var sum Line
	lines, reached := []Line{}, 0
	counts := make(map[string]float64)
	for i, seed := range seeds {
		for reached < len(first) && first[reached] <= seed {
			reached++
		}
		sum.Points = append(sum.Points, [2]float64{float64(i + 1), float64(reached)})
		if kind := kinds[seed]; kind != "" {
			counts[kind]++
			l := find(&lines, func(l *Line) bool { return l.Name == kind })
			l.Name, l.Points = kind, append(l.Points, [2]float64{float64(i + 1), counts[kind]})
		}
	}
	for i := range lines {
		l := &lines[i]
		l.Points = slices.Insert(l.Points, 0, [2]float64{1, 0})
		l.Points = append(l.Points, [2]float64{float64(len(seeds)), counts[l.Name]})
	}
	sum.Name = "sites, probes, faults and states reached"
	news = draw(Curve{Title: "What was reached", X: "seeds", Y: "reached", Lines: []Line{sum}})
	if len(lines) > 0 {
		failures = draw(Curve{Title: "Failing seeds by signature", X: "seeds", Y: "failing seeds",
			Lines: sortedLines(lines), Steps: true})
	}
	return news, failures
}

// matrixOf is the table of faults by the state of a migration in which they began.
func matrixOf(all campaign.Reached) matrix {
	cells := make(map[[2]string]held)
	rows, seen := map[string]bool{}, map[string]bool{}
	for name, r := range all { //shardproof:allow map each name is counted by itself
		if pair, ok := strings.CutPrefix(name, campaign.FaultInReached); ok {
			kind, state, _ := strings.Cut(pair, " ")
			rows[kind], seen[state] = true, true
			cells[[2]string{kind, state}] = held{r.Runs, r.Held}
		}
	}
	var m matrix
	states := append([]string{""}, runner.DonorStates...)
	for _, state := range slices.Sorted(maps.Keys(seen)) {
		if !slices.Contains(states, state) {
			states = append(states, state)
		}
	}
	for _, state := range states {
		if seen[state] {
			m.Columns = append(m.Columns, cmp.Or(state, "before any"))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(rows)) {
		row := matrixRow{Name: kind}
		for _, state := range states {
			if seen[state] {
				row.Cells = append(row.Cells, cells[[2]string{kind, state}])
			}
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// lostIn is in which states of a migration a primary was lost.
func lostIn(all campaign.Reached) (rows []lost) {
	for _, side := range []struct {
		role, prefix string
		states       []string
	}{
		{"donor", campaign.DonorReached, runner.DonorStates},
		{"recipient", campaign.RecipientReached, runner.RecipientStates},
	} {
		for _, state := range side.states {
			r := all[side.prefix+state]
			rows = append(rows, lost{side.role, state, held{r.Runs, r.Held}})
		}
	}
	return rows
}

// reachedOf is what was reached of one sort, rarest first.
func reachedOf(all campaign.Reached, prefix string) (of []reached) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if short, ok := strings.CutPrefix(name, prefix); ok {
			r := all[name]
			of = append(of, reached{short, r.First, held{r.Runs, r.Held}})
		}
	}
	slices.SortStableFunc(of, func(a, b reached) int { return cmp.Compare(a.Runs, b.Runs) })
	return of
}

// liveCharts draw what clients of a real cluster saw, with faults as bands.
func (p *Page) liveCharts() []*chart {
	var rate, failed, p50, p99 Line
	before := 0.0
	for _, s := range p.Live.Samples {
		span := max(s.At-before, 1e-9)
		before = s.At
		rate.Points = append(rate.Points, [2]float64{s.At, float64(s.Operations) / span})
		failed.Points = append(failed.Points, [2]float64{s.At, float64(s.Failed) / span})
		if s.Operations > 0 {
			p50.Points = append(p50.Points, [2]float64{s.At, s.P50})
			p99.Points = append(p99.Points, [2]float64{s.At, s.P99})
		}
	}
	rate.Name, failed.Name, p50.Name, p99.Name = "ended", "failed or unknown", "median",
		"99th percentile"
	var bands []Band
	for _, f := range p.Live.Faults {
		bands = append(bands, Band{f.Name, f.From, f.To})
	}
	return []*chart{
		draw(Curve{Title: "Throughput", X: "seconds", Y: "operations a second",
			Lines: []Line{rate, failed}, Bands: bands}),
		draw(Curve{Title: "Latency", X: "seconds", Y: "milliseconds",
			Lines: []Line{p50, p99}, Bands: bands}),
	}
}
