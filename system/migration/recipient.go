package migration

import (
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
)

// recipientState is how far a recipient has come (protocol 5.2). Before recipientEnteredCritSec it
// may fail or be aborted; from then on only the donor's release ends it.
type recipientState = trace.RecipientState

const (
	recipientReady          = trace.RecipientReady
	recipientCloning        = trace.RecipientClone
	recipientCatchUp        = trace.RecipientCatchup
	recipientSteady         = trace.RecipientSteady
	recipientCommitStart    = trace.RecipientCommitStart
	recipientEnteredCritSec = trace.RecipientEnteredCritSec
	recipientExitCritSec    = trace.RecipientExitCritSec
	recipientDone           = trace.RecipientDone
	recipientFailed         = trace.RecipientFail
	recipientAborted        = trace.RecipientAbort
)

// recipientMigration is the recipient's side of one migration.
type recipientMigration struct {
	s     *Service
	start command.RecvChunkStart
	state recipientState
	scope *env.Scope // ends when the recipient migration fails
	// recovered: an earlier primary had everything, only the critical section is left.
	recovered bool
	// durable: the receipt, and with it the critical section, may be on record.
	durable  bool
	noted    bool // in 4.2: the range is noted as being received
	released bool
	over     bool
	err      error
	changed  env.Cond

	pattern  key.Pattern
	last     oplog.Time // the newest write of any phase
	sessions *sessionDestination
	// cloneNumber and modsNumber count the answers taken from the donor.
	cloneNumber, modsNumber     uint64
	cloned, caughtUp, steadyOps int

	timing  stepTiming
	entered env.Time // when the critical section was entered; zero: not
}

func (s *Service) newRecipient(start command.RecvChunkStart) *recipientMigration {
	r := &recipientMigration{
		state: recipientReady,
		s:     s,
		start: start,
		scope: env.NewScope(s.member.TermScope()),
	}
	r.sessions = &sessionDestination{r: r}
	s.recipient = r
	if s.profile.HasRecipientSection() {
		r.timing = newTiming(recipientSteps, s.node.Mono())
		s.shard.Collection(start.NS).BeginReceive(start.Migration, r.rng())
	} else {
		r.timing = newTiming(len(r.steps42()), s.node.Mono())
	}
	return r
}

func (r *recipientMigration) rng() key.Range {
	return key.Range{Min: r.start.Min, Max: r.start.Max}
}

// recipientSteps are the timed steps of protocol 5.2.
const recipientSteps = 8

// steps are the timed steps that run takes: 1 to 7 of protocol 5.2. The last, which hold begins,
// ends with the donor's release.
func (r *recipientMigration) steps() []func(env.Task) error {
	if !r.s.profile.HasRecipientSection() {
		return r.steps42()
	}
	return []func(env.Task) error{
		r.awaitOverlap, r.createCollection, r.insertTask, r.clone, r.catchUp, r.follow, r.takeOver,
	}
}

// run takes the timed steps.
func (r *recipientMigration) run(t env.Task) {
	for _, do := range r.steps() {
		err := r.live()
		if err == nil {
			err = do(t)
		}
		r.timing.lap(r.s.node.Mono())
		if err != nil {
			_ = r.at(t, failpoint.RecipientFail, 0)
			r.fail(recipientFailed, err)
			r.unwind()
			return
		}
	}
	if r.state != recipientDone {
		r.hold()
	}
}

// live returns an error when nothing may be written for this migration any more: it failed, it was
// fenced, or the term is over. A check and the write behind it are one step.
func (r *recipientMigration) live() error {
	switch {
	case r.s.recipient != r:
		return errcode.New(errcode.InterruptedDueToReplStateChange,
			"migration %s belongs to an earlier tenure", r.start.Migration)
	case r.state.Failed():
		return r.err
	}
	return r.fenced()
}

// fenced returns an error when the donor's session has gone beyond the migration.
func (r *recipientMigration) fenced() error {
	if txn := r.s.shard.SessionTxn(r.start.Lsid); txn > r.start.Txn {
		return errcode.New(errcode.TransactionTooOld,
			"migration %s of transaction %d is fenced by %d", r.start.Migration, r.start.Txn, txn)
	}
	return nil
}

// write writes for the migration, unless it is over.
func (r *recipientMigration) write(t env.Task, ops ...oplog.Op) error {
	if err := r.live(); err != nil {
		return err
	}
	at, err := r.s.member.Write(t, ops...)
	if err == nil {
		r.last = at
	}
	return err
}

// fail ends the recipient migration unless it holds the critical section, which only the donor may
// end, or takes it again as its predecessor had it. Its tasks end at their next wait.
func (r *recipientMigration) fail(state recipientState, err error) {
	if r.s.recipient != r || r.state >= recipientEnteredCritSec || r.recovered {
		return
	}
	r.err = err
	r.become(state)
	r.scope.Cancel(err)
}

// unwind releases what a failed recipient migration holds.
func (r *recipientMigration) unwind() {
	switch {
	case r.s.recipient != r:
		r.over = true
		r.changed.Broadcast()
	case r.durable:
		r.s.spawnLasting(r.s.member.TermScope(), "unwind "+r.start.Migration, r.letGo)
	default:
		r.finish()
	}
}

// finish takes the recipient migration out of the registry.
func (r *recipientMigration) finish() {
	if r.s.recipient == r {
		r.s.recipient, r.s.lastRecipient = nil, r
		r.endReceive()
		r.account()
	}
	r.over = true
	r.changed.Broadcast()
	r.scope.Close(errcode.New(errcode.Interrupted, "migration %s has ended on its recipient",
		r.start.Migration))
}

// endReceive takes back what newRecipient has noted, or what notePending has.
func (r *recipientMigration) endReceive() {
	if r.s.profile.HasRecipientSection() {
		r.s.shard.Collection(r.start.NS).EndReceive(r.start.Migration)
	} else {
		r.endReceive42()
	}
}

func (r *recipientMigration) become(state recipientState) {
	r.state = state
	m := &r.start
	r.s.node.Emit(trace.RecipientAdvancedEvent{
		Shard:     m.To,
		Peer:      m.From,
		NS:        m.NS,
		Min:       string(m.Min),
		Max:       string(m.Max),
		Migration: m.Migration,
		State:     state,
	}.Event())
	r.changed.Broadcast()
}

// at announces a site of this migration.
func (r *recipientMigration) at(t env.Task, site failpoint.Site, n int) error {
	return t.Point(site, env.Note{Peer: r.start.From, ID: r.start.Migration, N: n})
}
