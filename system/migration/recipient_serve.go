package migration

import (
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/rpc"
)

func (s *Service) serveRecipient(ep *rpc.Endpoint) {
	rpc.Handle(ep, s.recvStart)
	rpc.Handle(ep, s.recvStatus)
	rpc.Handle(ep, s.recvCommit)
	rpc.Handle(ep, s.recvAbort)
	rpc.Handle(ep, s.recvRelease)
	rpc.Handle(ep, s.advanceTxn)
}

var doneReply = &command.Done{}

// recvStart begins a recipient migration. A repeated start of the running one is answered again;
// one of a migration that has ended here is refused, and one that was fenced as well.
func (s *Service) recvStart(
	t env.Task, _ env.NodeID, req *command.RecvChunkStart,
) (*command.Done, error) {
	for _, site := range []failpoint.Site{
		failpoint.RecipientStart, failpoint.RecipientRegister, failpoint.RecipientCheckout,
	} {
		if err := t.Point(site, env.Note{Peer: req.From, ID: req.Migration}); err != nil {
			return nil, err
		}
	}
	if err := s.member.NeedPrimary(); err != nil {
		return nil, err
	}
	if err := s.shard.LearnAdmission(t); err != nil {
		return nil, err
	}
	if err := s.member.NeedPrimary(); err != nil {
		return nil, err
	}
	if r := s.recipient; r != nil && r.start.Session == req.Session {
		return doneReply, nil
	}
	if err := s.admitStart(req); err != nil {
		return nil, err
	}
	r := s.newRecipient(*req)
	s.shard.Statistics().RecipientStarted++
	r.become(recipientReady)
	s.node.Spawn(r.scope, "recipient "+req.Migration, r.run)
	return doneReply, nil
}

func (s *Service) admitStart(req *command.RecvChunkStart) error {
	if err := s.free(); err != nil {
		return err
	}
	if s.lastRecipient != nil && s.lastRecipient.start.Session == req.Session {
		return errcode.New(errcode.StaleSession, "migration %s has ended here in state %s",
			req.Migration, s.lastRecipient.state)
	}
	if txn := s.shard.SessionTxn(req.Lsid); txn > req.Txn {
		return errcode.New(errcode.TransactionTooOld,
			"migration %s of transaction %d is fenced by %d", req.Migration, req.Txn, txn)
	}
	return s.shard.Outside()
}

// runningRecipient returns the running recipient migration of a session.
func (s *Service) runningRecipient(session string) (*recipientMigration, error) {
	if err := s.member.NeedPrimary(); err != nil {
		return nil, err
	}
	if r := s.recipient; r != nil && r.start.Session == session {
		return r, nil
	}
	return nil, errcode.New(errcode.StaleSession,
		"shard %s is not the recipient of migration session %s", s.shard.Name(), session)
}

// recvStatus describes the running recipient migration, or the last one, for any session: the donor
// compares.
func (s *Service) recvStatus(
	t env.Task, _ env.NodeID, req *command.RecvChunkStatus,
) (*command.RecvStatus, error) {
	if err := s.member.NeedPrimary(); err != nil {
		return nil, err
	}
	waited := false
	if r, most := s.recipient, s.settings.StatusPoll; r != nil && req.WaitForSteady && most > 0 &&
		r.start.Session == req.Session && !r.settled() {
		waited = true
		err := r.changed.WaitFor(t, most, func() bool {
			return r.over || r.settled()
		})
		if err != nil && !errcode.Is(err, errcode.ExceededTimeLimit) {
			return nil, err
		}
	}
	r := s.recipient
	if r == nil {
		r = s.lastRecipient
	}
	if r == nil {
		return &command.RecvStatus{Waited: waited}, nil
	}
	st := r.describe()
	st.Waited = waited
	return st, nil
}

// settled reports whether the donor has something to do: go on, or give up. It does not wait for
// the sessions, which may never rest under load.
func (r *recipientMigration) settled() bool { return r.state >= recipientSteady }

func (r *recipientMigration) describe() *command.RecvStatus {
	st := &command.RecvStatus{
		Active:         !r.over,
		Session:        r.start.Session,
		NS:             r.start.NS,
		Min:            r.start.Min,
		Max:            r.start.Max,
		From:           r.start.From,
		State:          r.state.String(),
		SessionCatchUp: r.sessions.caughtUp(),
		Cloned:         r.cloned,
		CatchUp:        r.caughtUp,
		Steady:         r.steadyOps,
	}
	if r.err != nil {
		st.Error = r.err.Error()
	}
	return st
}

// recvCommit says that the donor blocks writes. It answers from inside the critical section, or the
// recipient migration fails.
func (s *Service) recvCommit(
	t env.Task, _ env.NodeID, req *command.RecvChunkCommit,
) (*command.Done, error) {
	if err := t.Point(failpoint.RecipientCommitBefore, env.Note{ID: req.Session}); err != nil {
		return nil, err
	}
	r, err := s.committingRecipient(req.Session)
	if err != nil {
		return nil, err
	}
	if err := r.await(t, recipientSteady); err != nil {
		return nil, err
	}
	if r.state == recipientSteady {
		r.become(recipientCommitStart)
		r.sessions.commit()
	}
	if err := t.Point(failpoint.RecipientCommitAfter, env.Note{ID: req.Session}); err != nil {
		return nil, err
	}
	if err := r.await(t, r.complete()); err != nil {
		return nil, err
	}
	if err := t.Point(failpoint.RecipientReplyCommit, env.Note{ID: req.Session}); err != nil {
		return nil, err
	}
	return doneReply, nil
}

// committingRecipient returns the recipient migration of a session that the donor commits, in 4.2
// also one that has ended well: the donor may ask again.
func (s *Service) committingRecipient(session string) (*recipientMigration, error) {
	r := s.lastRecipient
	if !s.profile.HasRecipientSection() && r != nil && r.start.Session == session &&
		r.state == recipientDone && s.member.IsPrimary() {
		return r, nil
	}
	return s.runningRecipient(session)
}

// complete is the state that informs the donor that everything is here.
func (r *recipientMigration) complete() recipientState {
	if r.s.profile.HasRecipientSection() {
		return recipientEnteredCritSec
	}
	return recipientDone
}

// await waits until the recipient migration has reached a state; one that takes too long fails
// (protocol 5.2).
func (r *recipientMigration) await(t env.Task, state recipientState) error {
	limit := r.s.settings.CommandTimeout / 4 * 5
	err := r.changed.WaitFor(t, limit, func() bool { return r.over || r.state >= state })
	if errcode.Is(err, errcode.ExceededTimeLimit) {
		r.fail(recipientFailed, errcode.New(errcode.ExceededTimeLimit,
			"migration %s is in state %s after %v", r.start.Migration, r.state, limit))
		return err
	}
	if err != nil {
		return err
	}
	if r.state.Failed() {
		return r.err
	}
	if r.s.recipient != r && r.state < recipientExitCritSec {
		return errcode.New(errcode.InterruptedDueToReplStateChange,
			"migration %s lost its recipient's primary", r.start.Migration)
	}
	return nil
}

// waitSlack is how long a release may hold its caller.
func (s *Service) waitSlack() time.Duration { return s.settings.CommandTimeout / 4 * 3 }

func (s *Service) recvAbort(
	t env.Task, _ env.NodeID, req *command.RecvChunkAbort,
) (*command.Done, error) {
	if err := t.Point(failpoint.RecipientAbort, env.Note{ID: req.Session}); err != nil {
		return nil, err
	}
	r, err := s.runningRecipient(req.Session)
	if err != nil {
		return nil, err
	}
	r.fail(recipientAborted,
		errcode.New(errcode.OperationFailed, "the donor has aborted migration %s",
			r.start.Migration))
	return doneReply, nil
}

// recvRelease says that the outcome is final, and answers when the recipient migration has ended.
// Where there is none, there is nothing to release.
func (s *Service) recvRelease(
	t env.Task, _ env.NodeID, req *command.RecvChunkReleaseCritSec,
) (*command.Done, error) {
	if err := t.Point(failpoint.RecipientRecvRelease, env.Note{ID: req.Migration}); err != nil {
		return nil, err
	}
	if err := s.member.NeedPrimary(); err != nil {
		return nil, err
	}
	// A failover during the wait may have brought the recipient migration back.
	for r := s.recipient; r != nil && r.start.Session == req.Session; r = s.recipient {
		if err := r.release(t, recipientAborted, errReleased(req.Migration)); err != nil {
			return nil, err
		}
	}
	if err := s.member.NeedPrimary(); err != nil {
		return nil, err
	}
	return doneReply, s.member.AwaitMajority(t)
}

// release ends a recipient migration whose outcome is final, and waits until it has ended.
func (r *recipientMigration) release(t env.Task, failed recipientState, err error) error {
	r.fail(failed, err)
	r.released = true
	r.changed.Broadcast()
	return r.changed.WaitFor(t, r.s.waitSlack(), func() bool { return r.over })
}

// advanceTxn fences what is older than a transaction number of the donor's session (protocol 9.3).
// It answers only when that has ended: a late copy of the start may have begun it after the
// release, and no second release will come.
func (s *Service) advanceTxn(
	t env.Task, _ env.NodeID, req *command.AdvanceTxn,
) (*command.Done, error) {
	lead, err := s.member.Lead()
	if err != nil {
		return nil, err
	}
	if err := s.shard.AdvanceSession(t, req.Lsid, req.Txn); err != nil {
		return nil, err
	}
	for r := s.recipient; r != nil && r.start.Lsid == req.Lsid; r = s.recipient {
		fenced := r.fenced()
		if fenced == nil {
			break
		}
		if err := r.release(t, recipientFailed, fenced); err != nil {
			return nil, err
		}
	}
	return doneReply, lead.AwaitMajority(t)
}
