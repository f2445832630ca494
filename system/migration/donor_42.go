package migration

import (
	"github.com/shardproof/shardproof/histories/event"
	"github.com/shardproof/shardproof/system/changestream"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/point"
	"github.com/shardproof/shardproof/system/rangedel"
)

// steps42 are the timed steps of 4.2 (protocol 4). Nothing of them is durable but a count of commits under way: what a donor
// that ends has not done, nobody does, except to find out on which side the config server sees the range.
func (d *donation) steps42() []func(env.Task) error {
	return []func(env.Task) error{
		d.construct42, d.checkPreconditions42, d.startClone42, d.awaitCatchUp, d.handOver42, d.commit42, d.awaitDeletion42,
	}
}

func (d *donation) construct42(t env.Task) error {
	d.become(created)
	return inOrder(t, d.record.Migration, step{point.DonorDrainRecovery, d.s.awaitRecovered})
}

// checkPreconditions42 is step 3: the metadata is fresh, and the range is exactly one chunk of this shard.
func (d *donation) checkPreconditions42(t env.Task) error {
	return inOrder(t, d.record.Migration,
		step{point.DonorPreRefresh, d.collection.Refresh},
		step{point.DonorPreconditions, d.takePlacement})
}

// startClone42 is step 4: the capture begins before the scan, so that no write is in neither.
func (d *donation) startClone42(t env.Task) error {
	return inOrder(t, d.record.Migration,
		step{point.DonorChangelogStart, func(t env.Task) error {
			d.s.shard.Statistics().DonorStarted++
			return d.s.logChange(t, "moveChunk.start", d.record.NS, d.record.Migration)
		}},
		step{point.DonorAttachBefore, d.attach},
		step{point.DonorSessionInit, func(t env.Task) error { return d.sessions.init(t) }},
		step{point.DonorScan, d.scan},
		step{point.DonorSendStart, d.sendStart},
		step{point.DonorAfterStart, func(env.Task) error { return nil }})
}

// handOver42 is steps 8 and 9.
func (d *donation) handOver42(t env.Task) error {
	if err := d.enterCriticalSection42(t); err != nil {
		return err
	}
	return d.commitOnRecipient(t)
}

// enterCriticalSection42 is step 8, in this order: change streams hear of a shard that gets its first chunk, and then of
// nothing before a majority has both that and the count by which a successor knows that it does not know; writes are
// blocked; and only then secondaries hear of it.
func (d *donation) enterCriticalSection42(t env.Task) error {
	return inOrder(t, d.record.Migration,
		step{point.DonorBeforeCritSec, func(env.Task) error { return nil }},
		step{point.DonorFirstChunk, d.announceFirst},
		step{point.DonorMinOpTimeInc, d.count},
		step{point.DonorLockAcquire, d.blockWrites},
		step{point.DonorWritesBlocked, func(env.Task) error { return nil }},
		step{point.DonorSignal, d.collection.SignalSecondaries})
}

// announceFirst tells change streams about a recipient that owns nothing yet (protocol 12). Since the metadata was read no
// other migration can have taken a chunk from it but one whose readers read it already.
func (d *donation) announceFirst(t env.Task) error {
	md, err := d.placement()
	if err != nil || !md.Table.ShardVersion(d.record.Recipient).OwnsNothing() {
		return err
	}
	d.s.node.Sometimes("a shard receives its first chunk of a collection")
	tell := changestream.Announcement(d.record.NS, d.record.Donor, d.record.Recipient)
	tell.Actor, tell.Tag = uint8(event.Donor), d.record.Migration
	_, err = d.s.member.Write(t, tell)
	return err
}

// commit42 is steps 10 to 12.
func (d *donation) commit42(t env.Task) error {
	if err := d.blockReads42(t); err != nil {
		return err // nothing was sent
	}
	if err := d.settle42(t, d.commitOnConfig42(t)); err != nil {
		return err
	}
	return d.cleanUp42(t)
}

func (d *donation) blockReads42(t env.Task) error {
	return inOrder(t, d.record.Migration,
		step{point.DonorBlockReads, func(env.Task) error {
			d.collection.EnterReads(d.holder())
			return nil
		}},
		step{point.DonorBuildCommit, func(env.Task) error {
			d.committing = d.s.node.Mono()
			d.validAfter = d.s.shard.Clock().Now().Cluster
			return d.live()
		}},
		step{point.DonorSendConfig, func(env.Task) error { return nil }})
}

// commitOnConfig42 returns nil when the config server says that it has committed, now or at an earlier attempt.
func (d *donation) commitOnConfig42(t env.Task) error {
	if err := d.sendCommit(t); err != nil {
		return err
	}
	return t.Point(point.DonorConfigReply, env.Note{ID: d.record.Migration})
}

// settle42 finds out what has become of the commit, given what the config server has answered. A refusal means nothing: the
// commit is not idempotent, and an earlier attempt may have succeeded (errata E11). Neither fence nor record help: a commit
// that is still on its way is taken for one that never comes (SERVER-44716).
func (d *donation) settle42(t env.Task, refused error) error {
	if refused != nil {
		if err := d.validate(t); err != nil {
			return err
		}
	}
	if err := d.refresh42(t); err != nil {
		d.collection.Clear() // whoever asks finds out; the donor's copy of a range that has moved stays for ever
		d.record.Decision = unknown
		return err
	}
	here := d.collection.Metadata().Owns(key.Key(d.record.Min))
	switch {
	case !here:
		d.record.Decision = Committed
		return nil
	case refused == nil:
		d.s.node.Abort("the config server has committed migration " + d.record.Migration + " and does not show it")
	}
	return refused
}

// validate makes a write on the config server: what is read after it is not older than a commit that has taken effect. A
// primary that cannot do so knows nothing and must not go on.
func (d *donation) validate(t env.Task) error {
	err := t.Point(point.DonorValidate, env.Note{ID: d.record.Migration})
	if err == nil {
		err = d.s.logChange(t, "moveChunk.validating", d.record.NS, d.record.Migration)
	}
	if err != nil && d.live() == nil && d.s.member.IsPrimary() {
		d.s.node.Abort("the outcome of migration " + d.record.Migration + " cannot be found out: " + err.Error())
	}
	return err
}

func (d *donation) refresh42(t env.Task) error {
	if err := t.Point(point.DonorPostRefresh, env.Note{ID: d.record.Migration}); err != nil {
		return err
	}
	if err := d.collection.Refresh(t); err != nil {
		return err
	}
	_, err := d.placement()
	return err
}

// cleanUp42 is steps 11 and 12. From here on the migration has succeeded, and what fails is not done by anybody else.
func (d *donation) cleanUp42(t env.Task) error {
	return inOrder(t, d.record.Migration,
		step{point.DonorLeaveCritSec, func(env.Task) error {
			d.detach()
			return nil
		}},
		step{point.DonorCacheFlush, d.collection.Flush},
		step{point.DonorMinOpTimeDec, d.uncount},
		step{point.DonorChangelogCommit, func(t env.Task) error {
			_ = d.s.logChange(t, "moveChunk.commit", d.record.NS, d.record.Migration)
			return nil
		}},
		step{point.DonorRegisterTask, func(env.Task) error {
			d.become(donated)
			d.end()
			return d.s.ranges.CleanUp(d.orphans())
		}},
		step{point.DonorRefreshTheirs, func(t env.Task) error {
			_ = d.refreshRecipient(t) // or it finds out when it is asked
			return nil
		}})
}

// orphans is what the donor is to delete.
func (d *donation) orphans() rangedel.Task {
	r := &d.record
	k := rangedel.Task{Migration: r.Migration, NS: r.NS, UUID: r.UUID, Donor: r.Donor, Min: r.Min, Max: r.Max, When: rangedel.Delayed}
	if d.req.WaitDelete {
		k.When = rangedel.Now
	}
	return k
}

func (d *donation) refreshRecipient(t env.Task) error {
	_, err := ask[command.Flushed](t, d.s, d.record.Recipient,
		&command.FlushRoutingTableCacheUpdates{NS: d.record.NS}, d.s.settings.CommandTimeout)
	return err
}

func (d *donation) awaitDeletion42(t env.Task) error {
	if !d.req.WaitDelete {
		return nil
	}
	if err := t.Point(point.DonorWaitForDelete, env.Note{ID: d.record.Migration}); err != nil {
		return err
	}
	return d.s.ranges.AwaitSwept(t, d.record.Migration)
}

// giveUp42 ends a migration that failed, before or after its commit.
func (d *donation) giveUp42() {
	s := d.s
	d.detach()
	if d.state >= cloning && d.state < cloneCompleted { // later the recipient has ended its part
		s.cancelClone(d.record)
	}
	if d.counted {
		s.spawnLasting(s.member.Tenure(), "uncount "+d.record.Migration, func(t env.Task) error {
			return s.insist(t, d.record.Migration, point.DonorMinOpTimeDec, d.uncount)
		})
	}
	if d.state < donated {
		d.become(donated)
		d.end()
	}
}

// end tells how the migration has ended, as far as the donor knows.
func (d *donation) end() {
	outcome := d.record.Decision
	switch outcome {
	case unknown:
		return
	case "":
		outcome = Aborted
	}
	d.s.node.Emit(&event.Event{Kind: event.MigrationEnded, Shard: d.s.shard.Name(), ID: d.record.Migration, Value: string(outcome)})
}

// unknown is the decision about a migration of 4.2 whose donor could not read what became of its commit.
const unknown Decision = "unknown"
