package runner

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/corpus"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/wellformed"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/sim"
)

// TestStories replays every stored scenario: what they tell of holds. Together they pass every site
// that there is.
func TestStories(t *testing.T) {
	pool := &sim.Pool{}
	defer pool.Close()
	sum := NewCounters()
	for _, story := range corpus.Stories() {
		t.Run(story.Name, func(t *testing.T) {
			s, err := Parse(store, "histories/corpus/"+story.Name+".txt", story.Text)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(s, Options{Targets: store, Pool: pool})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Passed() {
				t.Errorf("%s: %v", r.Signature(), r.Worst().Violations)
			}
			if err := wellformed.Check(r.History); err != nil {
				t.Errorf("the history is refused: %v", err)
			}
			if len(s.Faults) > 0 && len(r.Faults) == 0 {
				t.Error("no fault of the story has happened")
			}
			if want := weaknesses[story.Name]; !slices.Equal(r.Weaknesses, want) {
				t.Errorf("the story shows %v, not %v", r.Weaknesses, want)
			}
			sum.Add(r.Counters)
		})
	}
	for _, in := range failpoint.All() {
		if sum.Sites[in.Site] == 0 && !unreachable[in.Name] {
			t.Errorf("no story passes %s", in.Name)
		}
	}
}

// weaknesses are what stories are there to show, most of them of 4.2; all others show none.
var weaknesses = map[string][]string{
	"error-before-the-deletion-begins":      {verdict.LeakedOrphans.Name},
	"impatient-cleanup":                     {verdict.LeakedOrphans.Name},
	"merged-by-older-catalog":               {verdict.LeakedOrphans.Name},
	"copied-before-a-majority":              {verdict.UndeliveredWrite.Name},
	"executed-twice":                        {verdict.ExecutedTwice.Name},
	"executed-twice-out-of-order":           {verdict.ExecutedTwice.Name},
	"nothing-in-the-next-collection":        {verdict.ExecutedTwice.Name},
	"older-statement-after-its-range-moved": {verdict.ExecutedTwice.Name},
	"older-executed-twice":                  {verdict.ExecutedTwice.Name},
	"seen-before-its-answer":                {verdict.ExecutedTwice.Name},
	"older-late-commit":                     {verdict.UnfencedCommit.Name, verdict.LeakedOrphans.Name},
	"older-late-commit-of-two":              {verdict.UnfencedCommit.Name, verdict.LeakedOrphans.Name},
	"older-times-after-a-late-commit":       {verdict.UnfencedCommit.Name, verdict.LeakedOrphans.Name},
	"older-left-behind":                     {verdict.LeftBehind.Name},
	"older-remains-come-back":               {verdict.LeftBehind.Name},
	"older-orphans-leaked":                  {verdict.LeakedOrphans.Name},
	"stream-after-an-unfenced-commit":       {verdict.UnfencedCommit.Name},
}

// TestWeaknessesAreGone tells the stories of what 4.2 does to data in 8.0, which does nothing of
// it.
func TestWeaknessesAreGone(t *testing.T) {
	for _, story := range corpus.Stories() {
		shown := weaknesses[story.Name]
		if shown == nil || slices.Contains(shown, verdict.ExecutedTwice.Name) ||
			slices.Contains(shown, verdict.UndeliveredWrite.Name) {
			continue // none, or one of both versions
		}
		s, err := Parse(store, story.Name, story.Text)
		if err != nil {
			t.Fatal(err)
		}
		s.Protocol = "8.0"
		r, err := Run(s, Options{Targets: store})
		if err != nil {
			t.Fatal(err)
		}
		if r.Worst().Outcome != checkers.Pass || len(r.Weaknesses) > 0 {
			t.Errorf("%s in 8.0 shows %v: %v", story.Name, r.Weaknesses, r.Worst().Violations)
		}
	}
}

// unreachable are sites that need what no scenario can ask for.
var unreachable = map[string]bool{
	// To who knows another incarnation the config server tells all of the new one.
	"router.refresh.inconsistent": true,
	// Before a collection is dropped or renamed, every unfinished migration of it is joined.
	"recovery.dropDetected": true,
}

func storedStory(t *testing.T, name string) *scenario.Scenario {
	t.Helper()
	for _, story := range corpus.Stories() {
		if story.Name == name {
			s, err := Parse(store, name, story.Text)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
	t.Fatalf("there is no story %s", name)
	return nil
}
