package failpoint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/system/failpoint"
)

// phases are the phases of every role that this project models (failpoints 18.2).
const phases = `
donor.register donor.joinExisting donor.preRefresh donor.drainPendingRecovery donor.computeBound
donor.checkPreconditions donor.waitOverlappingRangeDeletion donor.changelogStart
donor.attachCloner.before donor.attachCloner.after donor.prepareConflictBarrier
donor.coordinatorInsert.before donor.coordinatorInsert.afterLocal
donor.coordinatorInsert.afterMajority donor.rangeDeletionInsert.before
donor.rangeDeletionInsert.afterLocal donor.rangeDeletionInsert.afterMajority donor.sessionSourceInit
donor.scanRecordIds donor.sendRecvStart donor.afterRecvStart donor.firstChunkCheck donor.statusPoll
donor.memoryCheck donor.beforeCriticalSection donor.lockAcquire donor.criticalSectionWritesBlocked
donor.secondarySignal donor.minOpTimeIncrement donor.sendRecvCommit donor.afterRecvCommit
donor.queuesDrained donor.blockReads donor.buildCommit donor.sendConfigCommit
donor.configCommitReply donor.launchRecipientRelease donor.postCommitRefresh donor.cacheFlush
donor.changeStreamNoop donor.setDecision donor.leaveCriticalSection donor.minOpTimeDecrement
donor.cancelClone donor.durableConfigTime donor.persistDecision.before donor.persistDecision.after
donor.waitRecipientRelease donor.advanceTxnNumber donor.fetchOrphanCount donor.deleteRecipientTask
donor.queryDrainFuture donor.registerTask donor.markReady donor.forget.before donor.forget.after
donor.forget.rollback donor.changelogCommit donor.waitForDelete donor.abortPath.persist
donor.abortPath.deleteLocalTask donor.abortPath.advanceTxnNumber donor.abortPath.readyRecipientTask
donor.serve.migrateClone donor.serve.transferMods.deferred donor.serve.transferMods.splice
donor.serve.transferMods.read donor.serve.transferMods.pushback donor.serve.sessionMods
donor.opCapture.insert donor.opCapture.update donor.opCapture.delete donor.opCapture.txnCommit
donor.opCapture.preparedCommit
recipient.recvStart recipient.register recipient.sessionCheckout recipient.waitOverlap
recipient.createCollection recipient.createIndexes recipient.taskInsert.before
recipient.taskInsert.afterLocal recipient.taskInsert.afterMajority recipient.beginClone
recipient.fetch recipient.insert recipient.incrementOrphanCount recipient.cloneDone
recipient.catchUpFetch recipient.applyDeletes recipient.betweenDeletesAndReloads
recipient.applyReloads recipient.replicationWait recipient.majorityBeforeSteady
recipient.steadyTransition recipient.steadyFetch recipient.recvCommit.before
recipient.recvCommit.after recipient.finalFetch recipient.finalFlush recipient.sessionFetch
recipient.sessionApply recipient.sessionDrained.first recipient.sessionDrained.second
recipient.sessionJoin recipient.recoveryDocInsert recipient.criticalSectionAcquire
recipient.enteredCriticalSection recipient.replyToCommit recipient.waitRelease recipient.recvRelease
recipient.refresh recipient.refreshFailed recipient.criticalSectionRelease recipient.cacheFlush
recipient.durableConfigTime recipient.recoveryDocDelete recipient.done recipient.abort
recipient.fail
config.moveRequest config.insertMigrationDoc config.distLock config.sendMove config.commit.lock
config.commit.readShard config.commit.readCollection config.commit.readChunk
config.commit.checkVersion config.commit.pickValidAfter config.commit.trimHistory
config.commit.controlChunk config.commit.txnWrite config.commit.afterLocalWrite
config.commit.majority config.commit.reply config.commit.duplicateRequest
config.ensureVersion.before config.ensureVersion.after config.splitCommit config.mergeCommit
config.setAllowMigrations.bump config.setAllowMigrations.join config.stepUp.recoverMigrations
config.stepDown config.removeShard.startDrain config.removeShard.checkEmpty
config.removeShard.remove config.addShard config.zoneUpdate
router.target router.attachVersion router.send router.onStale router.refresh.start
router.refresh.joinExisting router.refresh.apply router.refresh.inconsistent router.refresh.retry
router.retry router.partialBatch router.cursorEstablish router.getMore router.txn.firstStmt
router.txn.addParticipant router.txn.pickConflictTime router.txn.staleRetry router.txn.commitSingle
router.txn.commit2PC router.broadcastMulti router.changeStream.open router.changeStream.newShard
router.changeStream.merge router.changeStream.resume
request.versionCheck request.waitCriticalSection request.acquireSnapshot request.takeFilter
request.yield request.restore request.recheckBeforeCommit request.commit request.reply
request.retryLookup request.secondary.refreshViaPrimary request.secondary.applyInvalidation
request.secondary.read
rangeDeleter.registerTask rangeDeleter.pendingCleared rangeDeleter.waitQueries rangeDeleter.delay
rangeDeleter.enqueue rangeDeleter.markProcessing rangeDeleter.checkTaskExists
rangeDeleter.checkOwnership rangeDeleter.batch.before rangeDeleter.batch.after
rangeDeleter.writeConflict rangeDeleter.majority rangeDeleter.updateOrphanCount
rangeDeleter.removeTask rangeDeleter.stepDown rangeDeleter.stepUp.resubmit
rangeDeleter.conflictWithIncoming rangeDeleter.dropCollection rangeDeleter.renameCollection
rangeDeleter.cleanupOrphaned
recovery.stepUpBegin recovery.majorityBarrier recovery.listMigrations recovery.clearMetadata
recovery.ensureVersion.request recovery.ensureVersion.reply recovery.refresh.request
recovery.refresh.reply recovery.decide recovery.dropDetected recovery.complete
recovery.recipientStepUp.register recovery.recipientStepUp.criticalSection
recovery.secondStepDownDuringRecovery recovery.newMigrationDuringRecovery recovery.configUnavailable
recovery.rollback
balancer.roundBegin balancer.loadSettings balancer.checkWindow balancer.stats balancer.selectDrain
balancer.selectZone balancer.selectLoad balancer.enqueue balancer.dispatch balancer.result
balancer.splitOrJumbo balancer.roundEnd balancer.sleep balancer.stop balancer.stepDown
balancer.stepUp
split.autoSplitScan split.pickPoints split.tailRebalance split.topChunk split.autoMerge
split.concurrentWithMove split.sendCommit split.commitReply split.refreshAfter split.mergeCommit
session.source.scan session.source.oplogTruncated session.source.newWrite session.destination.apply
session.destination.newerTxn session.destination.sentinel session.retryDuringMigration
session.retryAfterMigration
`

// TestEveryPhaseIsDeclaredOrExplained compares the catalog with the list of phases.
func TestEveryPhaseIsDeclaredOrExplained(t *testing.T) {
	absent := failpoint.Absent()
	var known []string
	for _, name := range strings.Fields(phases) {
		known = append(known, name)
		_, here := failpoint.Parse(name)
		i := slices.IndexFunc(absent, func(m failpoint.Missing) bool { return m.Name == name })
		if !here && i < 0 {
			t.Errorf("%s has neither a site nor a reason", name)
		}
	}
	for _, m := range absent {
		if !slices.Contains(known, m.Name) || m.Why == "" {
			t.Errorf(
				"%+v explains the absence of a phase that is not in the list, or gives no reason",
				m,
			)
		}
	}
}

// TestNamesAreUnique: a scenario names a site by its name alone.
func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, in := range failpoint.All() {
		if seen[in.Name] || in.Risk == "" {
			t.Errorf("%s is declared twice, or says no risk", in.Name)
		}
		seen[in.Name] = true
	}
}

// TestSitesOfOtherSystems are registered besides those of the store, and listed by themselves.
func TestSitesOfOtherSystems(t *testing.T) {
	before := len(failpoint.All())
	site := failpoint.Register("other", failpoint.Donor, "other.step", "nothing can go wrong here")
	of := failpoint.Of("other")
	if len(of) != 1 || of[0] != site.Info() || site.Role() != failpoint.Donor ||
		site.String() != "other.step" {
		t.Errorf("the sites of the system are %v", of)
	}
	if _, known := failpoint.Parse("other.step"); !known || len(failpoint.All()) != before {
		t.Error("the site is unknown, or among those of the store")
	}
	defer func() {
		if recover() == nil {
			t.Error("a name was registered twice")
		}
	}()
	failpoint.Register("other", failpoint.Donor, "other.step", "")
}
