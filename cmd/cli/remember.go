package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shardproof/shardproof/harness/campaign"
	"github.com/shardproof/shardproof/harness/failuredb"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
)

// remembering is the memory of a campaign in progress. A nil one remembers nothing.
type remembering struct {
	targets target.Set
	*failuredb.Memory
	campaign *rundir.Journal
	seeds    int // in the journal
	wanted   int // of the whole campaign; zero without a limit
	// done are the seeds that earlier commands of this campaign have finished, broken how many of
	// them failed.
	done   map[uint64]bool
	broken int
	// before is what they have done.
	before campaign.Tally
	// known are the signatures that do not stop the campaign.
	known map[string]bool
	// kept is when the total was written last; unkept is a newer one that was not.
	kept   time.Time
	unkept *campaign.Tally
}

// remember opens the memory that the flags name, and the campaign that is to be continued or begun.
func (f *runFlags) remember(notes io.Writer) (*remembering, error) {
	if f.memory == "" {
		return nil, nil
	}
	m, err := failuredb.Open(f.memory)
	if err != nil {
		return nil, err
	}
	r := &remembering{
		targets: f.targets,
		Memory:  m,
		done:    make(map[uint64]bool),
		known:   make(map[string]bool),
	}
	if err := r.open(f, notes); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	for _, e := range m.Entries() {
		r.known[e.Signature] = e.Status != failuredb.Fixed
	}
	return r, nil
}

func (r *remembering) open(f *runFlags, notes io.Writer) (err error) {
	path := filepath.Join(r.Dir(), campaign.JournalFile)
	if _, err := os.Stat(path); !f.goOn || errors.Is(err, os.ErrNotExist) {
		if err := r.startOver(path, notes); err != nil {
			return err
		}
		if err := r.Begin(newSighting(0)); err != nil {
			return err
		}
	}
	extra, err := f.settings()
	if err != nil {
		return err
	}
	var set []string
	for _, s := range extra {
		set = append(set, s.Name+"="+s.Value)
	}
	plan := campaign.Plan{Build: buildName(), First: f.first, Profile: f.drawnBy(),
		Protocol: f.protocol, Set: set}
	if r.campaign, err = rundir.OpenJournal(path, plan.Title()); err != nil {
		return err
	}
	if err := r.readTotal(); err != nil {
		return err
	}
	r.seeds = len(r.campaign.Lines)
	for i, line := range r.campaign.Lines {
		o, err := campaign.ParseOutcome(line)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, i+2, err)
		}
		if r.done[o.Seed] = true; o.Kind != "" {
			r.broken++
		}
	}
	return nil
}

// startOver forgets where an earlier campaign stood, and says so. Files of other origin stay.
func (r *remembering) startOver(journal string, notes io.Writer) error {
	total := filepath.Join(r.Dir(), campaign.TallyFile)
	if err := errors.Join(
		ownFile(journal, campaign.JournalTitle),
		ownFile(total, `{"schema":"shardproof.campaign/`),
	); err != nil {
		return err
	}
	if text, err := os.ReadFile(journal); err == nil {
		fmt.Fprintf(notes, "%s: a new campaign begins; the one before had finished %d seeds, and "+
			"--continue would have resumed it\n", programName(),
			strings.Count(string(text), "\n")-1)
	}
	for _, old := range []string{journal, total} {
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// readTotal reads what earlier commands have done. A seed that is not counted there is run again.
func (r *remembering) readTotal() error {
	r.before.Sum = campaign.NewSums()
	there, err := rundir.ReadKept(
		filepath.Join(r.Dir(), campaign.TallyFile), campaign.TallySchema, &r.before)
	if err != nil || !there {
		return err
	}
	r.before.Sum.Fit()
	return r.campaign.Keep(r.before.Seeds)
}

// total is what all commands of the campaign have done.
func (r *remembering) total(s *campaign.Summary) *campaign.Tally {
	if r == nil {
		return (&campaign.Tally{}).With(s, cpuTime())
	}
	all := r.before.With(s, cpuTime())
	all.Seeds, all.Wanted = r.seeds, r.wanted
	return all
}

// noSeeds is the summary of a command that ran none.
func noSeeds() *campaign.Summary { return &campaign.Summary{Counters: *runner.NewCounters()} }

func newSighting(seed uint64) failuredb.Sighting {
	return failuredb.Sighting{
		At:    time.Now().UTC().Truncate(time.Second),
		Build: buildName(),
		Seed:  seed,
	}
}

// replayKept runs the kept cases of all signatures, and tells of those that fail and of those that
// do not any more. It returns the exit code so far, and whether something came back.
func (r *remembering) replayKept(
	ctx context.Context, out io.Writer,
) (code int, back bool, err error) {
	if r == nil {
		return exitPassed, false, nil
	}
	for _, e := range r.Entries() {
		if len(e.Cases) == 0 || ctx.Err() != nil {
			continue
		}
		was := e.Status
		failing, why := r.replay(&e, out)
		if why != nil {
			code = worseCode(code, exitHarness)
			fmt.Fprintf(out, "HARNESS FAILED  %s: %v\n", e.Signature, why)
			continue
		}
		fails := failing != ""
		now, err := r.Replayed(e.Signature, newSighting(e.Last.Seed), fails)
		if err != nil {
			return exitHarness, back, err
		}
		if fails {
			code = worseCode(code, exitBroke)
		}
		back = back || now == failuredb.CameBack && was == failuredb.Fixed
		if r.known[e.Signature] = fails; fails || was != failuredb.Fixed {
			r.tell(out, &e, now, cmp.Or(failing, e.Cases[0]))
		}
	}
	return code, back, nil
}

// replay returns the first kept case of the signature that fails so; empty when none does.
func (r *remembering) replay(e *failuredb.Entry, out io.Writer) (failing string, err error) {
	for _, folder := range e.Cases {
		path := filepath.Join(r.Dir(), folder, rundir.ScenarioFile)
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		var result *runner.Result
		s, err := runner.Parse(r.targets, path, string(text))
		if err == nil {
			result, err = runner.Run(s, runner.Options{Targets: r.targets})
		}
		if err != nil {
			return "", err
		}
		switch got := result.Kind(); got {
		case e.Signature:
			failing = cmp.Or(failing, folder)
		case "":
		default:
			fmt.Fprintf(out, "%s now fails differently, with %s: %s\n",
				e.Signature, got, commandLine("replay", filepath.Dir(path)))
		}
	}
	return failing, nil
}

// tell is what is known of a signature, in a line, with the case that shows it.
func (r *remembering) tell(
	out io.Writer, e *failuredb.Entry, now failuredb.Status, folder string,
) {
	fmt.Fprintf(out, "%s  %s   %s   Replay  %s\n", strings.ToUpper(string(now)), e.Signature,
		knownSince(e), commandLine("replay", filepath.Join(r.Dir(), folder)))
}

func knownSince(e *failuredb.Entry) string {
	return fmt.Sprintf("first seen %s with seed %d%s",
		e.First.At.Format(time.DateOnly), e.First.Seed, ofBuild(e.First.Build))
}

func ofBuild(build string) string {
	if build == "" {
		return ""
	}
	return " by build " + build
}

// skips reports whether an earlier part of the campaign has finished a seed.
func (r *remembering) skips(seed uint64) bool { return r != nil && r.done[seed] }

// knows reports whether a signature has been told of already.
func (r *remembering) knows(signature string) bool { return r != nil && r.known[signature] }

// wants reports whether a failing run is to be kept although enough have been told.
func (r *remembering) wants(signature string) bool { return r != nil && r.Wants(signature) }

// failed remembers a failure, and says in a word what it is to the memory.
func (r *remembering) failed(f *campaign.Failure, folder string) (string, error) {
	if r == nil {
		return "", nil
	}
	signature := f.Result.Kind()
	status, err := r.Failed(signature, newSighting(f.Seed), folder)
	return fmt.Sprintf("%s signature %s", status, signature), err
}

// earlier is the exit code of what earlier commands of this campaign have found.
func (r *remembering) earlier() int {
	if r != nil && r.broken > 0 {
		return exitBroke
	}
	return exitPassed
}

// finished notes that a seed need not be run again.
func (r *remembering) finished(of campaign.Outcome, s *campaign.Summary) error {
	if r == nil {
		return nil
	}
	if r.known[of.Kind] {
		if _, err := r.Failed(of.Kind, newSighting(of.Seed), ""); err != nil {
			return err
		}
	}
	r.campaign.Append(of.String())
	r.seeds++
	r.unkept = r.total(s)
	if of.Kind == "" && time.Since(r.kept) < keepEvery {
		return r.campaign.Err()
	}
	return r.keep()
}

// keepEvery is how often the total is written while seeds hold. Those that are not counted in it
// are run again.
const keepEvery = time.Second

// keep writes the total, behind the journal that it speaks of.
func (r *remembering) keep() error {
	if r.unkept == nil {
		return nil
	}
	err := r.campaign.Sync()
	if err == nil {
		err = rundir.WriteKept(
			filepath.Join(r.Dir(), campaign.TallyFile), campaign.TallySchema, r.unkept)
	}
	if err != nil {
		return fmt.Errorf("the campaign could not be saved: %w", err)
	}
	r.kept, r.unkept = time.Now(), nil
	return nil
}

// close tells what the memory holds now, and ends its use.
func (r *remembering) close(out io.Writer) error {
	if r == nil {
		return nil
	}
	fmt.Fprintf(out, "signatures    %s; more: %s\n", statusesText(r.Memory),
		commandLine("memory", r.Dir()))
	if len(r.done) > 0 {
		fmt.Fprintf(out,
			"earlier       %s of these seeds were finished by earlier commands, %d failed\n",
			withCommas(uint64(len(r.done))), r.broken)
	}
	return errors.Join(r.keep(), r.campaign.Close(), r.Close())
}
