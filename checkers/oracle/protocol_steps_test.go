package oracle

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// followed is a migration with everything that protocol-steps follows. Besides the words of a
// script:
//
//	request NODE MIGRATION MIN MAX FROM TO     knows NODE [MIN MAX MAJOR]
//	reads NODE MIGRATION                       hold|unhold NODE MIGRATION, of a recipient
//	writable NODE
const followed = opening + `
writable a.0
knows a.0 - m 1
request a.0 m1 - m a b
state a.0 m1 - m a b kCreated
state a.0 m1 - m a b kCloning
task a.0 m1 - m pending 0
receive b.0 m1 - m kReady
task b.0 m1 - m pending 0
receive b.0 m1 - m kClone
receive b.0 m1 - m kCatchup
receive b.0 m1 - m kSteady
state a.0 m1 - m a b kCloneCaughtUp
block a.0 m1
state a.0 m1 - m a b kCriticalSection
receive b.0 m1 - m kCommitStart
hold b.0 m1
receive b.0 m1 - m kEnteredCritSec
state a.0 m1 - m a b kCloneCompleted
reads a.0 m1
state a.0 m1 - m a b kCommittingOnConfig
table 1 2 move_m1 -..m=b@2|0<a
majority config.0 1 2
knows a.0
release a.0 m1
receive b.0 m1 - m kExitCritSec
knows b.0 - m 2
unhold b.0 m1
receive b.0 m1 - m kDone
decide a.0 m1 committed
task b.0 m1 - m dropped 1
task a.0 m1 - m ready 1
end a.0 m1 committed
state a.0 m1 - m a b kDone
user b.0 1 1 c 12
`

func TestProtocolSteps(t *testing.T) {
	sent := until(followed, "table 1 2 move_m1 -..m=b@2|0<a")
	for name, c := range map[string]struct{ script, because string }{
		"every step in order": {followed, ""},
		"a primary commits that was deposed, and leads again": {
			strings.Replace(followed, "table 1 2 move_m1 -..m=b@2|0<a\nmajority config.0 1 2\n",
				"elected config.1 2 1 1:1\ntable 1 2 move_m1 -..m=b@2|0<a\n"+
					"elected config.0 3 2 1:2\nmajority config.0 3 2\n", 1), "",
		},
		"the donor gives up its commit and clears what it knows": {
			sent + "knows a.0\nrelease a.0 m1\nstate a.0 m1 - m a b kDone\n", "",
		},
		"the donor gives up its commit and knows as before": {
			sent + "release a.0 m1\n", "still believes to own the range",
		},
		"the donor serves again before it knows what became of its commit": {
			sent + "knows a.0\nrelease a.0 m1\nstate a.0 m1 - m a b kDone\nknows a.0 - m 1\n",
			"has to find out first",
		},
		"a new primary decides behind a fence": {
			sent + "elected a.1 2 1 1:1\ntable 1 2 bump -..m=a@2|0\nmajority config.0 1 2\n" +
				"decide a.1 m1 aborted\n", "",
		},
		"a new primary decides without a fence": {
			sent + "elected a.1 2 1 1:1\ndecide a.1 m1 aborted\n", "coordinator document is not",
		},
		"a donor that has ended is killed": {followed + "state a.0 m1 - m a b kDone\n", ""},
		"a deposed primary does what it likes": {
			sent + "elected a.1 2 1 1:1\nrelease a.0 m1\nuser a.0 1 2 c 13\n" +
				"end a.0 m1 aborted\n", "",
		},
		"a deposed primary of the recipient begins": {
			until(followed, "receive b.0 m1 - m kReady") + "elected b.1 2 1 1:1\n" +
				"receive b.0 m1 - m kReady\nstate a.0 m1 - m a b kCloneCaughtUp\n", "",
		},
		"a donor does not wait for the recipient": {
			until(followed, "receive b.0 m1 - m kReady") + "elected b.1 2 1 1:1\n" +
				"state a.0 m1 - m a b kCloneCaughtUp\n", "never began",
		},
		"a recipient is released too early": {
			sent + "receive b.0 m1 - m kExitCritSec\n", "the outcome is not final",
		},
		"a recipient that was never asked takes over": {
			strings.Replace(sent, "state a.0 m1 - m a b kCriticalSection\n", "", 1),
			"has not blocked writes",
		},
		"a recipient serves what it does not own": {
			sent + "user b.0 1 2 c 13\n", "does not know that it owns the range",
		},
		"a placement that was outdated from the start": {
			strings.Replace(sent, "request ", "table 1 2 bump -..m=a@2|0\nmajority config.0 1 2\n"+
				"request ", 1) + "receive b.0 m1 - m kExitCritSec\n", "",
		},
		"nothing is known of what the donor's primary knew": {
			without(sent, "knows a.0 - m 1") + "release a.0 m1\n", "",
		},
		"the collection is dropped": {
			sent + "table 1 2 drop\nmajority config.0 1 2\nrelease a.0 m1\n", "",
		},
		"a late request makes the recipient begin once more": {
			until(followed, "receive b.0 m1 - m kReady") +
				"elected a.1 2 1 1:1\ntable 1 2 bump -..m=a@2|0\nmajority config.0 1 2\n" +
				"receive b.0 m1 - m kReady\ndecide a.1 m1 aborted\ntask a.1 m1 - m dropped 0\n", "",
		},
		"a deletion ends that never began": {
			followed + "task a.0 m1 - m done 1\n", "deletion begun",
		},
		"a deletion ends that began when its member had been deposed": {
			followed + "elected a.1 2 1 1:1\ntask a.0 m1 - m processing 1\n" +
				"elected a.0 3 1 1:1\ntask a.0 m1 - m done 1\n", "",
		},
		"the range moves on": {
			followed + "table 1 3 move_m2 -..m=c@3|0<b\nmajority config.0 1 3\nknows b.0\n" +
				"user b.0 1 2 c 14\n", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.o.Speaks(migrationmodel.V80)
			for line := range strings.Lines(c.script) {
				if w := strings.Fields(line); len(w) > 0 {
					s.followedLine(t, w)
				}
			}
			broken := s.o.verdicts[protocolRule.Name].Violations
			switch {
			case c.because == "" && len(broken) > 0:
				t.Errorf("%s: %q", broken[0].Broke, broken[0].Because)
			case c.because != "" && (len(broken) == 0 ||
				!strings.Contains(strings.Join(broken[0].Because, "\n"), c.because)):
				t.Errorf("%+v lacks %q", broken, c.because)
			}
		})
	}
}

// followed42 is a migration of 4.2 up to where its donor asks for the commit.
const followed42 = opening + `
knows a.0 - m 1
request a.0 m1 - m a b
state a.0 m1 - m a b kCreated
state a.0 m1 - m a b kCloning
receive b.0 m1 - m kReady
receive b.0 m1 - m kClone
receive b.0 m1 - m kCatchup
receive b.0 m1 - m kSteady
state a.0 m1 - m a b kCloneCaughtUp
block a.0 m1
state a.0 m1 - m a b kCriticalSection
receive b.0 m1 - m kCommitStart
receive b.0 m1 - m kDone
state a.0 m1 - m a b kCloneCompleted
reads a.0 m1
`

// A range that an older migration's late commit has brought to where it was to go is there for its
// own donor, too, in 4.2 (H-21). Without such a commit its donor cannot end as if there were one.
func TestOvertakenCommit(t *testing.T) {
	const end = "release a.0 m1\nstate a.0 m1 - m a b kDone\nend a.0 m1 committed\n"
	for name, c := range map[string]struct {
		script  string
		refused bool
	}{
		"committed by an older migration": {
			"table 1 2 move_m0 -..m=b@2|0<a\nmajority config.0 1 2\n", false,
		},
		"committed by nobody": {"", true},
	} {
		if broken := broken42(t, followed42+c.script+end); (len(broken) > 0) != c.refused {
			t.Errorf("%s: %+v", name, broken)
		}
	}
}

func broken42(t *testing.T, text string) []verdict.Violation {
	s := script{o: New(nil)}
	s.o.Speaks(migrationmodel.V42)
	for line := range strings.Lines(text) {
		if w := strings.Fields(line); len(w) > 0 {
			s.followedLine(t, w)
		}
	}
	return s.o.verdicts[protocolRule.Name].Violations
}

// A shard that lost a range by a late commit may take over, while it gets the range back, what it
// has read before that commit (H-21). One that held its critical section may not.
func TestReadBeforeALateCommit(t *testing.T) {
	const (
		commit = "table 1 2 move_m1 -..m=b@2|0<a\nmajority config.0 1 2\n"
		back   = "knows b.0 - m 2\nrequest b.0 m2 - m b a\nstate b.0 m2 - m b a kCreated\n" +
			"state b.0 m2 - m b a kCloning\nknows a.0 - m 1\n"
	)
	if broken := broken42(t, followed42+"release a.0 m1\n"+commit+back); len(broken) > 0 {
		t.Errorf("after a commit behind its back: %+v", broken)
	}
	if broken := broken42(t, followed42+commit+"release a.0 m1\n"+back); len(broken) == 0 {
		t.Error("after a commit that it waited for: nothing is broken")
	}
}

// followedLine reads a line with the words of followed.
func (s *script) followedLine(t *testing.T, w []string) {
	var e *trace.Event
	shard := shardOf(w[1])
	switch w[0] {
	case "request":
		e = trace.MigrationRequestedEvent{
			Shard: shard, Peer: w[6], NS: "test.docs", Migration: w[2], Min: bound(w[3]),
			Max: bound(w[4]),
		}.Event()
	case "writable":
		e = trace.WritableEvent{Shard: shard, Term: 1}.Event()
	case "knows":
		known := trace.MetadataInstalledEvent{Shard: shard, NS: "test.docs"}
		if len(w) > 2 {
			known.Chunks = []trace.Chunk{{
				Min: bound(w[2]), Max: bound(w[3]), Shard: shard, Major: uint32(num(w[4])),
			}}
		}
		e = known.Event()
	case "reads", "hold", "unhold":
		e = trace.CriticalSectionEvent{
			Shard: shard, NS: "test.docs", Migration: w[2],
			Actor: map[bool]trace.Actor{true: trace.Donor, false: trace.Recipient}[w[0] == "reads"],
			State: map[string]trace.SectionState{
				"reads": trace.ReadsBlocked, "hold": trace.WritesBlocked,
				"unhold": trace.SectionReleased,
			}[w[0]],
		}.Event()
	default:
		s.line(t, w)
		return
	}
	s.step++
	e.Step, e.Node = s.step, w[1]
	s.o.Observe(e)
}
