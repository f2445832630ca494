package migration

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
)

// sessionAllowance is how much session history may be left when writes are blocked, for a chunk of
// the default size.
const sessionAllowance = 16 << 20

const defaultChunkBytes = 128 << 20

// awaitCatchUp is S4: it waits until so little is left that writes can be blocked (protocol 6.5). A
// chunk that is too big to ever get there, and is to move nevertheless, is cloned while writes are
// blocked.
func (d *donorMigration) awaitCatchUp(t env.Task) error {
	if !d.insideSection() {
		if err := d.pollUntil(t, d.mayBlockWrites); err != nil {
			return err
		}
	}
	d.become(donorCloneCaughtUp)
	return nil
}

// insideSection reports whether the whole clone is to run inside the critical section (protocol
// 6.6).
func (d *donorMigration) insideSection() bool {
	return d.clone.live && d.req.ForceJumbo == command.ForceManual
}

// isSteady reports whether the recipient has everything that it can know of.
func (d *donorMigration) isSteady(st *command.RecvStatus) bool {
	return st.State == recipientSteady.String()
}

// pollUntil asks the recipient how it is doing until that is enough. It pauses only when the
// recipient has answered at once.
func (d *donorMigration) pollUntil(t env.Task, enough func(*command.RecvStatus) bool) error {
	for try := 0; ; try++ {
		if err := t.Point(
			failpoint.DonorStatusPoll, env.Note{ID: d.record.Migration, N: try},
		); err != nil {
			return err
		}
		st, err := d.poll(t)
		if err != nil {
			return err
		}
		if err := t.Point(
			failpoint.DonorMemoryCheck, env.Note{ID: d.record.Migration, N: try},
		); err != nil {
			return err
		}
		if err := d.checkProgress(st); err != nil {
			return err
		}
		if enough(st) {
			return nil
		}
		if !st.Waited {
			if err := t.Sleep(retryPause(try)); err != nil {
				return err
			}
		}
	}
}

func (d *donorMigration) poll(t env.Task) (*command.RecvStatus, error) {
	return askPrimary[command.RecvStatus](t, d.s, d.record.Recipient,
		&command.RecvChunkStatus{Session: d.record.Session, WaitForSteady: true},
		d.s.settings.StatusPoll+d.s.settings.CommandTimeout)
}

// checkProgress fails when the answer is about another migration, the recipient failed, or the wait
// is too long or needs too much memory.
func (d *donorMigration) checkProgress(st *command.RecvStatus) error {
	r, s := &d.record, d.s.settings
	switch {
	case st.Session != r.Session || st.NS != r.NS || st.From != r.Donor ||
		st.Min != key.Key(r.Min) || st.Max != key.Key(r.Max):
		return errcode.New(errcode.StaleSession, "the recipient %s works for session %q, not %q",
			r.Recipient, st.Session, r.Session)
	case !st.Active || st.State == recipientFailed.String() ||
		st.State == recipientAborted.String():
		return errcode.New(errcode.OperationFailed, "the recipient %s has failed in state %s: %s",
			r.Recipient, st.State, st.Error)
	case d.capture.bytes > s.ModsMemoryLimit:
		return errcode.New(errcode.ExceededMemoryLimit,
			"%d bytes of captured changes are more than %d", d.capture.bytes, s.ModsMemoryLimit)
	case d.s.node.Mono().Sub(d.began) > s.CatchUpWait:
		return errcode.New(errcode.ExceededTimeLimit,
			"the recipient %s has not caught up within %v", r.Recipient, s.CatchUpWait)
	}
	return nil
}

// mayBlockWrites is the entry rule of protocol 6.5: nothing is left, or little enough.
func (d *donorMigration) mayBlockWrites(st *command.RecvStatus) bool {
	if !d.clone.done() || !d.sessions.inCatchUp() {
		return false
	}
	if !d.s.profile.BlocksWithChangesLeft() {
		return d.isSteady(st)
	}
	if st.State == recipientSteady.String() && st.SessionCatchUp && d.capture.empty() &&
		d.sessions.empty() {
		return true
	}
	if st.State != recipientSteady.String() && st.State != recipientCatchUp.String() {
		return false
	}
	chunk := d.chunkBytes()
	return int64(d.untransferred()) < chunk*int64(d.s.settings.CatchUpPercent)/100 &&
		int64(d.sessions.bytes()) < sessionAllowance*chunk/defaultChunkBytes
}

// untransferred estimates the bytes of captured changes from the average size of a document.
func (d *donorMigration) untransferred() int {
	documents := 0
	if n := d.clone.documents; n > 0 {
		documents = d.clone.bytes / n
	}
	deletes := 0
	for _, id := range d.capture.deletes {
		deletes += len(id)
	}
	return deletes + len(d.capture.reloads)*documents
}
