package migrationmodel

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// begun are the steps of a migration of 8.0 up to the commit request.
var begun = []Step{
	DonorBegins, DonorClones, DonorPromisesDeletion, RecipientBegins, RecipientPromisesDeletion,
	RecipientClones, RecipientCatchesUp, RecipientSteady, DonorCaughtUp, DonorBlocksWrites,
	DonorEntersSection, RecipientCommitStarts, RecipientBlocks, RecipientEnters, DonorCompletes,
	DonorBlocksReads, DonorSendsCommit,
}

func TestFollow(t *testing.T) {
	commits := []Step{ConfigCommits, ConfigSure}
	aborted := []Step{
		ConfigRefuses, ConfigSure, DonorLearnsItLost, DonorLeavesSection, DonorEnds,
		DonorDecidesAborted, RecipientLeaves, RecipientUnblocks, RecipientEnds,
	}
	for name, c := range map[string]struct {
		steps  []Step
		unless string // of the last step; empty when it is allowed
	}{
		"committed": {slices.Concat(commits, []Step{
			RecipientLeaves, RecipientLearnsItOwns, RecipientUnblocks, RecipientServes,
			DonorLearnsItLost, DonorLeavesSection, DonorDecidesCommitted, RecipientEnds,
			RecipientDropsDeletion, DonorReadiesDeletion, MigrationEndsCommitted, DonorEnds,
			DonorBeginsDeletion, DonorFinishesDeletion,
		}), ""},
		"the donor unblocks without having looked": {
			slices.Concat(commits, []Step{DonorLeavesSection}), "still believes to own",
		},
		"the donor gives up and serves what may be given away": {
			[]Step{DonorLearnsItLost, DonorLeavesSection, DonorEnds, DonorLearnsItOwns},
			"has to find out first",
		},
		"the recipient is released while the commit may come": {
			[]Step{RecipientLeaves}, "the outcome is not final",
		},
		"a new primary of the donor aborts without a fence": {
			[]Step{DonorFailsOver, DonorDecidesAborted}, "not \"aborted on record\"",
		},
		"a new primary of the donor aborts behind a fence": {
			[]Step{DonorFailsOver, ConfigRefuses, ConfigSure, DonorDecidesAborted}, "",
		},
		"a fenced commit": {
			[]Step{DonorFailsOver, ConfigRefuses, ConfigCommits},
			"has committed it before, or refuses",
		},
		"a new primary of the config server lacks the fence": {
			[]Step{DonorFailsOver, ConfigRefuses, ConfigFailsOver, ConfigCommits}, "",
		},
		"the donor readies its deletion before the recipient has dropped its own": {
			slices.Concat(commits, []Step{
				DonorLearnsItLost, DonorLeavesSection, DonorDecidesCommitted, RecipientLeaves,
				RecipientUnblocks, RecipientEnds, DonorReadiesDeletion,
			}), "by which it would delete what it owns",
		},
		"a deposed donor goes on with its decision to abort": {
			slices.Concat(aborted, []Step{
				DonorFailsOver, DonorDecidesAborted, RecipientReadiesDeletion,
				RecipientBeginsDeletion,
				DonorDropsDeletion, MigrationEndsAborted,
			}), "",
		},
		"a donor goes on with its decision to abort before it has dropped its deletion": {
			slices.Concat(aborted, []Step{RecipientReadiesDeletion}), "still on record",
		},
		"a new primary of the recipient serves without its critical section": {
			[]Step{RecipientFailsOver, RecipientServes}, "blocks writes, or does not know",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := New(V80).Follow()
			all := slices.Concat(begun, c.steps)
			for i, s := range all {
				refused := f.Take(s)
				last := i == len(all)-1 && c.unless != ""
				switch {
				case refused != nil && !last:
					t.Fatalf("step %d, %s: %q", i, s, refused.Because())
				case refused == nil && last:
					t.Fatalf("%s is allowed in %s", s, f.at)
				case refused != nil &&
					!strings.Contains(strings.Join(refused.Because(), "\n"), c.unless):
					t.Fatalf("%s: %q", s, refused.Because())
				}
			}
		})
	}
}

// TestFollowsEveryWalk: what the model does, a follower that sees only a part of it allows.
func TestFollowsEveryWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := New(rapid.SampledFrom([]Protocol{V80, V42}).Draw(t, "protocol"))
		s := rapid.SampledFrom(m.initial).Draw(t, "initial")
		f := m.Follow()
		for range rapid.IntRange(0, 80).Draw(t, "length") {
			var enabled []int
			for i := range m.actions {
				if m.actions[i].enabled(&s) {
					enabled = append(enabled, i)
				}
			}
			a := &m.actions[rapid.SampledFrom(enabled).Draw(t, "action")]
			a.then(&s)
			if a.step == Unseen {
				continue
			}
			if refused := f.Take(a.step); refused != nil {
				t.Fatalf("%s, to %s: %q", a.step, s, refused.Because())
			}
			if !slices.Contains(f.states, s) {
				t.Fatalf("after %s it is not known that this is possible: %s", a.step, s)
			}
		}
	})
}

// TestReleasedBeforeItBegins: a request that was sent before the donor's term ended reaches the
// recipient after the next primary has released it, and copies from the donor that does not know
// yet. Then the next primary goes on, as it would not for a recipient of its own.
func TestReleasedBeforeItBegins(t *testing.T) {
	late := []Step{
		DonorBegins, DonorClones, DonorPromisesDeletion, DonorFailsOver, ConfigRefuses, ConfigSure,
		RecipientBegins, RecipientPromisesDeletion, RecipientClones, RecipientCatchesUp,
		RecipientSteady,
	}
	own := []Step{
		DonorBegins, DonorClones, DonorPromisesDeletion, RecipientBegins,
		RecipientPromisesDeletion, RecipientClones, RecipientCatchesUp, RecipientSteady, DonorEnds,
	}
	for name, c := range map[string]struct {
		steps   []Step
		allowed bool
	}{
		"of a deposed donor": {late, true},
		"of the donor":       {own, false},
	} {
		f := New(V80).Follow()
		for _, s := range append(c.steps, DonorDecidesAborted) {
			if refused := f.Take(s); refused != nil {
				t.Fatalf("%s: %s: %q", name, s, refused.Because())
			}
		}
		if allowed := f.Take(DonorDropsDeletion) == nil; allowed != c.allowed {
			t.Errorf("%s: the deletion may be dropped: %t", name, allowed)
		}
	}
}

// TestTakeOrNot: a member that is about to lead learns what it owns, before it recovers the
// migration or after. As a step of the migration only the second is possible, and the record would
// have to be gone.
func TestTakeOrNot(t *testing.T) {
	for name, c := range map[string]struct {
		learn   func(*Follower)
		allowed bool
	}{
		"it may be none": {func(f *Follower) { f.TakeOrNot(DonorLearnsItOwns) }, true},
		"it must be one": {func(f *Follower) { f.Take(DonorLearnsItOwns) }, false},
	} {
		f := New(V80).Follow()
		for _, s := range []Step{
			DonorBegins, DonorClones, DonorPromisesDeletion, RecipientBegins,
			RecipientPromisesDeletion, RecipientClones, RecipientFails, DonorEnds,
			DonorDecidesAborted, DonorDropsDeletion, RecipientFailsOver,
			RecipientReadiesDeletion, RecipientBeginsDeletion, RecipientFinishesDeletion, DonorFailsOver,
		} {
			if refused := f.Take(s); refused != nil {
				t.Fatalf("%s: %s: %q", name, s, refused.Because())
			}
		}
		c.learn(f)
		if allowed := f.Take(DonorDecidesAborted) == nil; allowed != c.allowed {
			t.Errorf("%s: the decision of the recovery is allowed: %t", name, allowed)
		}
	}
}
