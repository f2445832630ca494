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
	// longestRepeat is how long a copy is kept at most when its step does not come.
	longestRepeat = 2 * time.Second
)

// stepsOf are the roles whose steps a copy may meet.
var stepsOf = []failpoint.Role{
	failpoint.Donor, failpoint.Donor, failpoint.Recipient, failpoint.Recovery, failpoint.Session,
	failpoint.Config, failpoint.RangeDeleter,
}

// repeatLater keeps copies of messages until some step is reached. One class of messages is as
// likely as another, be it sent often or once, and one step as likely as another. Most of the time
// the task at that step waits, and the primary of one of the parties is deposed, half of the time
// to be elected again: in a new term, the copy is a message of an earlier one.
func repeatLater(own keyed.Source, s *scenario.Scenario) {
	if !own.Chance("repeats", repeatShare) {
		return
	}
	classes := append(faults.ControlMessages(), faults.AdministrationMessages()...)
	for i := range 2 + own.IntN("how many", 3) {
		each := own.Fork(uint64(i))
		site := stepOf(each, s)
		meets := scenario.Trigger{
			Site: site, Nth: keyed.Pick(each, "pass", 1, 1, 2, 3),
			After: time.Duration(each.IntN("after", 100)) * time.Millisecond,
		}
		s.AddFaults(scenario.Fault{
			Kind: "duplicate", Target: "*>*",
			Args: []scenario.Setting{
				{Name: "messages", Value: classes[each.IntN("class", len(classes))]},
				{Name: "copy", Value: "held"},
				{Name: "count", Value: strconv.Itoa(keyed.Pick(each, "count", 2, 8, 30))},
				{Name: "skip", Value: strconv.Itoa(keyed.Pick(each, "skip", 0, 0, 1, 2))},
			},
			For: longestRepeat, Until: &meets,
		})
		if each.Chance("reign", afterTerm) {
			s.AddFaults(deposeMeanwhile(each, meets))
		}
	}
}

// stepOf is a failpoint of one of the roles that the scenario has.
func stepOf(own keyed.Source, s *scenario.Scenario) string {
	roles := stepsOf
	if len(s.Primaries) > 0 {
		roles = append(roles[:len(roles):len(roles)], failpoint.MovePrimary, failpoint.MovePrimary)
	}
	role := roles[own.IntN("role", len(roles))]
	var sites []string
	for _, in := range failpoint.Catalog() {
		if in.Role == role && in.System == "" {
			sites = append(sites, in.Name)
		}
	}
	return sites[own.IntN("site", len(sites))]
}

// deposeMeanwhile has the task at the step of a copy wait until the copy has come, while a primary
// is deposed.
func deposeMeanwhile(own keyed.Source, step scenario.Trigger) scenario.Fault {
	still := step.After + time.Duration(300+own.IntN("still", 700))*time.Millisecond
	step.After = 0
	party := keyed.Pick(own, "party", "recipient.primary", "recipient.primary", "donor.primary",
		"config.primary")
	ending := keyed.Pick(own, "ending", "again", "again", "crash", "stepdown")
	return scenario.Fault{
		Kind: "stale-task", When: step, For: still,
		Args: []scenario.Setting{
			{Name: "party", Value: party}, {Name: "ending", Value: ending},
		},
	}
}
