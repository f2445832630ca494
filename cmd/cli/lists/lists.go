// Package lists prints what scenarios can be made of: profiles, faults, failpoints, workloads,
// checkers, signatures, settings, sweeps, activities and strategies.
//
// Promise: every catalog of the harness has a list; a name that there is none of is an error with
// the nearest ones.
//
// Refusal: it runs nothing.
package lists

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/cmd/cli/terminal"
	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/harness/activity"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/search"
	"github.com/shardproof/shardproof/harness/shardstore"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/workloads"
)

// allLists are what `list` can show, in the order in which it shows all.
var allLists = []struct {
	name string
	show func(w io.Writer, t target.Target)
}{
	{"profiles", listProfiles}, {"faults", listFaults}, {"failpoints", listFailpoints},
	{"workloads", listWorkloads}, {"checkers", listCheckers}, {"signatures", listSignatures},
	{"settings", listSettings},
	{"sweeps", listSweeps}, {"activities", listActivities}, {"strategies", listStrategies},
}

// Names are the lists in the order in which all are printed.
func Names() (names []string) {
	for _, l := range allLists {
		names = append(names, l.name)
	}
	return names
}

// Write prints the list of that name of what scenarios for a target can be made of, with its name
// above it if titled.
func Write(out io.Writer, t target.Target, name string, titled bool) error {
	for _, l := range allLists {
		if l.name != name {
			continue
		}
		if titled {
			fmt.Fprintf(out, "%s\n", strings.ToUpper(name))
		}
		var text bytes.Buffer
		l.show(&text, t)
		terminal.Columns(out, text.String())
		if titled {
			fmt.Fprintln(out)
		}
		return nil
	}
	if near := suggest.Nearest(name, Names()); len(near) > 0 {
		return fmt.Errorf("there is no list %q; did you mean %s?", name, strings.Join(near, " or "))
	}
	return fmt.Errorf("there is no list %q; the lists are %s", name, strings.Join(Names(), ", "))
}

// Rows are the rows of the list of that name, which there is.
func Rows(t target.Target, name string) (rows [][]string) {
	for _, l := range allLists {
		if l.name != name {
			continue
		}
		var text bytes.Buffer
		l.show(&text, t)
		for line := range strings.Lines(text.String()) {
			rows = append(rows, strings.Split(strings.TrimRight(line, "\n"), "\t"))
		}
	}
	return rows
}

func listProfiles(w io.Writer, _ target.Target) {
	all := 0
	for _, p := range generate.Profiles() {
		all += p.Weight
	}
	fmt.Fprintf(w, "mixed\tthe default\tevery seed draws one of the profiles that have a share\n")
	for _, p := range generate.Profiles() {
		share := "only on request"
		if p.Weight > 0 {
			share = fmt.Sprintf("%d of %d mixed seeds", p.Weight, all)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", p.Name, share, p.About)
	}
}

func listFaults(w io.Writer, t target.Target) {
	for _, k := range faults.All() {
		if !slices.Contains(t.Describe().Faults, k.Name) {
			continue
		}
		fmt.Fprintf(w, "%s\t%s\n", k.Name, k.About)
		for _, a := range k.Args {
			fmt.Fprintf(w, "  %s=%s\t%s\n", a.Name, a.Default, a.About)
		}
	}
}

func listFailpoints(w io.Writer, t target.Target) {
	for _, in := range t.Describe().Sites {
		fmt.Fprintf(w, "%s\t%s\n", in.Name, in.Risk)
	}
	if t.Describe().Name != shardstore.Name {
		return
	}
	fmt.Fprintf(w, "\nPhases of the protocol that have no failpoint of their own:\n\n")
	for _, m := range failpoint.Absent() {
		fmt.Fprintf(w, "%s\t%s\n", m.Name, m.Why)
	}
}

func listWorkloads(w io.Writer, _ target.Target) {
	for _, load := range workloads.Catalog() {
		fmt.Fprintf(w, "%s\t%s\n", load.Name, load.About)
	}
	for _, m := range workloads.MoveCatalog() {
		fmt.Fprintf(w, "%s\t%s\n", m.Name, m.About)
	}
	for _, o := range workloads.OperationsCatalog() {
		fmt.Fprintf(w, "%s\t%s\n", o.Name, o.About)
	}
	fmt.Fprintf(w, "move-primary\t%s\n", workloads.PrimariesAbout)
	fmt.Fprintf(w, "%s\t%s\n", workloads.StreamsName, workloads.StreamsAbout)
}

func listCheckers(w io.Writer, t target.Target) {
	for _, c := range runner.Checkers(t) {
		fmt.Fprintf(w, "%s\t%s\n", c.Name, c.Promise)
	}
}

func listSignatures(w io.Writer, t target.Target) {
	for _, c := range runner.Checkers(t) {
		for _, s := range slices.Sorted(maps.Keys(c.Signatures)) {
			fmt.Fprintf(w, "%s\t%s\t%s\n", s, c.Name, c.Signatures[s])
		}
	}
}

func listSettings(w io.Writer, t target.Target) {
	for _, s := range runner.Settings(t) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, s.Default, s.About+note(s))
	}
	fmt.Fprintf(w, "failpoint.<name>\toff\t%s\n",
		`terms such as 30%2*return("crash")->return("pause=50ms")`)
}

// note is the unit of a setting, and who reads it.
func note(s runner.SettingInfo) string {
	if s.Unit == "" {
		return ""
	}
	return fmt.Sprintf(" (%s; read by: %s)", s.Unit, s.Reader)
}

func listStrategies(w io.Writer, _ target.Target) {
	for _, in := range search.Strategies() {
		fmt.Fprintf(w, "%s\t%s\n", in.Name, in.About)
	}
}

func listActivities(w io.Writer, of target.Target) {
	if of.Describe().Name != activity.System {
		return
	}
	for _, a := range activity.All() {
		fmt.Fprintf(w, "%s\t%s\n", a.Name, a.About)
	}
}

func listSweeps(w io.Writer, _ target.Target) {
	for _, b := range generate.Bases() {
		fmt.Fprintf(w, "%s\t%s\n", b.Name, b.About)
	}
}

// Likely asks whether one of the known names was meant, which are written behind the prefix, as an
// aside in a sentence; empty when none is like it.
func Likely(prefix, name string, known []string) string {
	near := suggest.Nearest(name, known)
	if len(near) == 0 {
		return ""
	}
	return " (did you mean " + prefix + strings.Join(near, " or "+prefix) + "?)"
}
