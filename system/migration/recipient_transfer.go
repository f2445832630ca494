package migration

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/statedoc"
)

// replicationPatience bounds the wait for replication of one batch of changes.
const replicationPatience = time.Hour

// clone is step 4: the history of sessions starts to flow, and the documents of the range are
// copied, one task fetching and this one inserting.
func (r *recipientMigration) clone(t env.Task) error {
	r.become(recipientCloning)
	if err := r.at(t, failpoint.RecipientStateClone, 0); err != nil {
		return err
	}
	r.s.node.Spawn(r.scope, "sessions "+r.start.Migration, r.sessions.run)
	belt := &boundedQueue{most: r.s.settings.FetchBufferBytes, weigh: bytesOf}
	r.s.node.Spawn(r.scope, "fetch "+r.start.Migration, func(t env.Task) {
		belt.fetch(t, r.fetchClone, func(m *command.Mods) bool { return len(m.Reloads) == 0 })
	})
	for {
		docs, err := belt.take(t)
		if err != nil {
			return err
		}
		if docs == nil {
			return r.at(t, failpoint.RecipientCloneDone, r.cloned)
		}
		if err := r.insertFetched(t, docs.Reloads); err != nil {
			return err
		}
	}
}

// insertFetched writes what one request has fetched, in batches of as many documents as the
// recipient is to insert at once, and pauses after each.
func (r *recipientMigration) insertFetched(t env.Task, docs []bson.Raw) error {
	for len(docs) > 0 {
		n := len(docs)
		if most := r.s.settings.CloneBatchDocs; most > 0 {
			n = min(n, most)
		}
		if err := r.insertBatch(t, docs[:n]); err != nil {
			return err
		}
		docs = docs[n:]
	}
	return nil
}

func (r *recipientMigration) insertBatch(t env.Task, docs []bson.Raw) error {
	if err := r.insertClone(t, docs); err != nil {
		return err
	}
	r.cloned += len(docs)
	n := r.s.shard.Statistics()
	n.DocsCloned += int64(len(docs))
	n.BytesCloned += int64(bytesOf(&command.Mods{Reloads: docs}))
	return r.throttle(t)
}

func (r *recipientMigration) fetchClone(t env.Task) (*command.Mods, error) {
	if err := r.at(t, failpoint.RecipientFetch, int(r.cloneNumber)); err != nil {
		return nil, err
	}
	docs, err := askPrimary[command.Mods](t, r.s, r.start.From,
		&command.MigrateClone{Session: r.start.Session, Number: r.cloneNumber + 1},
		r.s.settings.CommandTimeout)
	if err == nil {
		r.cloneNumber++
	}
	return docs, err
}

// throttle slows the clone down to the write concern asked for.
func (r *recipientMigration) throttle(t env.Task) error {
	if err := r.s.member.Await(t, r.last, r.start.Throttle); err != nil {
		return err
	}
	if pause := r.s.settings.CloneBatchDelay; pause > 0 {
		return t.Sleep(pause)
	}
	return nil
}

// catchUp is step 5: changes are applied until there are none, and everything written in any phase
// is majority-committed. One batch is fetched while another is applied.
func (r *recipientMigration) catchUp(t env.Task) error {
	r.become(recipientCatchUp)
	belt := &boundedQueue{most: 1, weigh: func(*command.Mods) int { return 1 }}
	r.s.node.Spawn(r.scope, "fetch mods "+r.start.Migration, func(t env.Task) {
		next := func(t env.Task) (*command.Mods, error) {
			return r.fetchMods(t, failpoint.RecipientCatchUpFetch)
		}
		belt.fetch(t, next, isEmptyBatch)
	})
	for {
		mods, err := belt.take(t)
		if err != nil {
			return err
		}
		if mods == nil {
			break
		}
		if err := r.applyCaughtUp(t, mods); err != nil {
			return err
		}
	}
	if err := r.at(t, failpoint.RecipientMajority, 0); err != nil {
		return err
	}
	return r.awaitAll(t)
}

func (r *recipientMigration) applyCaughtUp(t env.Task, mods *command.Mods) error {
	if err := r.applyMods(t, mods); err != nil {
		return err
	}
	r.caughtUp += len(mods.Deletes) + len(mods.Reloads)
	n := r.s.shard.Statistics()
	n.DocsCaughtUp += int64(len(mods.Deletes) + len(mods.Reloads))
	n.BytesCaughtUp += int64(bytesOf(mods))
	if err := r.at(t, failpoint.RecipientReplWait, r.caughtUp); err != nil {
		return err
	}
	wc := command.WriteConcern{Majority: true, Timeout: replicationPatience}
	return r.s.member.Await(t, r.last, wc)
}

// follow is step 6: changes are applied as they come, until the donor blocks writes and a request
// that was sent after that is answered with nothing. Then everything is made majority-committed.
func (r *recipientMigration) follow(t env.Task) error {
	if err := r.at(t, failpoint.RecipientSteady, 0); err != nil {
		return err
	}
	r.become(recipientSteady)
	for {
		if err := r.live(); err != nil { // in every round, so that load does not hide an abort
			return err
		}
		site := failpoint.RecipientSteadyFetch
		last := r.state == recipientCommitStart
		if last {
			site = failpoint.RecipientFinalFetch
		}
		mods, err := r.fetchMods(t, site)
		if err != nil {
			return err
		}
		switch {
		case !isEmptyBatch(mods):
			err = r.applyMods(t, mods)
			r.steadyOps += len(mods.Deletes) + len(mods.Reloads)
		case last:
			return r.flush(t)
		case r.state == recipientSteady:
			_ = r.changed.Wait(t, r.s.steadyPoll())
		}
		if err != nil {
			return err
		}
	}
}

func (r *recipientMigration) flush(t env.Task) error {
	if err := r.at(t, failpoint.RecipientFinalFlush, r.steadyOps); err != nil {
		return err
	}
	if err := r.awaitAll(t); err != nil {
		return err
	}
	return r.s.member.Await(t, r.last, r.start.Throttle)
}

func (r *recipientMigration) fetchMods(t env.Task, site failpoint.Site) (*command.Mods, error) {
	if err := r.at(t, site, int(r.modsNumber)); err != nil {
		return nil, err
	}
	mods, err := askPrimary[command.Mods](t, r.s, r.start.From,
		&command.TransferMods{Session: r.start.Session, Number: r.modsNumber + 1},
		r.s.settings.CommandTimeout)
	if err == nil {
		r.modsNumber++
	}
	return mods, err
}

// isEmptyBatch reports whether the donor had nothing; an answer whose documents have all left the
// range is not that (SERVER-78414).
func isEmptyBatch(m *command.Mods) bool {
	return len(m.Deletes) == 0 && len(m.Reloads) == 0 && !m.More
}

// awaitAll waits until a majority has the newest write of any phase, the clone's included
// (SERVER-42783).
func (r *recipientMigration) awaitAll(t env.Task) error {
	return statedoc.AwaitMajority(t, r.s.member, r.last)
}

// joinSessions waits for the end of the sessions' history.
func (r *recipientMigration) joinSessions(t env.Task) error {
	if err := r.at(t, failpoint.RecipientSessionJoin, 0); err != nil {
		return err
	}
	return r.sessions.join(t)
}
