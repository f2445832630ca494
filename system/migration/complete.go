package migration

import (
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/changestream"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/statedoc"
)

// complete carries out a decision on both sides (protocol 9.1). Every step is idempotent and
// repeated until it succeeds or the term ends; a successor begins again at the first.
func (s *Service) complete(t env.Task, c *Coordinator, r *sectionRelease, byRecovery bool) error {
	if r == nil {
		r = s.launchRelease(c)
	}
	err := s.retryUntil(t, c.Migration, failpoint.DonorConfigTime, s.shard.PersistConfigTime)
	if err != nil {
		return err
	}
	if c.Decision == Committed {
		err = s.completeCommit(t, c, r)
	} else {
		err = s.completeAbort(t, c, r)
	}
	if err != nil {
		return err
	}
	if err := s.forget(t, c); err != nil {
		return err
	}
	ended := trace.MigrationEndedEvent{
		Shard:     s.shard.Name(),
		Migration: c.Migration,
		Decision:  c.Decision.made(),
		Recovered: byRecovery,
	}
	s.node.Emit(ended.Event())
	return nil
}

// retriedStep is a step that is taken until it succeeds.
type retriedStep = step

func (s *Service) retryUntilOn(t env.Task, c *Coordinator, steps ...retriedStep) error {
	for _, st := range steps {
		if err := s.retryUntil(t, c.Migration, st.site, st.do); err != nil {
			return err
		}
	}
	return nil
}

// completeCommit: the recipient keeps the range, the donor's copy is to be deleted.
func (s *Service) completeCommit(t env.Task, c *Coordinator, r *sectionRelease) error {
	return s.retryUntilOn(t, c,
		retriedStep{failpoint.DonorPersistBefore, func(t env.Task) error {
			return s.persistDecision(t, c)
		}},
		retriedStep{failpoint.DonorPersistAfter, func(env.Task) error { return nil }},
		retriedStep{failpoint.DonorWaitRelease, r.wait},
		retriedStep{failpoint.DonorBumpTxn, func(t env.Task) error { return s.fence(t, c) }},
		retriedStep{failpoint.DonorFetchOrphans, func(t env.Task) error {
			return s.takeOverOrphans(t, c)
		}},
		retriedStep{failpoint.DonorDeleteTheirTask, func(t env.Task) error {
			return s.theirTask(t, c, "delete")
		}},
		retriedStep{failpoint.DonorQueryDrain, func(env.Task) error { return nil }},
		retriedStep{failpoint.DonorRegisterTask, func(env.Task) error { return nil }},
		retriedStep{failpoint.DonorMarkReady, func(t env.Task) error {
			_, err := s.ranges.Ready(t, c.task())
			return err
		}})
}

// completeAbort: the donor keeps the range, the recipient's partial copy is to be deleted. Only the
// fence guarantees that the recipient has finished with the migration, so that the donor's range
// deletion is not dropped before.
func (s *Service) completeAbort(t env.Task, c *Coordinator, r *sectionRelease) error {
	return s.retryUntilOn(t, c,
		retriedStep{failpoint.DonorAbortPersist, func(t env.Task) error {
			return s.persistDecision(t, c)
		}},
		retriedStep{failpoint.DonorWaitRelease, r.wait},
		retriedStep{failpoint.DonorAbortBumpTxn, func(t env.Task) error { return s.fence(t, c) }},
		retriedStep{failpoint.DonorAbortLocalTask, func(t env.Task) error {
			_, err := s.ranges.Drop(t, c.task())
			return err
		}},
		retriedStep{failpoint.DonorAbortReady, func(t env.Task) error {
			return s.theirTask(t, c, "ready")
		}})
}

// persistDecision makes the decision majority-committed. A record that is gone would mean that
// another task has completed the migration; nobody does.
func (s *Service) persistDecision(t env.Task, c *Coordinator) error {
	kept, ok := s.coordinators.Get(c.Migration)
	if !ok { // it was never written: the migration failed before
		return statedoc.AwaitMajority(t, s.member, s.member.Applied())
	}
	s.node.Assert(kept.Decision == "" || kept.Decision == c.Decision,
		"migration %s is %s on record and now %s", c.Migration, kept.Decision, c.Decision)
	if kept.Decision == "" {
		if _, err := s.member.Write(t, s.coordinators.Put(c.Migration, *c)); err != nil {
			return err
		}
	}
	if err := statedoc.AwaitMajority(t, s.member, s.member.Applied()); err != nil {
		return err
	}
	s.node.Emit(trace.DecisionMadeEvent{
		Shard:     s.shard.Name(),
		Migration: c.Migration,
		Decision:  c.Decision.made(),
	}.Event())
	return nil
}

// fence makes the recipient refuse every message of this migration that is still in transit. A
// recipient that is no shard any more needs no fence (H-38).
func (s *Service) fence(t env.Task, c *Coordinator) error {
	return ignoreCode(s.tell(t, c.Recipient, &command.AdvanceTxn{Lsid: c.Lsid, Txn: c.Txn + 1}),
		errcode.ShardNotFound)
}

func ignoreCode(err error, code errcode.Code) error {
	if errcode.Is(err, code) {
		return nil
	}
	return err
}

func (s *Service) theirTask(t env.Task, c *Coordinator, op string) error {
	_, err := s.askTask(t, c, op)
	return ignoreCode(err, errcode.ShardNotFound)
}

func (s *Service) askTask(t env.Task, c *Coordinator, op string) (*command.RangeTaskReply, error) {
	return askPrimary[command.RangeTaskReply](t, s, c.Recipient, &command.RangeTaskOp{
		Migration: c.Migration,
		NS:        c.NS,
		UUID:      c.UUID,
		Min:       key.Key(c.Min),
		Max:       key.Key(c.Max),
		Op:        op,
	}, s.settings.CommandTimeout)
}

// takeOverOrphans sets the count of the donor's task to what the recipient received (protocol 9.1).
// Setting rather than adding makes it idempotent; it is majority-committed before the recipient's
// task, which is the only other place that knows, is deleted.
func (s *Service) takeOverOrphans(t env.Task, c *Coordinator) error {
	theirs, err := s.askTask(t, c, "orphans")
	if err != nil {
		return ignoreCode(err, errcode.ShardNotFound)
	}
	if !theirs.Found { // an earlier attempt got further than this step
		return nil
	}
	op, ok := s.ranges.Count(c.task(), func(int64) int64 { return theirs.Orphans })
	if !ok {
		return nil
	}
	return statedoc.Commit(t, s.member, op)
}

// forget removes the record without waiting: when that is rolled back, the next primary completes
// once more.
func (s *Service) forget(t env.Task, c *Coordinator) error {
	return s.retryUntilOn(t, c,
		retriedStep{failpoint.DonorForgetBefore, func(t env.Task) error {
			_, err := s.member.Write(t, s.coordinators.Remove(c.Migration))
			return err
		}},
		retriedStep{failpoint.DonorForgetAfter, func(env.Task) error { return nil }})
}

// announceMove informs change streams that the donor has lost its last chunk (protocol 12).
func (s *Service) announceMove(t env.Task, c *Coordinator, table *catalog.Table) error {
	if !table.ShardVersion(c.Donor).OwnsNothing() {
		return nil
	}
	tell := changestream.Departure(c.NS, c.Donor, c.Recipient)
	tell.Actor, tell.Tag = uint8(trace.Donor), c.Migration
	_, err := s.member.Write(t, tell)
	return err
}

// sectionRelease is the task that makes the recipient leave its critical section: begun once the
// outcome is final, waited for before the recipient's records change.
type sectionRelease struct {
	done  bool
	ended env.Cond
}

func (r *sectionRelease) wait(t env.Task) error {
	return r.ended.WaitFor(t, 0, func() bool { return r.done })
}

// launchRelease sends the recipient, until it answers, that the outcome is final.
func (s *Service) launchRelease(c *Coordinator) *sectionRelease {
	r, termScope := &sectionRelease{}, s.member.TermScope()
	req := &command.RecvChunkReleaseCritSec{Session: c.Session, Migration: c.Migration}
	to := c.Recipient
	s.spawnLasting(termScope, "release "+c.Migration, func(t env.Task) error {
		if err := ignoreCode(s.tell(t, to, req), errcode.ShardNotFound); err != nil {
			return err
		}
		r.done = true
		r.ended.Broadcast()
		return nil
	})
	return r
}

// spawnLasting runs do in a task of the term, and after a failure, even a kill, again in another.
func (s *Service) spawnLasting(termScope *env.Scope, name string, do func(env.Task) error) {
	s.node.Spawn(termScope, name, func(t env.Task) {
		if do(t) == nil || termScope.Err() != nil {
			return
		}
		s.node.After(s.retryBackoff(), func() {
			if termScope.Err() == nil {
				s.spawnLasting(termScope, name, do)
			}
		})
	})
}

// cancelClone informs the recipient once that the migration is aborted; the release retries until
// it is answered.
func (s *Service) cancelClone(c Coordinator) {
	s.node.Spawn(s.member.TermScope(), "cancel "+c.Migration, func(t env.Task) {
		if t.Point(failpoint.DonorCancelClone, env.Note{ID: c.Migration}) == nil {
			_ = s.tell(t, c.Recipient, &command.RecvChunkAbort{Session: c.Session})
		}
	})
}
