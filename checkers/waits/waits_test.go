package waits

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers/quiet"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

const ms = int64(time.Millisecond)

// run has a judge see a.0, whose clock is right, become a primary at 1ms, and then takes the steps.
type run struct {
	*Judge
	record *quiet.Record
	now    int64
	steps  uint64
}

func begin(limits Limits) *run {
	r := &run{record: quiet.New()}
	clock := func(string) time.Duration { return time.Duration(r.now) }
	r.Judge = New(r.record, func() Limits { return limits }, clock)
	r.at(1, trace.ElectedEvent{Shard: "a", Term: 1})
	r.at(1, trace.WritableEvent{Shard: "a", Term: 1})
	return r
}

func (r *run) at(millis int64, what interface{ Event() *trace.Event }) {
	e := what.Event()
	r.steps++
	r.now = millis * ms
	e.Step, e.At, e.Node = r.steps, r.now, "a.0"
	r.record.Observe(e)
	r.Observe(e)
}

func (r *run) section(millis int64, ns string, state trace.SectionState) {
	r.at(millis, trace.CriticalSectionEvent{
		Shard: "a", NS: ns, Actor: trace.Donor, Migration: "m", State: state,
	})
}

func (r *run) refused(millis, arrived int64, request, code string) {
	r.at(millis, trace.AnsweredEvent{
		Peer: "router.0", NS: "test.docs", Request: request, Code: code, Arrived: arrived * ms,
		Chunks: []trace.Chunk{{Major: 1, Epoch: "e"}},
	})
}

// heldUp is the refusal of a request that waited for nothing else.
func (r *run) heldUp(millis, arrived int64, request string) {
	r.Refused(Refusal{
		Node: "a.0", Peer: "router.0", NS: "test.docs", Request: request, Code: "StaleConfig",
		Arrived: arrived * ms,
	}, millis*ms)
}

func (r *run) donor(millis int64, state trace.DonorState) {
	r.at(millis, trace.DonorAdvancedEvent{
		Shard: "a", Peer: "b", NS: "test.docs", Min: "c", Max: "m", Migration: "m", State: state,
	})
}

func (r *run) write(millis int64, index uint64, key string, hash uint64) {
	r.at(millis, trace.AppliedEvent{
		Shard: "a", Term: 1, Index: index, NS: "test.docs", Key: key, DocID: "12345", Hash: hash,
		Actor: trace.User,
	})
}

func (r *run) pause(millis int64, site string) {
	r.at(millis, trace.PointHitEvent{Site: site, Migration: "m"})
}

func (r *run) recipient(millis int64, state trace.RecipientState) {
	r.at(millis, trace.RecipientAdvancedEvent{
		Shard: "a", Peer: "b", NS: "test.docs", Migration: "m", State: state,
	})
}

// judged is what the steps lead to, for each case by its name.
type judged map[string]struct {
	limits Limits
	steps  func(*run)
	want   verdict.Signature
}

func (all judged) test(t *testing.T) {
	t.Helper()
	for name, c := range all {
		r := begin(c.limits)
		c.steps(r)
		v := r.Verdict()
		got := verdict.Signature("")
		if len(v.Violations) > 0 {
			got = v.Violations[0].Signature
		}
		if got != c.want || v.Found > 1 {
			t.Errorf("%s: %q, not %q: %v", name, got, c.want, v.Violations)
		}
	}
}

// TestSections: a refusal behind a critical section comes at its end, or at that of the wait.
func TestSections(t *testing.T) {
	l := Limits{Behind: 200 * time.Millisecond, BehindMost: 200 * time.Millisecond}
	judged{
		"at once": {l, func(r *run) {
			r.section(10, "test.docs", trace.WritesBlocked)
			r.refused(21, 20, "Update", "StaleConfig")
		}, refusedEarly},
		"after the wait": {l, func(r *run) {
			r.section(10, "test.docs", trace.WritesBlocked)
			r.refused(220, 20, "Update", "StaleConfig")
		}, ""},
		"after the wait by a fast clock": {l, func(r *run) {
			r.section(10, "test.docs", trace.WritesBlocked)
			r.refused(180, 20, "Update", "StaleConfig")
		}, ""},
		"a read while only writes are blocked": {l, func(r *run) {
			r.section(10, "test.docs", trace.WritesBlocked)
			r.refused(21, 20, "Find", "StaleConfig")
		}, ""},
		"a read": {l, func(r *run) {
			r.section(10, "test.docs", trace.WritesBlocked)
			r.section(15, "test.docs", trace.ReadsBlocked)
			r.refused(21, 20, "Find", "StaleConfig")
		}, refusedEarly},
		"a section that began later": {l, func(r *run) {
			r.section(20, "test.docs", trace.ReadsBlocked)
			r.refused(21, 20, "Find", "StaleConfig")
		}, ""},
		"a section that has ended": {l, func(r *run) {
			r.section(10, "test.docs", trace.ReadsBlocked)
			r.section(21, "test.docs", trace.SectionReleased)
			r.refused(22, 20, "Find", "StaleConfig")
		}, ""},
		"a section of before the term": {l, func(r *run) {
			r.section(10, "test.docs", trace.ReadsBlocked)
			r.at(12, trace.SteppedDownEvent{Shard: "a", Term: 1})
			r.at(13, trace.ElectedEvent{Shard: "a", Term: 3})
			r.at(14, trace.WritableEvent{Shard: "a", Term: 3})
			r.refused(21, 20, "Find", "StaleConfig")
		}, ""},
		"that of the database": {l, func(r *run) {
			r.section(10, "test", trace.ReadsBlocked)
			r.refused(21, 20, "Find", "StaleDbVersion")
		}, refusedEarly},
		"that of a database, for a sharded collection": {l, func(r *run) {
			r.section(10, "test", trace.ReadsBlocked)
			r.refused(21, 20, "Find", "StaleConfig")
		}, ""},
		"for too long": {l, func(r *run) {
			r.section(10, "test.docs", trace.ReadsBlocked)
			r.section(900, "test.docs", trace.SectionReleased)
			r.heldUp(900, 20, "Find")
		}, heldLong},
		"for no longer": {l, func(r *run) {
			r.section(10, "test.docs", trace.ReadsBlocked)
			r.section(900, "test.docs", trace.SectionReleased)
			r.heldUp(320, 20, "Find")
		}, ""},
		"for long behind another section": {l, func(r *run) {
			r.section(10, "test.docs", trace.ReadsBlocked)
			r.section(90, "test.docs", trace.SectionReleased)
			r.section(100, "test.docs", trace.ReadsBlocked)
			r.heldUp(900, 20, "Find")
		}, ""},
		"for too long on a server that was held up": {l, func(r *run) {
			r.section(10, "test.docs", trace.ReadsBlocked)
			r.pause(30, "request.waitCritSec")
			r.section(900, "test.docs", trace.SectionReleased)
			r.heldUp(900, 20, "Find")
		}, ""},
	}.test(t)
}

// TestDonors: a donor goes on only in time, and with little enough left.
func TestDonors(t *testing.T) {
	l := Limits{
		CatchUp: 100 * time.Millisecond, Lock: 50 * time.Millisecond, Captured: 12, Percent: 10,
		Chunk: 200, LeavesChanges: true,
	}
	exact := l
	exact.Percent = 0
	whole := exact
	whole.LeavesChanges = false
	clones := func(r *run) {
		r.at(10, trace.MigrationRequestedEvent{
			Shard: "a", Peer: "b", NS: "test.docs", Migration: "m",
		})
		r.donor(20, trace.DonorCloning)
		r.Gave("a.0")
	}
	judged{
		"in time": {l, func(r *run) {
			clones(r)
			r.donor(110, trace.DonorCloneCaughtUp)
		}, ""},
		"too late": {l, func(r *run) {
			clones(r)
			r.donor(111, trace.DonorCloneCaughtUp)
		}, caughtUpLate},
		"too late by force": {l, func(r *run) {
			r.Requested("test.docs", 0, true)
			clones(r)
			r.donor(111, trace.DonorCloneCaughtUp)
		}, ""},
		"a lock in time": {l, func(r *run) {
			clones(r)
			r.donor(30, trace.DonorCloneCaughtUp)
			r.pause(31, "donor.lockAcquire")
			r.donor(80, trace.DonorCriticalSection)
		}, ""},
		"a lock too late": {l, func(r *run) {
			clones(r)
			r.donor(30, trace.DonorCloneCaughtUp)
			r.pause(31, "donor.lockAcquire")
			r.donor(90, trace.DonorCriticalSection)
		}, lockedLate},
		"something left": {exact, func(r *run) {
			clones(r)
			r.write(25, 1, "d", 7)
			r.donor(30, trace.DonorCloneCaughtUp)
		}, leftMuch},
		"outside of the range": {exact, func(r *run) {
			clones(r)
			r.write(25, 1, "m", 7)
			r.donor(30, trace.DonorCloneCaughtUp)
		}, ""},
		"something left that the recipient fetches later": {whole, func(r *run) {
			clones(r)
			r.write(25, 1, "d", 7)
			r.donor(30, trace.DonorCloneCaughtUp)
		}, ""},
		"everything handed over": {exact, func(r *run) {
			clones(r)
			r.write(25, 1, "d", 7)
			r.Pulled("a.0")()
			r.donor(30, trace.DonorCloneCaughtUp)
		}, ""},
		"everything being handed over": {exact, func(r *run) {
			clones(r)
			r.write(25, 1, "d", 7)
			r.Pulled("a.0")
			r.donor(30, trace.DonorCloneCaughtUp)
		}, ""},
		"little left": {l, func(r *run) {
			clones(r)
			r.write(25, 1, "d", 7)
			r.donor(30, trace.DonorCloneCaughtUp)
		}, ""},
		"much left": {l, func(r *run) {
			clones(r)
			r.write(25, 1, "d", 7)
			r.write(26, 2, "d", 8)
			r.donor(30, trace.DonorCloneCaughtUp)
		}, leftMuch},
		"much left of a larger chunk": {l, func(r *run) {
			r.Requested("test.docs", 1000, false)
			clones(r)
			r.write(25, 1, "d", 7)
			r.write(26, 2, "d", 8)
			r.donor(30, trace.DonorCloneCaughtUp)
		}, ""},
		"several documents in one entry": {exact, func(r *run) {
			clones(r)
			r.write(25, 1, "d", 0)
			r.write(25, 1, "e", 7)
			r.write(25, 1, "f", 7)
			r.donor(30, trace.DonorCloneCaughtUp)
		}, ""},
		"too much in memory": {whole, func(r *run) {
			clones(r)
			r.write(25, 1, "d", 0)
			r.write(26, 2, "d", 8)
			r.write(27, 3, "d", 0)
			r.donor(30, trace.DonorCloneCaughtUp)
		}, leftMuch},
	}.test(t)
}

// TestRecipients: a recipient enters its critical section in time, or fails.
func TestRecipients(t *testing.T) {
	l := Limits{Enter: 200 * time.Millisecond}
	judged{
		"in time": {l, func(r *run) {
			r.CommitAsked("a.0", 10*ms)
			r.recipient(20, trace.RecipientCommitStart)
			r.recipient(300, trace.RecipientEnteredCritSec)
		}, ""},
		"too late": {l, func(r *run) {
			r.CommitAsked("a.0", 10*ms)
			r.recipient(20, trace.RecipientCommitStart)
			r.recipient(400, trace.RecipientEnteredCritSec)
		}, enteredLate},
		"too late for nobody": {l, func(r *run) {
			answered := r.CommitAsked("a.0", 10*ms)
			r.recipient(20, trace.RecipientCommitStart)
			answered()
			r.recipient(400, trace.RecipientEnteredCritSec)
		}, ""},
		"a server that was held up": {l, func(r *run) {
			r.CommitAsked("a.0", 10*ms)
			r.recipient(20, trace.RecipientCommitStart)
			r.record.Disturbed("a.0", "", 21*ms)
			r.recipient(400, trace.RecipientEnteredCritSec)
		}, ""},
	}.test(t)
}

// TestAnswers: neither write concerns nor cursors live for longer than they may.
func TestAnswers(t *testing.T) {
	l := Limits{Concern: 300 * time.Millisecond, Cursor: 300 * time.Millisecond}
	later := func(r *run, millis int64) { r.write(millis, 99, "z", 1) }
	judged{
		"a concern in time": {l, func(r *run) {
			r.write(10, 1, "d", 7)
			later(r, 400)
			r.Wrote("a.0", "Update", 1, 0)
		}, ""},
		"a concern too late": {l, func(r *run) {
			r.write(10, 1, "d", 7)
			later(r, 420)
			r.Wrote("a.0", "Update", 1, 0)
		}, concernLate},
		"a concern of an entry in the place of another": {l, func(r *run) {
			r.write(10, 1, "d", 7)
			r.at(300, trace.AppliedEvent{
				Shard: "a", Term: 2, Index: 1, NS: "test.docs", Key: "d", DocID: "d", Hash: 8,
			})
			later(r, 420)
			r.Wrote("a.0", "Update", 1, 0)
		}, ""},
		"a concern that names its time": {l, func(r *run) {
			r.write(10, 1, "d", 7)
			later(r, 420)
			r.Wrote("a.0", "Update", 1, time.Second)
		}, ""},
		"a cursor in time": {l, func(r *run) {
			r.CursorOpened("a.0", "c")
			later(r, 400)
			r.CursorAsked("a.0", "c")(true, true)
		}, ""},
		"a cursor too late": {l, func(r *run) {
			r.CursorOpened("a.0", "c")
			later(r, 420)
			r.CursorAsked("a.0", "c")(true, true)
		}, cursorLate},
		"a cursor that is gone": {l, func(r *run) {
			r.CursorOpened("a.0", "c")
			later(r, 420)
			r.CursorAsked("a.0", "c")(false, false)
		}, ""},
		"a cursor that is in use": {l, func(r *run) {
			r.CursorOpened("a.0", "c")
			first := r.CursorAsked("a.0", "c")
			later(r, 420)
			r.CursorAsked("a.0", "c")(false, true)
			first(true, true)
		}, ""},
	}.test(t)
}
