// Command fleet proves that a campaign on many machines finds what one machine finds: processes
// share the seeds, some of them are killed and started again with the same command, their folders
// are merged, and the result is compared, seed for seed, with that of a single process.
//
// Promise: a seed that differs in its trace hash or verdict, or that is missing, is named.
//
// Refusal: it tries processes of one machine; machines that fail in other ways are not tried.
//
// Exit codes: 0 they are the same, 4 a process could not do its work, 5 they differ, 64 wrong
// flags.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/shardproof/shardproof/harness/campaign"
)

const (
	exitFailed  = 4
	exitDiffers = 5
	exitUsage   = 64
)

type fleet struct {
	tool, out, profile  string
	seeds, workers, die int
}

func main() {
	f := &fleet{}
	flag.StringVar(&f.tool, "tool", "bin/shardproof", "the program")
	flag.StringVar(&f.out, "out", "out/fleet", "a new folder for everything")
	flag.StringVar(&f.profile, "profile", "mixed", "how scenarios are generated")
	flag.IntVar(&f.seeds, "seeds", 20000, "number of seeds in all")
	flag.IntVar(&f.workers, "workers", 8, "number of processes that share them")
	flag.IntVar(&f.die, "kill", 2, "how many of them are killed and started again")
	flag.Parse()
	if flag.NArg() > 0 || f.workers < 1 || f.seeds < f.workers || f.die > f.workers {
		fmt.Fprintln(os.Stderr, "fleet: there must be as many seeds as workers, and not more "+
			"kills than workers; see -h")
		os.Exit(exitUsage)
	}
	if err := f.prove(); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		if errors.Is(err, errDiffers) {
			os.Exit(exitDiffers)
		}
		os.Exit(exitFailed)
	}
}

func (f *fleet) prove() error {
	if _, err := os.Stat(f.out); err == nil {
		return fmt.Errorf("%s is there already; remove it or choose another folder", f.out)
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	begun := time.Now()
	errs := make([]error, f.workers)
	var workers sync.WaitGroup
	for i := range f.workers {
		workers.Go(func() { errs[i] = f.worker(i) })
	}
	workers.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	fmt.Printf("%d seeds by %d workers in %s\n", f.seeds, f.workers,
		time.Since(begun).Round(time.Second))
	args := []string{"merge", "--out", f.folder("merged")}
	for i := range f.workers {
		args = append(args, f.part(i))
	}
	if _, err := f.run(exec.Command(f.tool, args...)); err != nil {
		return err
	}
	begun = time.Now()
	if _, err := f.run(f.command(1, f.seeds, f.folder("one"))); err != nil {
		return err
	}
	fmt.Printf("%d seeds by one process in %s\n", f.seeds, time.Since(begun).Round(time.Second))
	return f.compare()
}

func (f *fleet) folder(name string) string { return filepath.Join(f.out, name) }
func (f *fleet) part(i int) string         { return f.folder(fmt.Sprintf("part-%d", i)) }

// command runs some of the seeds. It is the same whether the worker begins or goes on.
func (f *fleet) command(first, seeds int, folder string) *exec.Cmd {
	return exec.Command(f.tool, "run", "--profile", f.profile, "--first-seed", fmt.Sprint(first),
		"--seeds", fmt.Sprint(seeds), "--parallel", "1", "--keep-going", "--max-failures", "0",
		"--memory", folder, "--continue")
}

// worker runs the share of worker i, the first time until it is killed if it is one of those.
func (f *fleet) worker(i int) error {
	first, next := i*f.seeds/f.workers, (i+1)*f.seeds/f.workers
	again := func() *exec.Cmd { return f.command(first+1, next-first, f.part(i)) }
	if i < f.die {
		done, err := f.runUntilKilled(again(), f.part(i), (next-first)/3)
		if err != nil {
			return err
		}
		fmt.Printf("worker %d was killed after %d of its %d seeds, and starts again\n", i, done,
			next-first)
	}
	_, err := f.run(again())
	return err
}

// runUntilKilled ends a command by SIGKILL when it has finished so many seeds.
func (f *fleet) runUntilKilled(c *exec.Cmd, folder string, seeds int) (done int, err error) {
	if err := c.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case err := <-ended:
			return done, fmt.Errorf("the worker ended before it was killed: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
		text, _ := os.ReadFile(filepath.Join(folder, campaign.JournalFile))
		if done = bytes.Count(text, []byte("\n")) - 1; done >= max(seeds, 1) {
			break
		}
	}
	if err := c.Process.Kill(); err != nil {
		return done, err
	}
	<-ended
	time.Sleep(time.Second) // its own process dies with it, and lets the folder go
	return done, nil
}

// run runs a command that may find failures, but must not fail itself.
func (f *fleet) run(c *exec.Cmd) ([]byte, error) {
	text, err := c.CombinedOutput()
	exit, ended := errors.AsType[*exec.ExitError](err)
	if err != nil && (!ended || exit.ExitCode() > 2) {
		return text, fmt.Errorf("%s: %w\n%s", c, err, text)
	}
	return text, nil
}

var errDiffers = errors.New("the merged result is not that of one process")

// compare compares what the fleet and the single process have found.
func (f *fleet) compare() error {
	merged, err := campaign.ReadRecord(f.folder("merged"))
	if err != nil {
		return err
	}
	one, err := campaign.ReadRecord(f.folder("one"))
	if err != nil {
		return err
	}
	if len(merged.Outcomes) != f.seeds || len(one.Outcomes) != f.seeds {
		return fmt.Errorf("%w: %d and %d of %d seeds", errDiffers, len(merged.Outcomes),
			len(one.Outcomes), f.seeds)
	}
	for i, o := range one.Outcomes {
		if merged.Outcomes[i] != o {
			return fmt.Errorf("%w: %q and %q", errDiffers, merged.Outcomes[i], o)
		}
	}
	a, b := merged.Tally, one.Tally
	if !reflect.DeepEqual(a.Sum.Counters, b.Sum.Counters) ||
		!reflect.DeepEqual(a.Reached, b.Reached) || a.Violations != b.Violations ||
		a.Undecided != b.Undecided || a.Repeated != b.Repeated {
		return fmt.Errorf("%w: the counts differ", errDiffers)
	}
	fmt.Printf("the same: %d seeds with their trace hashes and verdicts, %d failures, %d sites, "+
		"probes, faults and states reached\n", f.seeds, b.Violations, len(b.Reached))
	return nil
}
