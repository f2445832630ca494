package migration

import (
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/changestream"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
)

// steps42 are the timed steps of 4.2 (protocol 4). Nothing of them is durable but a count of
// commits in progress: what a donor that ends has not done, nobody does, except to find out on
// which side the config server sees the range.
func (d *donorMigration) steps42() []func(env.Task) error {
	return []func(env.Task) error{
		d.construct42, d.checkPreconditions42, d.startClone42, d.awaitCatchUp, d.handOver42,
		d.commit42, d.awaitDeletion42,
	}
}

func (d *donorMigration) construct42(t env.Task) error {
	d.become(donorCreated)
	return inOrder(t, d.record.Migration, step{failpoint.DonorDrainRecovery, d.s.awaitRecovered})
}

// checkPreconditions42 is step 3: the metadata is fresh, and the range is exactly one chunk of this
// shard.
func (d *donorMigration) checkPreconditions42(t env.Task) error {
	return inOrder(t, d.record.Migration,
		step{failpoint.DonorPreRefresh, d.identify},
		step{failpoint.DonorPreconditions, d.takePlacement})
}

// startClone42 is step 4: the capture begins before the scan, so that no write is in neither.
func (d *donorMigration) startClone42(t env.Task) error {
	return inOrder(t, d.record.Migration,
		step{failpoint.DonorChangelogStart, func(t env.Task) error {
			d.s.shard.Statistics().DonorStarted++
			return d.s.logChange(t, "moveChunk.start", d.record.NS, d.details())
		}},
		step{failpoint.DonorAttachBefore, d.attach},
		step{failpoint.DonorSessionInit, func(t env.Task) error { return d.sessions.init(t) }},
		step{failpoint.DonorScan, d.scan},
		step{failpoint.DonorSendStart, d.sendStart},
		step{failpoint.DonorAfterStart, func(env.Task) error { return nil }})
}

// handOver42 is steps 8 and 9.
func (d *donorMigration) handOver42(t env.Task) error {
	if err := d.enterCriticalSection42(t); err != nil {
		return err
	}
	return d.commitOnRecipient(t)
}

// enterCriticalSection42 is step 8, in this order: change streams learn of a shard that gets its
// first chunk, and then of nothing before a majority has both that and the count by which a
// successor knows that it does not know; writes are blocked; and only then secondaries learn of it.
func (d *donorMigration) enterCriticalSection42(t env.Task) error {
	return inOrder(t, d.record.Migration,
		step{failpoint.DonorBeforeCritSec, func(env.Task) error { return nil }},
		step{failpoint.DonorFirstChunk, d.announceFirst},
		step{failpoint.DonorMinOpTimeInc, func(t env.Task) error {
			if err := d.count(t); err != nil {
				return err
			}
			return d.awaitLock(t)
		}},
		step{failpoint.DonorLockAcquire, d.blockWrites},
		step{failpoint.DonorWritesBlocked, func(env.Task) error { return nil }},
		step{failpoint.DonorSignal, d.collection.SignalSecondaries})
}

// announceFirst informs change streams of a recipient that owns nothing yet (protocol 12). Since
// the metadata was read no other migration can have taken a chunk from it but one whose readers
// read it already.
func (d *donorMigration) announceFirst(t env.Task) error {
	md, err := d.placement()
	if err != nil || !md.Table.ShardVersion(d.record.Recipient).OwnsNothing() {
		return err
	}
	d.s.node.Sometimes("a shard receives its first chunk of a collection")
	tell := changestream.Announcement(d.record.NS, d.record.Donor, d.record.Recipient)
	tell.Actor, tell.Tag = uint8(trace.Donor), d.record.Migration
	_, err = d.s.member.Write(t, tell)
	return err
}

// commit42 is steps 10 to 12.
func (d *donorMigration) commit42(t env.Task) error {
	if err := d.blockReads42(t); err != nil {
		return err // nothing was sent
	}
	if err := d.settle42(t, d.commitOnConfig42(t)); err != nil {
		return err
	}
	return d.cleanUp42(t)
}

func (d *donorMigration) blockReads42(t env.Task) error {
	return inOrder(t, d.record.Migration,
		step{failpoint.DonorBlockReads, func(env.Task) error {
			d.collection.EnterReads(d.holder())
			return nil
		}},
		step{failpoint.DonorBuildCommit, func(env.Task) error {
			d.committing = d.s.node.Mono()
			d.validAfter = d.s.shard.Clock().Now().Cluster
			return d.live()
		}},
		step{failpoint.DonorSendConfig, func(env.Task) error { return nil }})
}

// commitOnConfig42 returns nil when the config server says that it has committed, now or at an
// earlier attempt.
func (d *donorMigration) commitOnConfig42(t env.Task) error {
	if err := d.sendCommit(t); err != nil {
		return err
	}
	return t.Point(failpoint.DonorConfigReply, env.Note{ID: d.record.Migration})
}

// settle42 finds out what has become of the commit, given what the config server has answered. A
// refusal means nothing: the commit is not idempotent, and an earlier attempt may have succeeded
// (errata E11). Neither fence nor record help: a commit that is still in transit is taken for one
// that never comes (SERVER-44716).
func (d *donorMigration) settle42(t env.Task, refused error) error {
	if refused != nil {
		if err := d.validate(t); err != nil {
			return err
		}
	}
	if err := d.refresh42(t); err != nil {
		// The next request refreshes and finds out; the donor's copy of a range that has moved
		// stays forever.
		d.collection.Clear()
		d.record.Decision = decisionUnknown
		return err
	}
	here := d.collection.Metadata().Owns(key.Key(d.record.Min))
	switch {
	case !here:
		d.record.Decision = Committed
		return nil
	case refused == nil:
		d.s.node.Abort("the config server has committed migration " + d.record.Migration +
			" and does not show it")
	}
	return refused
}

// validate makes a write on the config server: what is read after it is not older than a commit
// that has taken effect. A primary that cannot do so knows nothing and must not go on.
func (d *donorMigration) validate(t env.Task) error {
	err := t.Point(failpoint.DonorValidate, env.Note{ID: d.record.Migration})
	if err == nil {
		err = d.s.logChange(t, "moveChunk.validating", d.record.NS, d.details())
	}
	if err != nil && d.live() == nil && d.s.member.IsPrimary() {
		d.s.node.Abort("the outcome of migration " + d.record.Migration + " cannot be found out: " +
			err.Error())
	}
	return err
}

func (d *donorMigration) refresh42(t env.Task) error {
	if err := t.Point(failpoint.DonorPostRefresh, env.Note{ID: d.record.Migration}); err != nil {
		return err
	}
	if err := d.collection.Refresh(t); err != nil {
		return err
	}
	_, err := d.placement()
	return err
}

// cleanUp42 is steps 11 and 12. From here on the migration has succeeded, and what fails here is
// not repeated by any other node.
func (d *donorMigration) cleanUp42(t env.Task) error {
	return inOrder(t, d.record.Migration,
		step{failpoint.DonorLeaveCritSec, func(env.Task) error {
			d.detach()
			return nil
		}},
		step{failpoint.DonorCacheFlush, d.collection.Flush},
		step{failpoint.DonorMinOpTimeDec, d.uncount},
		step{failpoint.DonorChangelogCommit, func(t env.Task) error {
			_ = d.s.logChange(t, "moveChunk.commit", d.record.NS, d.details())
			return nil
		}},
		step{failpoint.DonorRegisterTask, func(env.Task) error {
			d.become(donorDone)
			d.end()
			return d.s.ranges.CleanUp(d.orphans())
		}},
		step{failpoint.DonorRefreshTheirs, func(t env.Task) error {
			_ = d.refreshRecipient(t) // or it finds out when it is asked
			return nil
		}})
}

func (d *donorMigration) refreshRecipient(t env.Task) error {
	_, err := askPrimary[command.Flushed](t, d.s, d.record.Recipient,
		&command.FlushRoutingTableCacheUpdates{NS: d.record.NS}, d.s.settings.CommandTimeout)
	return err
}

func (d *donorMigration) awaitDeletion42(t env.Task) error {
	if !d.req.WaitDelete {
		return nil
	}
	if err := t.Point(failpoint.DonorWaitForDelete, env.Note{ID: d.record.Migration}); err != nil {
		return err
	}
	return d.s.ranges.AwaitSwept(t, d.record.Migration)
}

// giveUp42 ends a migration that failed, before or after its commit.
func (d *donorMigration) giveUp42() {
	s := d.s
	d.detach()
	if d.state >= donorCloning && d.state < donorCloneCompleted {
		// Later the recipient has ended its part.
		s.cancelClone(d.record)
	}
	if d.counted {
		s.uncountLater(d.record.Migration, d.uncount)
	}
	if d.state < donorDone {
		d.become(donorDone)
		d.end()
	}
}

// end reports the outcome of the migration, as far as the donor knows it.
func (d *donorMigration) end() {
	outcome := d.record.Decision
	switch outcome {
	case decisionUnknown:
		return
	case "":
		outcome = Aborted
	}
	d.s.node.Emit(trace.MigrationEndedEvent{
		Shard:     d.s.shard.Name(),
		Migration: d.record.Migration,
		Decision:  outcome.made(),
	}.Event())
}

// decisionUnknown is the decision about a migration of 4.2 whose donor could not read what became
// of its commit.
const decisionUnknown Decision = "unknown"
