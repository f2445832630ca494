package migration

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/statedoc"
)

// takeOver is step 7: without the history of sessions there is no commit, and with it the donor may
// be informed that everything is here, from inside the critical section.
func (r *recipientMigration) takeOver(t env.Task) error {
	if err := r.joinSessions(t); err != nil {
		return err
	}
	if err := r.live(); err != nil {
		return err
	}
	return r.enterCriticalSection(t)
}

// enterCriticalSection blocks writes to the namespace in a way that survives a failover: first the
// receipt, from which a successor knows what it holds, then the section itself, both
// majority-committed before the donor learns of it (SERVER-89163).
func (r *recipientMigration) enterCriticalSection(t env.Task) error {
	return inOrder(t, r.start.Migration,
		step{failpoint.RecipientRecoveryDoc, func(t env.Task) error {
			r.durable = true
			if err := r.write(t, r.s.receipts.Put(r.start.Migration, r.receipt())); err != nil {
				return err
			}
			return statedoc.AwaitMajority(t, r.s.member, r.last)
		}},
		step{failpoint.RecipientCritSecAcquire, func(t env.Task) error {
			if err := r.live(); err != nil {
				return err
			}
			return r.s.shard.AcquireRecoverable(t, r.start.NS, r.start.Migration)
		}},
		step{failpoint.RecipientEntered, func(env.Task) error {
			if err := r.live(); err != nil {
				return err
			}
			r.enter()
			return nil
		}})
}

func (r *recipientMigration) enter() {
	r.entered = r.s.node.Mono()
	r.become(recipientEnteredCritSec)
}

func (r *recipientMigration) receipt() Receipt {
	m := &r.start
	return Receipt{
		Migration: m.Migration,
		Session:   m.Session,
		NS:        m.NS,
		UUID:      m.UUID,
		Min:       []byte(m.Min),
		Max:       []byte(m.Max),
		Donor:     m.From,
		Lsid:      m.Lsid,
		Txn:       m.Txn,
	}
}

// hold is step 8: the critical section stays until the donor says that the outcome is final, even
// if the task ends. A fence is final, too: the primary that received it may have lost its term
// before it released the section, and its successor, which has taken that again, finds the fence in
// the session.
func (r *recipientMigration) hold() {
	r.s.spawnLasting(r.s.member.TermScope(), "hold "+r.start.Migration, func(t env.Task) error {
		if err := r.at(t, failpoint.RecipientWaitRelease, 0); err != nil {
			return err
		}
		if err := r.changed.WaitFor(t, 0, func() bool {
			return r.released || r.fenced() != nil
		}); err != nil {
			return err
		}
		return r.leave(t)
	})
}

// leave takes over the placement that the outcome has brought, and only then lets writes pass.
func (r *recipientMigration) leave(t env.Task) error {
	if r.state != recipientExitCritSec {
		r.become(recipientExitCritSec)
	}
	r.refresh(t)
	if err := r.letGoOf(t); err != nil {
		return err
	}
	if err := r.at(t, failpoint.RecipientDone, 0); err != nil {
		return err
	}
	r.become(recipientDone)
	r.finish()
	return nil
}

// refresh reads the catalog. When that fails nothing is known, which the next request finds out.
func (r *recipientMigration) refresh(t env.Task) {
	c := r.s.shard.Collection(r.start.NS)
	err := r.at(t, failpoint.RecipientRefresh, 0)
	if err == nil {
		err = c.Refresh(t)
	}
	if err != nil {
		_ = r.at(t, failpoint.RecipientRefreshFail, 0)
		c.Clear()
	}
}

// letGoOf releases the critical section and then deletes the record by which a successor would hold
// it.
func (r *recipientMigration) letGoOf(t env.Task) error {
	for _, st := range []retriedStep{
		{failpoint.RecipientCritSecRelease, func(t env.Task) error {
			return r.s.shard.ReleaseRecoverable(t, r.start.NS, r.start.Migration)
		}},
		{failpoint.RecipientCacheFlush, r.s.shard.Collection(r.start.NS).Flush},
		{failpoint.RecipientConfigTime, r.s.shard.PersistConfigTime},
		{failpoint.RecipientRecoveryDelete, r.deleteReceipt},
	} {
		if err := r.s.retryUntil(t, r.start.Migration, st.site, st.do); err != nil {
			return err
		}
	}
	return nil
}

func (r *recipientMigration) deleteReceipt(t env.Task) error {
	if _, ok := r.s.receipts.Get(r.start.Migration); ok {
		if _, err := r.s.member.Write(t, r.s.receipts.Remove(r.start.Migration)); err != nil {
			return err
		}
	}
	return statedoc.AwaitMajority(t, r.s.member, r.s.member.Applied())
}

// letGo ends a recipient migration that failed after it had begun to enter the critical section.
func (r *recipientMigration) letGo(t env.Task) error {
	if err := r.letGoOf(t); err != nil {
		return err
	}
	r.finish()
	return nil
}

// resumeRecipients registers the migration whose critical section this shard holds by its records,
// before any other can begin (protocol 9.4).
func (s *Service) resumeRecipients(t env.Task) error {
	for _, doc := range s.receipts.All() {
		if err := pass(t, failpoint.RecoveryRegister, env.Note{ID: doc.Migration}); err != nil {
			return err
		}
		if s.recipient != nil && s.recipient.start.Migration == doc.Migration {
			continue // an earlier attempt of this step-up
		}
		s.node.Assert(s.recipient == nil, "shard %s is the recipient of %s and of %+v",
			s.shard.Name(), s.recipientID(), doc)
		s.resumeRecipient(doc)
	}
	return nil
}

func (s *Service) recipientID() string {
	if s.recipient == nil {
		return "nothing"
	}
	return s.recipient.start.Migration
}

func (s *Service) resumeRecipient(doc Receipt) {
	r := s.newRecipient(command.RecvChunkStart{
		Migration: doc.Migration,
		Session:   doc.Session,
		NS:        doc.NS,
		Min:       key.Key(doc.Min),
		Max:       key.Key(doc.Max),
		From:      doc.Donor,
		To:        s.shard.Name(),
		Lsid:      doc.Lsid,
		Txn:       doc.Txn,
		UUID:      doc.UUID,
	})
	r.recovered, r.durable = true, true
	r.become(recipientCommitStart)
	s.spawnLasting(s.member.TermScope(), "re-enter "+doc.Migration, func(t env.Task) error {
		err := s.retryUntil(t, doc.Migration, failpoint.RecoveryCritSec, func(t env.Task) error {
			return s.shard.AcquireRecoverable(t, doc.NS, doc.Migration)
		})
		if err != nil {
			return err
		}
		r.enter()
		r.hold()
		return nil
	})
}

// errReleased is why a recipient migration ends whose donor has given up before the critical
// section was entered.
func errReleased(migration string) error {
	return errcode.New(errcode.OperationFailed,
		"the donor has ended migration %s before the recipient entered its critical section",
		migration)
}
