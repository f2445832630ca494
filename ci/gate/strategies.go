package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/shardproof/shardproof/ci/knownbugs"
	"github.com/shardproof/shardproof/ci/knownbugs/strategies"
)

// comparedStrategies are the strategies of the table, which is what the median of so many starts is
// taken of.
var comparedStrategies = []string{"random", "short", "sweep", "reorder", "pct", "coverage-guided"}

const startsEach = 3

// patienceFactor is how many times the CPU time of the others a bug gets that every strategy has
// missed.
const patienceFactor = 10

// measureAll fills the table of strategies: what of it is there already stays, unless a single bug
// was asked for. The table is written again after every strategy of every bug, so that it can be
// made in as many pieces as one likes. What all have missed then is measured again, with more time,
// until one finds it.
func measureAll(bugs []knownbugs.Bug, o options, root, scratch string) (int, error) {
	m := &measuring{
		options:   o,
		root:      root,
		scratch:   scratch,
		file:      filepath.Join(root, "ci", "knownbugs", "STRATEGIES.md"),
		remeasure: o.only != "",
	}
	var err error
	if m.table, err = strategies.Read(m.file, comparedStrategies, o.cpu.Seconds()); err != nil {
		return exitFailed, err
	}
	err = eachBug(bugs, m.bug)
	if err == nil && o.strategy == "" {
		m.cpu, m.remeasure, m.first = patienceFactor*m.cpu, true, true
		err = eachBug(slices.DeleteFunc(bugs, func(b knownbugs.Bug) bool {
			return m.table.Found(b.Name)
		}), m.bug)
	}
	if err != nil {
		return exitFailed, err
	}
	fmt.Print(m.table)
	return 0, nil
}

// chosen are the strategies to be measured: those that were named, or all.
func (o *options) chosen() []string {
	if o.strategy == "" {
		return comparedStrategies
	}
	return strings.Split(o.strategy, ",")
}

// measuring is the filling of a table in progress.
type measuring struct {
	options
	root, scratch, file string
	// again: what is in the table already is measured as well; first: until one strategy finds the
	// bug.
	remeasure, first bool

	mu    sync.Mutex
	table *strategies.Table
}

// bug builds the tool with one bug, and has every strategy that is wanted look for it.
func (m *measuring) bug(b *knownbugs.Bug) error {
	var wanted []string
	for _, strategy := range m.chosen() {
		if m.remeasure || !m.has(b, strategy) {
			wanted = append(wanted, strategy)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	folder := filepath.Join(m.scratch, b.Name)
	tool, err := buildTool(b, m.root, folder)
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for _, strategy := range wanted {
		cell, err := m.cell(b, strategy, tool, folder)
		if err == nil {
			err = m.set(b, strategy, cell)
		}
		if err != nil || m.first && cell.Found() {
			return err
		}
	}
	return nil
}

func (m *measuring) has(b *knownbugs.Bug, strategy string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.table.Has(b.Name, strategy)
}

func (m *measuring) set(b *knownbugs.Bug, strategy string, c strategies.Cell) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.table.Set(b.Name, strategy, c)
	fmt.Printf("%-30s  %-11s %s\n", b.Name, strategy, c)
	return m.table.Write(m.file)
}

// cell is the median of the starts of one strategy. Once so many have missed the bug that the
// median has, the others are spared.
func (m *measuring) cell(b *knownbugs.Bug, strategy, tool, folder string) (strategies.Cell, error) {
	var all []strategies.Cell
	missed := 0
	for i := range startsEach {
		c := strategies.Cell{}
		if missed <= startsEach/2 {
			var err error
			c, err = m.attempt(b, strategy, tool,
				filepath.Join(folder, fmt.Sprintf("%s-%d", strategy, i)), i)
			if err != nil {
				return c, err
			}
		}
		if !c.Found() {
			missed++
		}
		all = append(all, c)
	}
	return strategies.Median(all), nil
}

// startsApart is how far the first seeds of two starts are from each other.
const startsApart = 1_000_003

var runsRow = regexp.MustCompile(`(?m)^runs +([0-9,]+)`)

// attempt is one start.
func (m *measuring) attempt(
	b *knownbugs.Bug, strategy, tool, out string, start int,
) (c strategies.Cell, err error) {
	cmd := exec.Command(tool, "explore", "--strategy", strategy, "--first-seed",
		fmt.Sprint(1+start*startsApart), "--cpu", m.cpu.String(),
		"--parallel", "1", "--out", out)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	text, err := cmd.CombinedOutput()
	if err == nil {
		return c, nil
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		return c, fmt.Errorf("the build with %s did not explore as it should: %w\n%s",
			b.Name, err, text)
	}
	row := runsRow.FindSubmatch(text)
	if row == nil {
		return c, fmt.Errorf("the build with %s says not how many runs it made:\n%s", b.Name, text)
	}
	runs, err := strconv.Atoi(regexp.MustCompile(",").ReplaceAllString(string(row[1]), ""))
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return strategies.Cell{Runs: runs, CPU: cpu.Seconds()}, err
}
