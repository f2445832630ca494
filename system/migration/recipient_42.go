package migration

import (
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/rangedel"
)

// steps42 are the timed steps of 4.2 (protocol 4 steps 5, 6 and 9). Nothing of them is durable but
// the documents: a recipient that fails over knows nothing, and what it had received stays as
// orphans.
func (r *recipientMigration) steps42() []func(env.Task) error {
	return []func(env.Task) error{
		r.prepare42, r.notePending, r.clone, r.catchUp, r.follow, r.conclude42,
	}
}

// prepare42 is step 1: what the shard owns is known, and the collection exists (errata E12: here
// before the range is cleaned up). The donor answers only while it clones for this session, so that
// an outdated start ends here, before it has done harm.
func (r *recipientMigration) prepare42(t env.Task) error {
	return inOrder(t, r.start.Migration,
		step{failpoint.RecipientRefresh, func(t env.Task) error {
			if err := r.s.awaitRecovered(t); err != nil {
				return err
			}
			if err := r.s.shard.Collection(r.start.NS).Refresh(t); err != nil {
				return err
			}
			return r.sameCollection()
		}},
		step{failpoint.RecipientCreate, r.createCollection})
}

// sameCollection fails when the name means another collection by now, or none that is sharded:
// what its shards have of it is not the migration's to replace.
func (r *recipientMigration) sameCollection() error {
	if md := r.s.shard.Collection(r.start.NS).Metadata(); md != nil {
		c := md.Table.Collection()
		if !c.Unsharded && c.UUID == r.start.UUID {
			return nil
		}
	}
	return errcode.New(errcode.StaleEpoch, "%s is not the sharded collection %s any more",
		r.start.NS, r.start.UUID)
}

// notePending is step 2: nothing but this migration touches the range from now on, and nothing is
// in it.
func (r *recipientMigration) notePending(t env.Task) error {
	if err := r.at(t, failpoint.RecipientNotePending, 0); err != nil {
		return err
	}
	if err := r.live(); err != nil {
		return err
	}
	r.noted = true
	return r.s.ranges.BeginReceive(t, r.orphans())
}

// conclude42 is the last step: with the history of sessions everything is here, and the donor may
// be informed. That a majority has what this primary has received is not enough: a later primary
// may be deleting it, for another start of the same migration that a message has brought late. It
// can begin that only before the donor blocks writes.
func (r *recipientMigration) conclude42(t env.Task) error {
	if err := r.joinSessions(t); err != nil {
		return err
	}
	if err := r.at(t, failpoint.RecipientDone, 0); err != nil {
		return err
	}
	if err := r.s.member.Confirm(t); err != nil {
		return err
	}
	if err := r.live(); err != nil {
		return err
	}
	r.become(recipientDone)
	r.finish()
	return nil
}

// endReceive42 keeps the note of a range that has arrived, and has one deleted that has not.
func (r *recipientMigration) endReceive42() {
	switch {
	case r.state == recipientDone:
		r.s.shard.Collection(r.start.NS).Arrived(r.start.Migration)
	case r.noted:
		r.s.ranges.ForgetReceive(r.orphans())
	}
}

// orphans is what is to be deleted when the range does not become the shard's.
func (r *recipientMigration) orphans() rangedel.Task {
	m := &r.start
	return rangedel.Task{
		Migration: m.Migration,
		NS:        m.NS,
		UUID:      m.UUID,
		Donor:     m.From,
		Min:       []byte(m.Min),
		Max:       []byte(m.Max),
		When:      rangedel.Now,
	}
}
