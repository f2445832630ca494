package oracle

import (
	"maps"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/histories/trace"
)

// now is the time of a script's line: 10 ms after the one before.
func (s *script) now() int64 { return int64(s.step) * 10_000_000 }

// counted are the counters of a.0 and b.0 after the migration of TestStatistics.
var counted = map[string]map[string]int64{
	"a.0": {
		"countDonorMoveChunkStarted": 1, "countDonorMoveChunkCommitted": 1,
		"countDonorMoveChunkAborted": 0, "countDonorMoveChunkCommitUncertain": 0,
		"totalDonorMoveChunkTimeMillis": 130, "totalDonorChunkCloneTimeMillis": 70,
		"totalCriticalSectionTimeMillis": 30, "totalCriticalSectionCommitTimeMillis": 10,
		"countDocsClonedOnDonor": 1, "countBytesClonedOnDonor": 40,
		"countDocsDeletedByRangeDeleter": 1, "countBytesDeletedByRangeDeleter": 40,
		"unfinishedMigrationFromPreviousPrimary": 0,
	},
	"b.0": {
		"countRecipientMoveChunkStarted": 1, "countRecipientMoveChunkFailed": 0,
		"countDocsClonedOnRecipient": 1, "countBytesClonedOnRecipient": 40,
		"countDocsClonedOnCatchUpOnRecipient": 1, "countBytesClonedOnCatchUpOnRecipient": 40,
		"totalRecipientCriticalSectionTimeMillis": 50,
	},
}

const wholeMove = opening + `
state a.0 m1 - m a b kCreated
state a.0 m1 - m a b kCloning
receive b.0 m1 - m kReady
receive b.0 m1 - m kClone
copy b.0 1 1 c 11 m1
receive b.0 m1 - m kCatchup
copy b.0 1 2 d 12 m1
state a.0 m1 - m a b kCloneCaughtUp
block a.0 m1
state a.0 m1 - m a b kCriticalSection
receive b.0 m1 - m kEnteredCritSec
state a.0 m1 - m a b kCommittingOnConfig
release a.0 m1
end a.0 m1 committed
state a.0 m1 - m a b kDone
receive b.0 m1 - m kDone
clean a.0 1 2 c m1
`

// A counter that is not what the process has done is reported, under the counter's name.
func TestStatistics(t *testing.T) {
	for name, c := range map[string]struct {
		script, node, counter string
		value                 int64
		wrong                 bool
	}{
		"all of a donor":     {wholeMove, "a.0", "", 0, false},
		"all of a recipient": {wholeMove, "b.0", "", 0, false},
		"another node":       {wholeMove, "b.1", "countRecipientMoveChunkStarted", 0, false},
		"not started":        {wholeMove, "a.0", "countDonorMoveChunkStarted", 0, true},
		"not committed":      {wholeMove, "a.0", "countDonorMoveChunkCommitted", 0, true},
		"aborted as well":    {wholeMove, "a.0", "countDonorMoveChunkAborted", 1, true},
		"no time":            {wholeMove, "a.0", "totalDonorMoveChunkTimeMillis", 0, true},
		"no time to clone":   {wholeMove, "a.0", "totalDonorChunkCloneTimeMillis", 0, true},
		"a slow clock":       {wholeMove, "a.0", "totalDonorMoveChunkTimeMillis", 70, false},
		"too long a section": {wholeMove, "a.0", "totalCriticalSectionTimeMillis", 90, true},
		"no section":         {wholeMove, "a.0", "totalCriticalSectionTimeMillis", 0, true},
		"no wait for the commit": {wholeMove, "a.0",
			"totalCriticalSectionCommitTimeMillis", 0, true},
		"nothing given":           {wholeMove, "a.0", "countDocsClonedOnDonor", 0, true},
		"documents without bytes": {wholeMove, "a.0", "countBytesClonedOnDonor", 0, true},
		"two deleted":             {wholeMove, "a.0", "countDocsDeletedByRangeDeleter", 2, true},
		"two received":            {wholeMove, "b.0", "countRecipientMoveChunkStarted", 2, true},
		"failed":                  {wholeMove, "b.0", "countRecipientMoveChunkFailed", 1, true},
		"two cloned":              {wholeMove, "b.0", "countDocsClonedOnRecipient", 2, true},
		"nothing caught up": {wholeMove, "b.0",
			"countDocsClonedOnCatchUpOnRecipient", 0, true},
		"no section of a receiver": {
			wholeMove, "b.0", "totalRecipientCriticalSectionTimeMillis", 0, true,
		},
	} {
		s := script{o: New(nil)}
		s.lines(t, c.script)
		values := maps.Clone(counted[strings.Replace(c.node, ".1", ".0", 1)])
		if c.counter != "" {
			values[c.counter] = c.value
		}
		if strings.HasSuffix(c.node, ".1") {
			values = map[string]int64{c.counter: c.value}
		}
		s.o.Statistics(c.node, values)
		if found := s.o.verdicts[statisticsRule.Name].Violations; c.wrong != (len(found) > 0) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// A batch that the recipient's next primary is answered again was given once: the documents count by
// what they are.
func TestStatisticsOfABatchThatIsAnsweredAgain(t *testing.T) {
	begun := strings.Split(wholeMove, "receive b.0 m1 - m kCatchup")[0]
	for value, right := range map[int64]bool{0: false, 1: true, 2: true} {
		s := script{o: New(nil)}
		s.lines(t, begun+`
receive b.1 m1 - m kReady
receive b.1 m1 - m kClone
copy b.1 2 1 c 11 m1
`)
		s.o.Statistics("a.0", map[string]int64{"countDocsClonedOnDonor": value})
		if found := s.o.verdicts[statisticsRule.Name].Violations; right != (len(found) == 0) {
			t.Errorf("countDocsClonedOnDonor %d: %+v", value, found)
		}
	}
}

// What is under way when a term ends may have been counted or not; a process that has started again
// has counted nothing, and recovers what it did not begin.
func TestStatisticsOfTermsAndProcesses(t *testing.T) {
	begun := strings.Split(wholeMove, "state a.0 m1 - m a b kCloneC")[0]
	for name, c := range map[string]struct {
		add            []*trace.Event
		counter        string
		wrong, correct []int64
	}{
		"an ended migration is counted": {
			[]*trace.Event{donorDone()}, "countDonorMoveChunkAborted", []int64{0, 2}, []int64{1},
		},
		"or not, if the term has ended": {
			[]*trace.Event{donorDone(), trace.SteppedDownEvent{Shard: "a", Term: 1}.Event()},
			"countDonorMoveChunkAborted", []int64{2}, []int64{0, 1},
		},
		"a new process": {
			[]*trace.Event{donorDone(), trace.NodeUpEvent{}.Event()},
			"countDonorMoveChunkStarted", []int64{1}, []int64{0},
		},
		"recovered by another process": {
			[]*trace.Event{trace.NodeUpEvent{}.Event(), trace.MigrationEndedEvent{
				Shard: "a", Migration: "m1", Decision: trace.Aborted, Recovered: true,
			}.Event()},
			"unfinishedMigrationFromPreviousPrimary", []int64{0}, []int64{1, 2},
		},
		"recovered by the same": {
			[]*trace.Event{trace.MigrationEndedEvent{
				Shard: "a", Migration: "m1", Decision: trace.Aborted, Recovered: true,
			}.Event()},
			"unfinishedMigrationFromPreviousPrimary", nil, []int64{0, 1},
		},
	} {
		judge := func(value int64) bool {
			s := script{o: New(nil)}
			s.lines(t, begun)
			for _, e := range c.add {
				s.step++
				e.Step, e.Node, e.At = s.step, "a.0", s.now()
				s.o.Observe(e)
			}
			s.o.Statistics("a.0", map[string]int64{c.counter: value})
			return len(s.o.verdicts[statisticsRule.Name].Violations) == 0
		}
		for _, value := range c.correct {
			if !judge(value) {
				t.Errorf("%s: %s %d is reported", name, c.counter, value)
			}
		}
		for _, value := range c.wrong {
			if judge(value) {
				t.Errorf("%s: %s %d is not reported", name, c.counter, value)
			}
		}
	}
}

func donorDone() *trace.Event {
	return trace.DonorAdvancedEvent{
		Shard: "a", Peer: "b", NS: "test.docs", Min: "\x00", Max: "m", Migration: "m1",
		State: trace.DonorDone,
	}.Event()
}

// TestOutstanding: what a member says that it has still to do is what it has on record.
func TestOutstanding(t *testing.T) {
	for value, wrong := range map[int64]bool{2: false, 1: true} {
		o := New(nil)
		o.OnRecord("a.0", "rangeDeleterTasks", value, 2)
		found := o.verdicts[statisticsRule.Name].Violations
		if wrong != (len(found) > 0) {
			t.Errorf("%d: %+v", value, found)
		}
	}
}

// TestCountedFailures: a migration that has failed for a reason was counted once, no matter which
// server has heard of it, unless the end of a term, or a fault, has come between.
func TestCountedFailures(t *testing.T) {
	failed := trace.AnsweredEvent{Request: "ShardsvrMoveRange", Code: "ChunkTooBig"}
	stale := trace.AnsweredEvent{
		Request: "Find", Code: "StaleConfig", Chunks: []trace.Chunk{{Major: 1}},
	}
	for name, c := range map[string]struct {
		answers   []trace.AnsweredEvent
		deposed   bool
		too, held int64
		wrong     bool
	}{
		"none":                {nil, false, 0, 0, false},
		"one":                 {[]trace.AnsweredEvent{failed}, false, 1, 0, false},
		"one for two":         {[]trace.AnsweredEvent{failed, failed}, false, 1, 0, false},
		"not counted":         {[]trace.AnsweredEvent{failed}, false, 0, 0, true},
		"counted twice":       {[]trace.AnsweredEvent{failed}, false, 2, 0, true},
		"counted for nothing": {nil, false, 1, 0, true},
		"of an earlier term":  {nil, true, 1, 0, false},
		"stale":               {[]trace.AnsweredEvent{stale}, false, 0, 1, false},
		"stale, not counted":  {[]trace.AnsweredEvent{stale}, false, 0, 0, true},
	} {
		o := New(nil)
		events := make([]*trace.Event, len(c.answers))
		for i := range c.answers {
			events[i] = c.answers[i].Event()
		}
		if c.deposed {
			events = append(events, trace.SteppedDownEvent{}.Event())
		}
		for _, e := range events {
			e.Node = "a.0"
			o.Observe(e)
		}
		o.Statistics("a.0", map[string]int64{
			"countDonorMoveChunkTooBig": c.too, "countStaleConfigErrors": c.held,
		})
		found := o.verdicts[statisticsRule.Name].Violations
		if c.wrong != (len(found) > 0) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
