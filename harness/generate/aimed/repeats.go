package aimed

import (
	"strconv"
	"time"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

const (
	// repeatShare is how many percent of the seeds with faults of several kinds have copies of
	// messages that come at a later step; during afterTerm percent of these steps a primary is
	// deposed.
	repeatShare, afterTerm = 18, 60
	// longestKept is how long a copy is kept at most when its step does not come.
	longestKept = 3 * time.Second
)

// stepsOf are the roles whose steps a copy may meet, by how likely.
var stepsOf = map[failpoint.Role]int{
	failpoint.Donor: 2, failpoint.Recipient: 1, failpoint.Recovery: 1, failpoint.Session: 1,
	failpoint.Config: 1, failpoint.RangeDeleter: 1,
}

// repeatLater keeps copies of messages until some step is reached. One class of messages is as
// likely as another, be it sent often or once. Most of the time the task at that step waits, and
// the primary of one of the parties is deposed, half of the time to be elected again: in a new
// term, the copy is a message of an earlier one.
func repeatLater(own keyed.Source, s *scenario.Scenario) {
	if !own.Chance("repeats", repeatShare) {
		return
	}
	classes := append(faults.ControlMessages(), faults.AdministrationMessages()...)
	for i := range 2 + own.IntN("how many", 3) {
		each := own.Fork(uint64(i))
		step := scenario.Trigger{Site: stepOf(each, s), Nth: keyed.Pick(each, "pass", 1, 1, 2, 3)}
		class := keyed.One(each.IntN, "class", classes...)
		copied := lateCopies(class, keyed.Pick(each, "count", 2, 8, 30), step)
		copied.Args = append(copied.Args, scenario.Setting{
			Name: "skip", Value: strconv.Itoa(keyed.Pick(each, "skip", 0, 0, 1, 2)),
		})
		if !each.Chance("deposed", afterTerm) {
			copied.Until.After = time.Duration(each.IntN("after", 100)) * time.Millisecond
			s.AddFaults(copied)
			continue
		}
		party := keyed.Pick(each, "party", "recipient.primary", "recipient.primary",
			"donor.primary", "config.primary")
		deposed, comes := deposeMeanwhile(each, step, party)
		copied.Until.After = comes
		s.AddFaults(copied, deposed)
	}
}

// lateCopies keeps copies of the first messages of a class until a step is reached.
func lateCopies(class string, count int, step scenario.Trigger) scenario.Fault {
	return scenario.Fault{
		Kind: "duplicate", Target: "*>*",
		Args: []scenario.Setting{
			{Name: "messages", Value: class}, {Name: "copy", Value: "held"},
			{Name: "count", Value: strconv.Itoa(count)},
		},
		For: longestKept, Until: &step,
	}
}

// stepOf is a failpoint of one of the roles that the scenario has.
func stepOf(own keyed.Source, s *scenario.Scenario) string {
	in := keyed.Choose(own.IntN, "step", failpoint.All(), func(in failpoint.Info) (string, int) {
		weight := stepsOf[in.Role]
		if in.Role == failpoint.MovePrimary && len(s.Primaries) > 0 {
			weight = 2
		}
		return in.Name, weight
	})
	return in.Name
}

// deposeMeanwhile has the task at a step wait while the primary of a party is deposed. Copies that
// come so long after the step find its successor, or the same member in a new term.
func deposeMeanwhile(
	own keyed.Source, step scenario.Trigger, party string,
) (deposed scenario.Fault, comes time.Duration) {
	still := time.Duration(500+own.IntN("still", 1000)) * time.Millisecond
	ending := keyed.Pick(own, "ending", "again", "again", "crash", "stepdown")
	return scenario.Fault{
		Kind: "stale-task", When: step, For: still,
		Args: []scenario.Setting{
			{Name: "party", Value: party}, {Name: "ending", Value: ending},
		},
	}, still * time.Duration(30+own.IntN("comes", 65)) / 100
}
