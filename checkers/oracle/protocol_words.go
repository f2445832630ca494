package oracle

import (
	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/histories/trace"
)

// The steps of the model, by what events say of primaries.
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

// stepOf is the step that an event of a primary tells of; a range deletion's depends on the shard.
func stepOf(e *trace.Event) migrationmodel.Step {
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
