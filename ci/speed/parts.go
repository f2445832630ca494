package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/system/sim"
)

// profiled is how many mixed seeds the profile is of: enough for a thousand samples.
const profiled = 500

// part is what costs are told apart by: the packages whose paths begin so.
type part struct {
	name     string
	packages []string
}

const project = "github.com/shardproof/shardproof/"

// parts are all parts; a function belongs to that of the longest path. The first is for samples
// with no such function on their stacks.
var parts = []part{
	{"runtime alone", nil},
	{"executor", []string{project + "system/sim", project + "system/env",
		project + "histories/keyed"}},
	{"raft", []string{"go.etcd.io/raft/"}},
	{"replica sets", []string{project + "system/replset", project + "system/oplog"}},
	{"documents", []string{project + "system/store", project + "system/document",
		project + "system/query", project + "system/key", "github.com/tidwall/btree",
		"go.mongodb.org/mongo-driver/"}},
	{"protocols", []string{project + "system"}},
	{"oracles and checkers", []string{project + "checkers", "github.com/anishathalye/"}},
	{"harness", []string{project}},
}

// share is what a part costs, and how much of it is for memory.
type share struct {
	part
	took, memory time.Duration
}

// measureParts profiles mixed seeds run by one worker.
func measureParts() ([]share, error) {
	folder, err := os.MkdirTemp("", "parts")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "cpu")
	if err := profileSeeds(file); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "tool", "pprof", "-traces", self, file)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the profile cannot be read: %w", err)
	}
	return sharesOf(text), nil
}

func profileSeeds(file string) error {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // about as seldom as in the tool
	pool := &sim.Pool{}
	defer pool.Close()
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	options := runner.Options{Targets: harness.Targets(), Pool: pool}
	for seed := uint64(1); seed <= profiled; seed++ {
		if _, err := runner.Run(generate.Mixed(seed), options); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return nil
}

// A sample in the text is its time and its functions, the innermost first, a line each.
var (
	sampleEnd   = []byte("-----------+")
	sampleBegin = regexp.MustCompile(`^\s*([0-9.]+(?:ns|us|ms|s|mins))\s+(\S.*)$`)
)

// sharesOf adds up the samples of a profile by part, the largest first.
func sharesOf(traces []byte) []share {
	all := make([]share, len(parts))
	for i := range parts {
		all[i].part = parts[i]
	}
	var took time.Duration
	var stack []string
	add := func() {
		s := &all[partOf(stack)]
		s.took += took
		if forMemory(stack) {
			s.memory += took
		}
		took, stack = 0, nil
	}
	for lines := bufio.NewScanner(bytes.NewReader(traces)); lines.Scan(); {
		line := lines.Bytes()
		begin := sampleBegin.FindSubmatch(line)
		switch {
		case bytes.HasPrefix(line, sampleEnd):
			add()
		case len(stack) == 0 && begin != nil:
			took, _ = time.ParseDuration(strings.Replace(string(begin[1]), "mins", "m", 1))
			stack = append(stack, string(begin[2]))
		case len(stack) > 0:
			stack = append(stack, strings.TrimSpace(string(line)))
		}
	}
	add()
	slices.SortStableFunc(all, func(a, b share) int { return cmp.Compare(b.took, a.took) })
	return all
}

// partOf is the part of the innermost function that belongs to one, else the first.
func partOf(stack []string) (found int) {
	for _, function := range stack {
		longest := 0
		for i, p := range parts {
			for _, path := range p.packages {
				if strings.HasPrefix(function, path) && len(path) > longest {
					found, longest = i, len(path)
				}
			}
		}
		if longest > 0 {
			return found
		}
	}
	return 0
}

// forMemory reports whether a stack allocates or collects.
func forMemory(stack []string) bool {
	return slices.ContainsFunc(stack, func(function string) bool {
		return strings.HasPrefix(function, "runtime.mallocgc") ||
			strings.HasPrefix(function, "runtime.gcBgMarkWorker") ||
			strings.HasPrefix(function, "runtime.bgsweep")
	})
}

func partsTable(all []share) string {
	total := time.Duration(0)
	for _, s := range all {
		total += s.took
	}
	percent := func(d time.Duration) float64 { return 100 * float64(d) / float64(max(total, 1)) }
	var b strings.Builder
	b.WriteString("| part | percent | of it for memory |\n| --- | ---: | ---: |\n")
	for _, s := range all {
		fmt.Fprintf(&b, "| %s | %.0f | %.0f |\n", s.name, percent(s.took), percent(s.memory))
	}
	return b.String()
}
