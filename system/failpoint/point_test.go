package failpoint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/system/failpoint"
)

// phases are the phases of every role that this project models (failpoints 18.2). A name with parentheses stands for several.
const phases = `
d.register d.joinExisting d.preRefresh d.drainPendingRecovery d.computeBound d.checkPreconditions d.waitOverlappingRangeDeletion
d.changelogStart d.attachCloner(before,after) d.prepareConflictBarrier d.coordinatorInsert(before,afterLocal,afterMajority)
d.rangeDeletionInsert(before,afterLocal,afterMajority) d.sessionSourceInit d.scanRecordIds d.sendRecvStart d.afterRecvStart
d.firstChunkCheck d.statusPoll d.memoryCheck d.beforeCritSec d.lockAcquire d.critSecWritesBlocked d.secondarySignal d.minOpTimeInc
d.sendRecvCommit d.afterRecvCommit d.queuesDrained d.blockReads d.buildCommit d.sendConfigCommit d.configCommitReply
d.launchRecipientRelease d.postCommitRefresh d.cacheFlush d.changeStreamNoop d.setDecision d.leaveCritSec d.minOpTimeDec
d.cancelClone d.durableConfigTime d.persistDecision(before,after) d.waitRecipientRelease d.bumpTxn d.fetchNumOrphans
d.deleteRecipientTask d.queryDrainFuture d.registerTask d.markReady d.forget(before,after,rollback) d.changelogCommit d.waitForDelete
d.abortPath(persist,deleteLocalTask,bumpTxn,readyRecipientTask) d.serve.migrateClone
d.serve.transferMods(deferred,splice,read,pushback) d.serve.sessionMods d.opCapture(insert,update,delete,txnCommit,preparedCommit)
r.recvStart r.register r.sessionCheckout r.waitOverlap r.createCollection r.createIndexes r.taskInsert(before,local,majority)
r.stateClone r.fetch r.insert r.numOrphansInc r.cloneDone r.catchupFetch r.applyDeletes r.betweenDeletesAndReloads r.applyReloads
r.replWait r.majorityBeforeSteady r.steadyTransition r.steadyFetch r.recvCommit(before,after) r.finalFetch r.finalFlush
r.sessionFetch r.sessionApply r.sessionDrained1 r.sessionDrained2 r.sessionJoin r.recoveryDocInsert r.critSecAcquire
r.enteredCritSec r.replyToCommit r.waitRelease r.recvRelease r.refresh r.refreshFail r.critSecRelease r.cacheFlush
r.durableConfigTime r.recoveryDocDelete r.done r.abort r.fail
c.moveRequest c.migrationsDocInsert c.distLock c.sendMove
c.commit(lock,readShard,readColl,readChunk,checkVersion,pickValidAfter,trimHistory,controlChunk,txnWrite,afterLocalWrite,majority,reply,duplicateRequest)
c.ensureVersion(before,after) c.splitCommit c.mergeCommit c.setAllowMigrations(bump,join) c.stepUp.recoverMigrations c.stepDown
c.removeShard(startDrain,checkEmpty,remove) c.addShard c.zoneUpdate
m.target m.attachVersion m.send m.onStale m.refresh(start,joinExisting,apply,inconsistent,retry) m.retry m.partialBatch
m.cursorEstablish m.getMore m.txn(firstStmt,addParticipant,pickConflictTime,staleRetry,commitSingle,commit2PC) m.broadcastMulti
m.changeStream(open,newShard,merge,resume)
q.versionCheck q.waitCritSec q.acquireSnapshot q.takeFilter q.yield q.restore q.preCommitRecheck q.commit q.replyLost q.retryLookup
q.sec(refreshViaPrimary,applyInvalidate,read)
g.registerTask g.pendingCleared g.waitQueries g.delay g.enqueue g.markProcessing g.checkDocExists g.checkOwnership
g.batch(before,after) g.writeConflict g.majority g.updateNumOrphans g.removeDoc g.stepDown g.stepUp.resubmit g.conflictWithIncoming
g.dropCollection g.renameCollection g.cleanupOrphaned
v.stepUpBegin v.majorityBarrier v.listDocs v.clearMetadata v.ensureVersion(request,reply) v.refresh(request,reply) v.decide
v.dropDetected v.complete v.recipientStepUp(register,critSec) v.secondStepDownDuringRecovery v.newMigrationDuringRecovery
v.configUnavailable v.rollback
b.roundBegin b.loadSettings b.windowCheck b.stats b.selectDrain b.selectZone b.selectLoad b.enqueue b.dispatch b.result
b.splitOrJumbo b.roundEnd b.sleep b.stop b.stepDown b.stepUp
s.autoSplitScan s.pickPoints s.tailRebalance s.topChunk s.autoMerge s.concurrentWithMove s.sendCommit s.commitReplyLost s.refreshAfter s.mergeCommit
x.source(scan,oplogTruncated,newWrite) x.dest(apply,conflictHigherTxn,sentinel) x.retryDuringMigration x.retryAfterMigration
`

// expand turns a(b,c) into a.b and a.c.
func expand(word string) []string {
	base, list, several := strings.Cut(strings.TrimSuffix(word, ")"), "(")
	if !several {
		return []string{word}
	}
	var all []string
	for _, end := range strings.Split(list, ",") {
		all = append(all, base+"."+end)
	}
	return all
}

// TestEveryPhaseIsDeclaredOrExplained compares the catalogue with the list of phases.
func TestEveryPhaseIsDeclaredOrExplained(t *testing.T) {
	absent := failpoint.Absent()
	var known []string
	for _, word := range strings.Fields(phases) {
		for _, name := range expand(word) {
			known = append(known, name)
			_, here := failpoint.Parse(name)
			i := slices.IndexFunc(absent, func(m failpoint.Missing) bool { return m.Name == name })
			if !here && i < 0 {
				t.Errorf("%s has neither a site nor a reason", name)
			}
		}
	}
	for _, m := range absent {
		if !slices.Contains(known, m.Name) || m.Why == "" {
			t.Errorf("%+v explains the absence of a phase that nobody asked for, or explains nothing", m)
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
	if len(of) != 1 || of[0] != site.Info() || site.Role() != failpoint.Donor || site.String() != "other.step" {
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
