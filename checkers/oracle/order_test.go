package oracle

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// ordered is a flawless migration with all states of both sides.
const ordered = opening + `
state a.0 m1 - m a b kCreated
state a.0 m1 - m a b kCloning
task a.0 m1 - m pending 0
receive b.0 m1 - m kReady
task b.0 m1 - m pending 0
receive b.0 m1 - m kClone
copy b.0 1 1 c 11 m1
majority b.0 1 1
receive b.0 m1 - m kCatchup
receive b.0 m1 - m kSteady
state a.0 m1 - m a b kCloneCaughtUp
block a.0 m1
state a.0 m1 - m a b kCriticalSection
receive b.0 m1 - m kCommitStart
receive b.0 m1 - m kEnteredCritSec
state a.0 m1 - m a b kCloneCompleted
state a.0 m1 - m a b kCommittingOnConfig
table 1 2 move_m1 -..m=b@2|0<a
majority config.0 1 2
receive b.0 m1 - m kExitCritSec
decide a.0 m1 committed
receive b.0 m1 - m kDone
task b.0 m1 - m dropped 1
task a.0 m1 - m ready 1
end a.0 m1 committed
release a.0 m1
state a.0 m1 - m a b kDone
`

// without is the script without a line.
func without(script, line string) string { return strings.Replace(script, line+"\n", "", 1) }

// until is the script up to a line, without it.
func until(script, line string) string {
	before, _, found := strings.Cut(script, line+"\n")
	if !found {
		panic("no line " + line)
	}
	return before
}

// after is the script behind a line.
func after(script, line string) string { return script[len(until(script, line))+len(line)+1:] }

func TestOrder(t *testing.T) {
	back := ordered + "clean a.0 1 2 c m1\ntask a.0 m1 - m done 0\nuser b.0 1 2 d 12\n"
	for name, c := range map[string]struct {
		script    string
		signature verdict.Signature
	}{
		"in order": {ordered, ""},
		"the donor skips a state": {
			without(ordered, "state a.0 m1 - m a b kCloneCaughtUp"), stateSkipped,
		},
		"the donor gives up": {
			until(ordered, "state a.0 m1 - m a b kCriticalSection") +
				"state a.0 m1 - m a b kDone\n", "",
		},
		"the recipient skips a state": {
			without(ordered, "receive b.0 m1 - m kSteady"), stateSkipped,
		},
		"the recipient's successor goes on": {
			until(ordered, "state a.0 m1 - m a b kCloneCompleted") + "elected b.1 2 1 1:1\n" +
				"receive b.1 m1 - m kCommitStart\nreceive b.1 m1 - m kEnteredCritSec\n" +
				strings.ReplaceAll(after(ordered, "receive b.0 m1 - m kEnteredCritSec"),
					"b.0", "b.1"), "",
		},
		"a donor goes on that does not know that it is deposed": {
			until(ordered, "state a.0 m1 - m a b kCriticalSection") + "elected a.1 2 1 1:1\n" +
				"state a.0 m1 - m a b kCriticalSection\nreceive b.0 m1 - m kCommitStart\n" +
				"receive b.0 m1 - m kEnteredCritSec\n", "",
		},
		"the recipient has not answered": {
			without(ordered, "receive b.0 m1 - m kEnteredCritSec"), stateTooEarly,
		},
		"the recipient starts before the donor captures": {
			strings.Replace(without(ordered, "receive b.0 m1 - m kReady"),
				"state a.0 m1 - m a b kCloning\n",
				"receive b.0 m1 - m kReady\nstate a.0 m1 - m a b kCloning\n", 1), stateTooEarly,
		},
		"released while the outcome is open": {
			until(ordered, "table 1 2 move_m1 -..m=b@2|0<a") + "receive b.0 m1 - m kExitCritSec",
			stateTooEarly,
		},
		"committed without a complete clone": {
			until(ordered, "state a.0 m1 - m a b kCloneCompleted") +
				"table 1 2 move_m1 -..m=b@2|0<a", stateTooEarly,
		},
		"aborted while the outcome is open": {
			until(ordered, "table 1 2 move_m1 -..m=b@2|0<a") + "decide a.0 m1 aborted",
			abortedTooEarly,
		},
		"aborted behind a newer version": {
			until(ordered, "table 1 2 move_m1 -..m=b@2|0<a") +
				"table 1 2 ensureNewer -..m=a@2|0\nmajority config.0 1 2\ndecide a.0 m1 aborted",
			"",
		},
		"ready before the decision": {
			until(ordered, "decide a.0 m1 committed") + "task a.0 m1 - m ready 1", taskTooEarly,
		},
		"ready by a deposed primary that has aborted": {
			until(ordered, "table 1 2 move_m1 -..m=b@2|0<a") +
				"elected a.1 2 1 1:1\ndecide a.0 m1 aborted\ntask b.0 m1 - m ready 1", "",
		},
		"ready by a deposed primary that has committed": {
			until(ordered, "table 1 2 move_m1 -..m=b@2|0<a") +
				"elected a.1 2 1 1:1\ndecide a.0 m1 committed\ntask b.0 m1 - m ready 1", taskTooEarly,
		},
		"ready where the range stays": {
			until(ordered, "task b.0 m1 - m dropped 1") + "task b.0 m1 - m ready 1", taskTooEarly,
		},
		"ended with the recipient's task": {
			without(ordered, "task b.0 m1 - m dropped 1"), endedTooEarly,
		},
		"ended before the donor's task is ready": {
			without(ordered, "task a.0 m1 - m ready 1"), endedTooEarly,
		},
		"moved back after the deletion": {
			back + "state b.0 m2 - m b a kCloning\nreceive a.0 m2 - m kReady\n" +
				"receive a.0 m2 - m kClone", "",
		},
		"moved back before the deletion": {
			ordered + "state b.0 m2 - m b a kCloning\nreceive a.0 m2 - m kReady\n" +
				"receive a.0 m2 - m kClone", overlapIgnored,
		},
		"the task was rolled back while the donor had everything copied inside its section": {
			until(ordered, "receive b.0 m1 - m kClone") + "state a.0 m1 - m a b kCloneCaughtUp\n" +
				"elected b.1 2 1 1:1\nstate a.0 m1 - m a b kDone\ndecide a.0 m1 aborted\n" +
				"task a.0 m1 - m dropped 0\nend a.0 m1 aborted\n" +
				"state a.0 m2 - m a b kCloning\nreceive b.1 m2 - m kReady\n" +
				"receive b.1 m2 - m kClone", "",
		},
		"the task was rolled back": {
			until(ordered, "receive b.0 m1 - m kReady") + "elected a.1 2 1 1:1\n" +
				"state a.1 m2 - m a b kCloning", "",
		},
	} {
		t.Run(name, func(t *testing.T) { expectSignature(t, observe(t, c.script), c.signature) })
	}
}

// A movePrimary goes through its phases, and the catalog follows in one of them only.
func TestOrderOfPhases(t *testing.T) {
	const all = "clone catchup enterCriticalSection commit WRITE exitCriticalSection clean done"
	for name, c := range map[string]struct {
		phases    string
		signature verdict.Signature
	}{
		"in order":       {all, ""},
		"taken up again": {strings.Replace(all, "commit", "commit commit", 1), ""},
		"undone":         {"clone catchup clone aborted", ""},
		"without catch-up": {
			strings.Replace(all, "catchup enterCriticalSection ", "", 1), stateSkipped,
		},
		"cleaned too soon": {"clone catchup clean", stateSkipped},
		"written too soon": {"clone catchup WRITE", stateTooEarly},
		"written for a deposed primary": {
			"clone DEPOSED catchup enterCriticalSection commit WRITE", "",
		},
		"written too soon for a deposed one": {"clone DEPOSED catchup WRITE", stateTooEarly},
		"ended twice":                        {all + " done", stateSkipped},
		"goes on after it was given up":      {"clone catchup clone aborted clone", stateSkipped},
	} {
		o := observe(t, opening+"database 1 3 founding -..+=a@1|0\nmajority config.0 1 3")
		for i, word := range strings.Fields(c.phases) {
			phase, _ := trace.ParsePrimaryMovePhase(word)
			node, e := "a.0", trace.PrimaryMovingEvent{
				Shard: "a", Peer: "b", NS: "test", Migration: "p1", Phase: phase,
			}.Event()
			switch word {
			case "DEPOSED":
				node, e = "a.1", trace.ElectedEvent{Shard: "a", Term: 9}.Event()
			case "WRITE":
				node, e = "config.0",
					table("test", strings.Fields("database 1 4 movePrimary_p1 -..+=b@2|0"))
			}
			e.Step, e.Node = uint64(100+i), node
			o.Observe(e)
		}
		t.Run(name, func(t *testing.T) { expectSignature(t, o, c.signature) })
	}
}
