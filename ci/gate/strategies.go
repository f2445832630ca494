package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"sync"

	"github.com/shardproof/shardproof/ci/knownbugs"
	"github.com/shardproof/shardproof/ci/knownbugs/strategies"
)

// compared are the strategies of the table, which is what the median of so many starts is taken of.
var compared = []string{"random", "sweep", "anchored", "delays", "priorities", "guided"}

const starts = 5

// measure fills the table of strategies: what of it is there already stays, unless a single bug was asked for. The table is
// written anew after every strategy of every bug, so that it can be made in as many pieces as one likes.
func measure(bugs []knownbugs.Bug, o options, root, scratch string) (int, error) {
	m := &measuring{
		options: o, root: root, scratch: scratch, bugs: make(chan *knownbugs.Bug),
		file: filepath.Join(root, "ci", "knownbugs", "STRATEGIES.md"),
	}
	var err error
	if m.table, err = strategies.Read(m.file, compared, o.cpu.Seconds()); err != nil {
		return exitFailed, err
	}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(bugs)) {
		workers.Go(m.work)
	}
	for i := range bugs {
		m.bugs <- &bugs[i]
	}
	close(m.bugs)
	workers.Wait()
	if m.err != nil {
		return exitFailed, m.err
	}
	fmt.Print(m.table)
	return 0, nil
}

// measuring is the filling of a table under way.
type measuring struct {
	options
	root, scratch, file string
	bugs                chan *knownbugs.Bug

	mu    sync.Mutex
	table *strategies.Table
	err   error
}

func (m *measuring) work() {
	for b := range m.bugs {
		if err := m.bug(b); err != nil {
			m.mu.Lock()
			m.err = errors.Join(m.err, err)
			m.mu.Unlock()
		}
	}
}

// bug builds the tool with one bug, and has every strategy that is wanted look for it.
func (m *measuring) bug(b *knownbugs.Bug) error {
	var wanted []string
	for _, strategy := range compared {
		if m.only != "" && (m.strategy == "" || m.strategy == strategy) || !m.has(b, strategy) {
			wanted = append(wanted, strategy)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	folder := filepath.Join(m.scratch, b.Name)
	tool, err := build(b, m.root, folder)
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for _, strategy := range wanted {
		cell, err := m.cell(b, strategy, tool, folder)
		if err == nil {
			err = m.set(b, strategy, cell)
		}
		if err != nil {
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

// cell is the median of the starts of one strategy. Once so many have missed the bug that the median has, the others are spared.
func (m *measuring) cell(b *knownbugs.Bug, strategy, tool, folder string) (strategies.Cell, error) {
	var all []strategies.Cell
	missed := 0
	for i := range starts {
		c := strategies.Cell{}
		if missed <= starts/2 {
			var err error
			if c, err = m.attempt(b, strategy, tool, filepath.Join(folder, fmt.Sprintf("%s-%d", strategy, i)), i); err != nil {
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

// apart is how far the first seeds of two starts are from each other.
const apart = 1_000_003

var runsRow = regexp.MustCompile(`(?m)^runs +([0-9,]+)`)

// attempt is one start.
func (m *measuring) attempt(b *knownbugs.Bug, strategy, tool, out string, start int) (c strategies.Cell, err error) {
	cmd := exec.Command(tool, "explore", "--strategy", strategy, "--first-seed", fmt.Sprint(1+start*apart), "--cpu", m.cpu.String(),
		"--parallel", "1", "--out", out)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	text, err := cmd.CombinedOutput()
	if err == nil {
		return c, nil
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		return c, fmt.Errorf("the build with %s did not explore as it should: %w\n%s", b.Name, err, text)
	}
	row := runsRow.FindSubmatch(text)
	if row == nil {
		return c, fmt.Errorf("the build with %s says not how many runs it made:\n%s", b.Name, text)
	}
	runs, err := strconv.Atoi(regexp.MustCompile(",").ReplaceAllString(string(row[1]), ""))
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return strategies.Cell{Runs: runs, CPU: cpu.Seconds()}, err
}
