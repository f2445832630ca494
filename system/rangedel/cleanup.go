package rangedel

import (
	"slices"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
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
// that are added meanwhile are not waited for: under steady migrations that would never end, nor
// any where range deletion is disabled.
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
	if err := r.disabled(len(waitFor) > 0); err != nil {
		return err
	}
	for _, f := range waitFor {
		err := r.changed.WaitFor(t, 0, func() bool { return r.gone(f) || !r.member.IsPrimary() })
		if err != nil {
			return err
		}
	}
	return lead.AwaitMajority(t)
}

// awaitDeletion waits for whatever deletes in a range (command.AwaitRangeDeletion). In 4.2 that is
// what this primary was asked for.
func (r *Service) awaitDeletion(
	t env.Task, _ env.NodeID, req *command.AwaitRangeDeletion,
) (*command.Done, error) {
	lead, err := r.member.Lead()
	if err != nil {
		return nil, err
	}
	rng := key.Range{Min: req.Min, Max: req.Max}
	if err := r.disabled(r.overlaps(req.UUID, rng)); err != nil {
		return nil, err
	}
	err = r.changed.WaitFor(t, 0, func() bool {
		return lead.Err() != nil || !r.overlaps(req.UUID, rng) &&
			!slices.ContainsFunc(r.sweeps, func(w *rangeSweep) bool {
				return w.UUID == req.UUID && w.Range().Overlaps(rng)
			})
	})
	if err != nil {
		return nil, err
	}
	return &command.Done{}, lead.AwaitMajority(t)
}

func (r *Service) gone(f For) bool {
	_, exists := r.Get(f)
	return !exists
}
