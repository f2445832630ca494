package migration

import (
	"sort"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/statedoc"
)

// migrationRecovery brings a migration that lost its donor, or its donor's certainty, to its end
// (protocol 9.2).
type migrationRecovery struct {
	s       *Service
	record  Coordinator
	release *sectionRelease
	// ordinary: the donor itself gave up, in this term, and only has to clean up behind it.
	ordinary bool
}

// StepUp takes over from an earlier primary: the recipient's critical section is held by a task
// again, and no request is served for a namespace whose migration is undecided. Deciding takes
// other servers, so it goes on behind.
func (s *Service) StepUp(t env.Task) error {
	if err := pass(t, failpoint.RecoveryStepUp, env.Note{}); err != nil {
		return err
	}
	if !s.profile.CoordinatesMigrations() {
		return s.stepUp42(t)
	}
	if err := s.resumeRecipients(t); err != nil {
		return err
	}
	if err := pass(t, failpoint.RecoveryList, env.Note{}); err != nil {
		return err
	}
	left := s.coordinators.All()
	s.shard.Statistics().Unfinished += int64(len(left))
	for _, c := range left {
		if err := pass(t, failpoint.RecoveryClear, env.Note{ID: c.Migration}); err != nil {
			return err
		}
		coll := s.shard.Collection(c.NS)
		coll.Clear()
		coll.BeginRecovery(c.Migration)
	}
	for _, c := range left {
		s.recover(&migrationRecovery{s: s, record: c})
	}
	termScope := s.member.TermScope()
	s.spawnLasting(termScope, "resume range deletions", func(t env.Task) error {
		if err := s.awaitRecovered(t); err != nil {
			return err
		}
		return s.ranges.Resume(t)
	})
	return nil
}

// recover works on an unfinished migration until it is complete, or the term ends. While it is at
// work, no other migration begins here.
func (s *Service) recover(rec *migrationRecovery) {
	c := &rec.record
	if s.recoveries[c.Migration] != nil {
		return
	}
	s.recoveries[c.Migration] = rec
	s.spawnLasting(s.member.TermScope(), "recovery "+c.Migration, func(t env.Task) error {
		if err := rec.run(t); err != nil {
			return err
		}
		delete(s.recoveries, c.Migration)
		s.shard.Collection(c.NS).EndRecovery(c.Migration)
		s.recovered.Broadcast()
		return nil
	})
}

func (s *Service) awaitRecovered(t env.Task) error {
	return s.recovered.WaitFor(t, 0, func() bool { return len(s.recoveries) == 0 && !s.undecided })
}

func (s *Service) recovering() []string {
	ids := make([]string, 0, len(s.recoveries))
	for id := range s.recoveries {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids
}

func (r *migrationRecovery) run(t env.Task) error {
	s, c := r.s, &r.record
	err := s.retryUntil(t, c.Migration, failpoint.RecoveryBarrier, func(t env.Task) error {
		return statedoc.AwaitMajority(t, s.member, s.member.Applied())
	})
	if err != nil {
		return err
	}
	var table *catalog.Table
	if c.Decision == "" {
		err := s.retryUntil(t, c.Migration, failpoint.RecoveryDecide, func(t env.Task) (err error) {
			table, err = r.decide(t)
			return err
		})
		if err != nil {
			return err
		}
	}
	if c.Decision == "" {
		return r.drop(t)
	}
	if r.release == nil {
		r.release = s.launchRelease(c)
	}
	if err := s.retryUntil(t, c.Migration, failpoint.RecoveryComplete, func(t env.Task) error {
		return s.complete(t, c, r.release, !r.ordinary)
	}); err != nil {
		return err
	}
	if table != nil {
		s.shard.Collection(c.NS).Install(table)
	}
	return nil
}

// decide finds out what the config server knows, after no late commit can change it any more. It
// leaves the decision open, and returns no table, when the collection is gone.
func (r *migrationRecovery) decide(t env.Task) (*catalog.Table, error) {
	s, c := r.s, &r.record
	err := inOrder(t, c.Migration,
		step{failpoint.RecoveryEnsureRequest, r.fenceCommit},
		step{failpoint.RecoveryEnsureReply, func(env.Task) error { return nil }},
		step{failpoint.RecoveryRefreshBefore, func(env.Task) error { return nil }})
	if err != nil && !isNamespaceGone(err) {
		return nil, err
	}
	table, err := s.shard.Collection(c.NS).Fetch(t)
	if isNamespaceGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := t.Point(failpoint.RecoveryRefreshAfter, env.Note{ID: c.Migration}); err != nil {
		return nil, err
	}
	if table.Collection().UUID != c.UUID {
		return nil, nil
	}
	c.Decision = r.outcome(table)
	if c.Decision == Committed {
		return table, s.announceMove(t, c, table)
	}
	return table, nil
}

func isNamespaceGone(err error) bool { return errcode.Is(err, errcode.NamespaceNotFound) }

// fenceCommit raises the version of the chunk that the range was part of, so that a commit of the
// old primary that is still in transit is refused. A chunk that was split or merged since has newer
// versions anyway.
func (r *migrationRecovery) fenceCommit(t env.Task) error {
	c := &r.record
	return r.s.tell(t, shard.ConfigSet, &command.EnsureChunkVersionIsGreaterThan{
		NS:      c.NS,
		UUID:    c.UUID,
		Min:     key.Key(c.ChunkMin),
		Max:     key.Key(c.ChunkMax),
		Version: c.Before.version(),
	})
}

// outcome reports whether the migration has committed: the range is elsewhere. It cannot have come
// back since: a migration that would bring it here waits for the range deletion task of this
// migration, which exists until the migration is decided. The history of the chunk would be no
// witness: a merge with a later neighbour dates it again (protocol 13.4).
func (r *migrationRecovery) outcome(table *catalog.Table) Decision {
	if table.Owner(key.Key(r.record.Min)).Shard == r.record.Donor {
		return Aborted
	}
	return Committed
}

// drop forgets a migration of a collection that is gone, on both sides.
func (r *migrationRecovery) drop(t env.Task) error {
	s, c := r.s, &r.record
	if r.release == nil {
		r.release = s.launchRelease(c)
	}
	return s.retryUntilOn(t, c,
		retriedStep{failpoint.RecoveryDropDetected, r.release.wait},
		retriedStep{failpoint.DonorBumpTxn, func(t env.Task) error { return s.fence(t, c) }},
		retriedStep{failpoint.DonorDeleteTheirTask, func(t env.Task) error {
			return s.theirTask(t, c, "delete")
		}},
		retriedStep{failpoint.DonorAbortLocalTask, func(t env.Task) error {
			_, err := s.ranges.Drop(t, c.task())
			return err
		}},
		retriedStep{failpoint.DonorForgetBefore, func(t env.Task) error {
			_, err := s.member.Write(t, s.coordinators.Remove(c.Migration))
			return err
		}})
}
