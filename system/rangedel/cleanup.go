package rangedel

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

func (r *Service) cleanupOrphaned(
	t env.Task, _ env.NodeID, req *command.CleanupOrphaned,
) (*command.CleanedUp, error) {
	if err := r.member.NeedPrimary(); err != nil {
		return nil, err
	}
	if err := t.Point(failpoint.RangeCleanupOrphaned, env.Note{ID: req.NS}); err != nil {
		return nil, err
	}
	if r.shard.Profile().PersistsRangeDeletions() {
		return &command.CleanedUp{}, r.awaitTasks(t, req.NS)
	}
	return r.sweepNext(t, req)
}

// awaitTasks waits until every task of the namespace that exists now is done (protocol 10.5). Tasks
// that are added meanwhile are not waited for: under steady migrations that would never end.
func (r *Service) awaitTasks(t env.Task, ns string) error {
	lead, err := r.member.Lead()
	if err != nil {
		return err
	}
	var waitFor []For
	for _, k := range r.tasks.All() {
		if k.NS == ns {
			waitFor = append(waitFor, k.For())
		}
	}
	for _, f := range waitFor {
		err := r.changed.WaitFor(t, 0, func() bool { return r.gone(f) || !r.member.IsPrimary() })
		if err != nil {
			return err
		}
	}
	return lead.AwaitMajority(t)
}

func (r *Service) gone(f For) bool {
	_, exists := r.Get(f)
	return !exists
}
