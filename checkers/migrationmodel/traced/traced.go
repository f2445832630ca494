// Package traced says which step of the migration model an event of a run tells of.
//
// Promise: one event tells of one step at most; of what the model does not know, it tells nothing.
//
// Refusal: it does not say whether the step is allowed, nor whether its primary was deposed.
package traced

import (
	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/histories/trace"
)

// The steps, by what events say.
var (
	donorStates = map[trace.DonorState]migrationmodel.Step{
		trace.DonorCreated:            migrationmodel.DonorBegins,
		trace.DonorCloning:            migrationmodel.DonorClones,
		trace.DonorCloneCaughtUp:      migrationmodel.DonorCaughtUp,
		trace.DonorCriticalSection:    migrationmodel.DonorEntersSection,
		trace.DonorCloneCompleted:     migrationmodel.DonorCompletes,
		trace.DonorCommittingOnConfig: migrationmodel.DonorSendsCommit,
		trace.DonorDone:               migrationmodel.DonorEnds,
	}
	recipientStates = map[trace.RecipientState]migrationmodel.Step{
		trace.RecipientReady:          migrationmodel.RecipientBegins,
		trace.RecipientClone:          migrationmodel.RecipientClones,
		trace.RecipientCatchup:        migrationmodel.RecipientCatchesUp,
		trace.RecipientSteady:         migrationmodel.RecipientSteady,
		trace.RecipientCommitStart:    migrationmodel.RecipientCommitStarts,
		trace.RecipientEnteredCritSec: migrationmodel.RecipientEnters,
		trace.RecipientExitCritSec:    migrationmodel.RecipientLeaves,
		trace.RecipientDone:           migrationmodel.RecipientEnds,
		trace.RecipientFail:           migrationmodel.RecipientFails,
		trace.RecipientAbort:          migrationmodel.RecipientFails,
	}
	decisions = map[trace.Decision]migrationmodel.Step{
		trace.Committed: migrationmodel.DonorDecidesCommitted,
		trace.Aborted:   migrationmodel.DonorDecidesAborted,
	}
	endings = map[trace.Decision]migrationmodel.Step{
		trace.Committed: migrationmodel.MigrationEndsCommitted,
		trace.Aborted:   migrationmodel.MigrationEndsAborted,
	}
	donorSections = map[trace.SectionState]migrationmodel.Step{
		trace.WritesBlocked:   migrationmodel.DonorBlocksWrites,
		trace.ReadsBlocked:    migrationmodel.DonorBlocksReads,
		trace.SectionReleased: migrationmodel.DonorLeavesSection,
	}
	recipientSections = map[trace.SectionState]migrationmodel.Step{
		trace.WritesBlocked:   migrationmodel.RecipientBlocks,
		trace.SectionReleased: migrationmodel.RecipientUnblocks,
	}
	donorDeletions = map[trace.DeletionState]migrationmodel.Step{
		trace.DeletionPending:    migrationmodel.DonorPromisesDeletion,
		trace.DeletionReady:      migrationmodel.DonorReadiesDeletion,
		trace.DeletionProcessing: migrationmodel.DonorBeginsDeletion,
		trace.DeletionDone:       migrationmodel.DonorFinishesDeletion,
		trace.DeletionDropped:    migrationmodel.DonorDropsDeletion,
	}
	recipientDeletions = map[trace.DeletionState]migrationmodel.Step{
		trace.DeletionPending:    migrationmodel.RecipientPromisesDeletion,
		trace.DeletionReady:      migrationmodel.RecipientReadiesDeletion,
		trace.DeletionProcessing: migrationmodel.RecipientBeginsDeletion,
		trace.DeletionDone:       migrationmodel.RecipientFinishesDeletion,
		trace.DeletionDropped:    migrationmodel.RecipientDropsDeletion,
	}
)

// DonorDeletion is the step of a donor whose range deletion has that state.
func DonorDeletion(s trace.DeletionState) migrationmodel.Step { return donorDeletions[s] }

// RecipientDeletion is the step of a recipient whose range deletion has that state.
func RecipientDeletion(s trace.DeletionState) migrationmodel.Step { return recipientDeletions[s] }

// Step is the step that an event tells of; Unseen for a range deletion, whose step depends on the
// shard, and for all else.
func Step(e *trace.Event) migrationmodel.Step {
	switch e.Kind {
	case trace.DonorAdvanced:
		return donorStates[e.DonorState()]
	case trace.RecipientAdvanced:
		return recipientStates[e.RecipientState()]
	case trace.DecisionMade:
		return decisions[e.Decision()]
	case trace.MigrationEnded:
		return endings[e.Decision()]
	case trace.CriticalSection:
		if e.Actor == trace.Donor {
			return donorSections[e.SectionState()]
		}
		return recipientSections[e.SectionState()]
	}
	return migrationmodel.Unseen
}
