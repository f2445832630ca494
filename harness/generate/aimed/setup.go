package aimed

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// setUpShare is how many percent of the seeds with migrations have one of them fail while its
// recipient sets it up, and made once more; three times as many if there are indexes to make.
const setUpShare = 12

// settingUp is where a recipient has made a part of what it needs before the first document comes.
var settingUp = []failpoint.Site{
	failpoint.RecipientRegister, failpoint.RecipientCheckout, failpoint.RecipientWaitOverlap,
	failpoint.RecipientCreate, failpoint.RecipientIndexes, failpoint.RecipientIndexes,
	failpoint.RecipientTaskBefore, failpoint.RecipientTaskLocal, failpoint.RecipientTaskMajority,
	failpoint.RecipientNotePending, failpoint.RecipientStateClone,
}

// failSetUps has a migration fail while its recipient sets it up, and made once more: the second
// one finds a part of what it needs.
func failSetUps(own keyed.Source, s *scenario.Scenario) {
	share := setUpShare
	if slices.ContainsFunc(s.Ops, func(o scenario.Op) bool {
		return o.Kind == scenario.CreateIndex
	}) {
		share *= 3
	}
	if len(s.Migrations) == 0 || !own.Chance("fails", share) {
		return
	}
	i := own.IntN("which", min(3, len(s.Migrations)))
	again := s.Migrations[i]
	again.ID = s.NextMigration()
	again.At += time.Duration(40+own.IntN("again", 300)) * time.Millisecond
	s.Migrations = append(s.Migrations, again)
	f := scenario.Fault{
		Kind: keyed.Pick(own, "kind", "error", "error", "stepdown", "crash"),
		When: scenario.Trigger{
			Site: settingUp[own.IntN("site", len(settingUp))].String(),
			Nth:  max(1, i+1-own.IntN("pass", 2)),
		},
	}
	switch f.Kind {
	case "crash":
		f.Target, f.For = "recipient.primary", time.Duration(10+own.IntN("down", 200))*time.Millisecond
	case "stepdown":
		f.Target = "recipient.primary"
	}
	s.AddFaults(f)
}
