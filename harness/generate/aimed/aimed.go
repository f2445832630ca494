// Package aimed adds faults to a scenario that do harm only at one moment of a run, or only in
// combination: a message that comes when its receiver has been replaced, a commit that arrives when
// something has begun that relies on its failure, a request that outlives the term of its primary.
//
// Promise: every addition is drawn by questions of its own, so that leaving one out leaves all
// others as they were, except for the numbers of faults.
//
// Refusal: faults that may come at any time and place are drawn elsewhere, from the catalog of
// faults.
package aimed

import (
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Add draws what is added to a scenario that may have faults of any kind. Its clients start their
// operations within the span.
func Add(d keyed.Source, s *scenario.Scenario, span time.Duration) {
	delayOrders(d.Fork(0x7c), s)
	delayRequests(d.Fork(0x8e), s)
	failPrimaries(d.Fork(0x8a), s)
	loseCommits(d.Fork(0xc2), s)
	leaveBehind(d.Fork(0x8b), s)
	repeatToSuccessors(d.Fork(0x8c), s)
	commitLate(d.Fork(0xe1), s, span)
	keepSilent(d.Fork(0x91), s, span)
	holdTasks(d.Fork(0xba), s, span)
	keepLocks(d.Fork(0xb0), s)
	slowCommits(d.Fork(0xb1), s)
	crashRouters(d.Fork(0x93), s, span)
	failSetUps(d.Fork(0xda), s)
	outliveTerms(d.Fork(0xe3), s, span)
	hearNobody(d.Fork(0xe5), s)
	commitToAnother(d.Fork(0xe7), s)
	stopBetween(d.Fork(0xe8), s)
	delayTables(d.Fork(0xee), s)
	repeatLater(d.Fork(0xef), s)
	commandTakeovers(d.Fork(0xf0), s)
	holdAcross(d.Fork(0xf1), s)
	arriveDuringCleanups(d.Fork(0xf2), s)
	scanAcross(d.Fork(0xf4), s)
	watchAcross(d.Fork(0xf5), s)
	returnWider(d.Fork(0xf6), s, span)
	stallCursors(d.Fork(0xf7), s, span)
	recur(d.Fork(0xf8), s)
	commandBetween(d.Fork(0xf9), s)
	slowMajorities(d.Fork(0xfa), s, span)
	failPulls(d.Fork(0xfb), s)
	lookBack(d.Fork(0xfc), s)
	learnReplaced(d.Fork(0xfd), s)
	stopAfterFailure(d.Fork(0x100), s)
	signalLearners(d.Fork(0x101), s)
	undoSteps(d.Fork(0x105), s)
	failToSettle(d.Fork(0x106), s)
}
