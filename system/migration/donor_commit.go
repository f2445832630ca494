package migration

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/shard"
)

// handOver is S5.
func (d *donorMigration) handOver(t env.Task) error {
	if err := d.enterCriticalSection(t); err != nil {
		return err
	}
	if d.insideSection() {
		if err := d.pollUntil(t, d.isSteady); err != nil {
			return err
		}
	}
	return d.commitOnRecipient(t)
}

// commit is S6.
func (d *donorMigration) commit(t env.Task) error {
	if err := d.commitOnConfig(t); err != nil {
		return err
	}
	return d.finish(t)
}

// enterCriticalSection is the first half of S5: from here on no user's write commits on the donor,
// not even one that passed its version check before.
func (d *donorMigration) enterCriticalSection(t env.Task) error {
	return inOrder(t, d.record.Migration,
		step{failpoint.DonorBeforeCritSec, d.awaitLock},
		step{failpoint.DonorLockAcquire, d.blockWrites},
		step{failpoint.DonorWritesBlocked, func(env.Task) error { return nil }},
		step{failpoint.DonorSignal, func(t env.Task) error {
			if err := d.live(); err != nil {
				return err
			}
			return d.collection.SignalSecondaries(t)
		}})
}

// awaitLock is when the donor begins to wait for the lock under which it blocks writes.
func (d *donorMigration) awaitLock(env.Task) error {
	d.locking = d.s.node.Mono()
	return nil
}

func (d *donorMigration) blockWrites(env.Task) error {
	if err := d.live(); err != nil {
		return err
	}
	if took, most := d.s.node.Mono().Sub(d.locking), d.s.settings.LockWait; took > most {
		return errcode.New(errcode.LockTimeout,
			"the lock for the critical section of migration %s took %v, more than %v",
			d.record.Migration, took, most)
	}
	d.collection.EnterWrites(d.holder())
	d.blocked = d.s.node.Mono()
	d.sessions.finish()
	d.become(donorCriticalSection)
	return nil
}

// commitOnRecipient is the second half of S5: the recipient fetches what is left, makes all of it
// majority-committed and answers from inside its own critical section.
func (d *donorMigration) commitOnRecipient(t env.Task) error {
	return inOrder(t, d.record.Migration,
		step{failpoint.DonorSendCommit, func(t env.Task) error {
			_, err := askPrimary[command.Done](t, d.s, d.record.Recipient,
				&command.RecvChunkCommit{Session: d.record.Session}, d.commitTimeout())
			return err
		}},
		step{failpoint.DonorAfterCommit, func(env.Task) error { return nil }},
		step{failpoint.DonorQueuesDrained, d.checkDrained})
}

func (d *donorMigration) checkDrained(env.Task) error {
	if !d.sessions.empty() {
		return errcode.New(errcode.SessionTransferIncomplete,
			"migration %s left session history behind", d.record.Migration)
	}
	d.s.node.Assert(d.clone.done() && d.capture.empty(),
		"migration %s: the recipient took part %d of %d of the clone, and left %d deletes and %d "+
			"reloads",
		d.record.Migration, d.clone.given, d.clone.documents, len(d.capture.deletes),
		len(d.capture.reloads))
	d.become(donorCloneCompleted)
	return nil
}

// commitOnConfig is the first half of S6: reads are blocked as well, the config server commits, and
// the donor takes over the new placement before it serves again. Any failure on the way leaves the
// outcome to recovery.
func (d *donorMigration) commitOnConfig(t env.Task) error {
	return inOrder(t, d.record.Migration,
		step{failpoint.DonorBlockReads, func(env.Task) error {
			d.collection.EnterReads(d.holder())
			return nil
		}},
		step{failpoint.DonorBuildCommit, func(env.Task) error {
			if err := d.live(); err != nil {
				return err
			}
			d.become(donorCommittingOnConfig)
			d.committing = d.s.node.Mono()
			return nil
		}},
		step{failpoint.DonorSendConfig, d.sendCommit},
		step{failpoint.DonorConfigReply, func(env.Task) error { return nil }},
		step{failpoint.DonorLaunchRelease, func(env.Task) error {
			d.release = d.s.launchRelease(&d.record)
			return nil
		}},
		step{failpoint.DonorPostRefresh, d.refresh},
		step{failpoint.DonorCacheFlush, d.collection.Flush},
		step{failpoint.DonorChangeStream, func(t env.Task) error {
			md, err := d.placement()
			if err != nil {
				return err
			}
			return d.s.announceMove(t, &d.record, md.Table)
		}},
		step{failpoint.DonorSetDecision, func(env.Task) error {
			d.record.Decision = Committed
			return nil
		}})
}

func (d *donorMigration) sendCommit(t env.Task) error {
	r := &d.record
	_, err := askPrimary[command.CommitReply](t, d.s, shard.ConfigSet,
		&command.CommitChunkMigration{
			NS:         r.NS,
			UUID:       r.UUID,
			Epoch:      d.epoch,
			From:       r.Donor,
			To:         r.Recipient,
			Min:        key.Key(r.Min),
			Max:        key.Key(r.Max),
			PreVersion: r.Before.version(),
			Migration:  r.Migration,
			ValidAfter: d.validAfter,
			Balancer:   d.req.Balancer,
		}, d.s.settings.CommandTimeout)
	return err
}

// refresh takes over the placement after the commit. A refresh that does not show the commit is a
// failed one.
func (d *donorMigration) refresh(t env.Task) error {
	if err := d.collection.Refresh(t); err != nil {
		return err
	}
	md := d.collection.Metadata()
	if md == nil || md.Owns(key.Key(d.record.Min)) {
		return errcode.New(errcode.IncompatibleShardingMetadata,
			"the refresh after the commit of %s does not show it", d.record.Migration)
	}
	return nil
}

// finish is the second half of S6: it serves again, completes the migration on both sides and
// reports it.
func (d *donorMigration) finish(t env.Task) error {
	if err := t.Point(failpoint.DonorLeaveCritSec, env.Note{ID: d.record.Migration}); err != nil {
		return err
	}
	d.detach()
	if err := d.s.complete(t, &d.record, d.release, false); err != nil {
		return err
	}
	d.written = false
	d.become(donorDone)
	d.report(t)
	return d.awaitDeletion(t)
}

// report writes to the changelog. The migration has succeeded even if this write is lost.
func (d *donorMigration) report(t env.Task) {
	if t.Point(failpoint.DonorChangelogCommit, env.Note{ID: d.record.Migration}) == nil {
		_ = d.s.logChange(t, "moveChunk.commit", d.record.NS, d.details())
	}
}

// orphans is what the donor is to delete after the commit: after a delay, unless somebody waits for
// it.
func (d *donorMigration) orphans() rangedel.Task {
	r := &d.record
	k := rangedel.Task{
		Migration: r.Migration,
		NS:        r.NS,
		UUID:      r.UUID,
		Donor:     r.Donor,
		Min:       r.Min,
		Max:       r.Max,
		When:      rangedel.Delayed,
	}
	if d.req.WaitDelete {
		k.When = rangedel.Now
	}
	return k
}

func (d *donorMigration) awaitDeletion(t env.Task) error {
	if !d.req.WaitDelete {
		return nil
	}
	if err := t.Point(failpoint.DonorWaitForDelete, env.Note{ID: d.record.Migration}); err != nil {
		return err
	}
	return d.s.ranges.AwaitDone(t, d.record.Migration)
}
