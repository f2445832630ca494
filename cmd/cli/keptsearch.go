package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/harness/campaign"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/search"
	"github.com/shardproof/shardproof/harness/target"
)

// What is in the folder of a search beside its journal: where it stands, the situations that it
// went through, and a folder of the scenarios that its strategy goes on from.
const (
	searchFile     = "search.json"
	situationsFile = "situations.txt"
	corpusFolder   = "corpus"
	searchSchema   = "shardproof.search/1"
)

// searchState is what a search goes on from.
type searchState struct {
	// Mark, Seen and Corpus are of the beginning of the round in progress, Taken is how many of its
	// trials are done.
	Mark   search.Checkpoint
	Seen   int
	Corpus []keptScenario `json:",omitempty"`
	Taken  int
	// Situations is how many were met, the last one in run Last, Quiet ago.
	Situations, Last int
	Quiet            time.Duration
	// Found are the folders of failing runs, Code what they mean.
	Found []string `json:",omitempty"`
	Code  int
	Sum   campaign.Sums
}

// keptScenario is one of the corpus.
type keptScenario struct{ ID, Worth, Chosen int }

// keptSearch is the folder of a search.
type keptSearch struct {
	targets             target.Set
	out                 string
	journal, situations *rundir.Journal
	state               searchState
	over                int
	// seen are the situations and corpus the scenarios that state speaks of.
	seen   []uint64
	corpus []search.Known
	// files are the IDs of scenarios that are there.
	files map[int]bool
}

// openSearch begins the folder of a search, or opens it again.
func openSearch(targets target.Set, out, title string) (*keptSearch, error) {
	k := &keptSearch{
		targets: targets,
		out:     out,
		state:   searchState{Sum: campaign.NewSums()},
		files:   make(map[int]bool),
	}
	if err := os.MkdirAll(filepath.Join(out, corpusFolder), 0o755); err != nil {
		return nil, err
	}
	var err error
	if k.journal, err = rundir.OpenJournal(filepath.Join(out, journalFile), title); err != nil {
		return nil, err
	}
	k.situations, err = rundir.OpenJournal(filepath.Join(out, situationsFile),
		"shardproof states 1")
	if err != nil {
		return nil, errors.Join(err, k.journal.Close())
	}
	if _, err = rundir.ReadKept(filepath.Join(out, searchFile), searchSchema,
		&k.state); err == nil {
		err = errors.Join(k.readSituations(), k.readCorpus())
	}
	if err != nil {
		return nil, errors.Join(err, k.close())
	}
	k.state.Sum.Fit()
	k.over = k.state.Mark.Seeds
	return k, nil
}

// readSituations forgets those of a round that was not kept.
func (k *keptSearch) readSituations() error {
	if len(k.situations.Lines) < k.state.Situations {
		return fmt.Errorf("%s has %d lines, but the search reached %d states; start over without "+
			"the folder",
			filepath.Join(k.out, situationsFile), len(k.situations.Lines), k.state.Situations)
	}
	if err := k.situations.Keep(k.state.Situations); err != nil {
		return err
	}
	for _, line := range k.situations.Lines[:k.state.Seen] {
		situation, err := strconv.ParseUint(line, 16, 64)
		if err != nil {
			return fmt.Errorf("%s: %q is not a state", filepath.Join(k.out, situationsFile), line)
		}
		k.seen = append(k.seen, situation)
	}
	return nil
}

func (k *keptSearch) readCorpus() error {
	for _, one := range k.state.Corpus {
		file := k.scenarioFile(one.ID)
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		s, err := runner.Parse(k.targets, file, string(text))
		if err != nil {
			return err
		}
		k.files[one.ID] = true
		k.corpus = append(k.corpus,
			search.Known{ID: one.ID, Scenario: s, Worth: one.Worth, Chosen: one.Chosen})
	}
	return nil
}

func (k *keptSearch) scenarioFile(id int) string {
	return filepath.Join(k.out, corpusFolder, fmt.Sprintf("%05d.txt", id))
}

// met adds situations; an error shows when the state is saved.
func (k *keptSearch) met(fresh []uint64) {
	for _, situation := range fresh {
		k.situations.Append(strconv.FormatUint(situation, 16))
	}
}

// keepCorpus writes down the scenarios that are not there yet, and puts all of them into the state.
func (k *keptSearch) keepCorpus(s *searchState, corpus []search.Known) error {
	s.Corpus = nil
	for _, one := range corpus {
		s.Corpus = append(s.Corpus, keptScenario{one.ID, one.Worth, one.Chosen})
		if k.files[one.ID] {
			continue
		}
		err := rundir.Replace(k.scenarioFile(one.ID), []byte(one.Scenario.String()))
		if err != nil {
			return err
		}
		k.files[one.ID] = true
	}
	return nil
}

// save replaces the state, behind everything that it speaks of.
func (k *keptSearch) save(s searchState) error {
	if over := s.Mark.Seeds; over != k.over {
		k.over = over
		k.journal.Append(fmt.Sprintf("%d seeds, %d runs, %d states",
			over, s.Sum.Runs, s.Situations))
	}
	if err := errors.Join(k.journal.Sync(), k.situations.Sync()); err != nil {
		return err
	}
	if err := rundir.WriteKept(filepath.Join(k.out, searchFile), searchSchema, s); err != nil {
		return err
	}
	return k.prune(s.Corpus)
}

// prune removes what is not in the corpus any more.
func (k *keptSearch) prune(corpus []keptScenario) error {
	gone := make(map[int]bool)
	for id := range k.files {
		gone[id] = true
	}
	for _, one := range corpus {
		delete(gone, one.ID)
	}
	for id := range gone {
		if err := os.Remove(k.scenarioFile(id)); err != nil {
			return err
		}
		delete(k.files, id)
	}
	return nil
}

func (k *keptSearch) close() error { return errors.Join(k.journal.Close(), k.situations.Close()) }
