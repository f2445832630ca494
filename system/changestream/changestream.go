// Package changestream is a shard's part in change streams (protocol 12): it reads the
// majority-committed log and says of each entry what a client may know.
//
// Promise: a user's write to an owned document is one change, in the order of the log, and what
// migrations and range deletion write is none. An answer up to a time is final: nothing up to that
// time is ever added, even by a later primary. A reader that names the version by which it chose
// its shards learns of every range that is moving to another.
//
// Refusal: no cursors and no state. A reader comes back with the time up to which it was answered,
// to any primary. When the log was cut off behind that time, it gets an error rather than an answer
// with a gap.
package changestream

import (
	"slices"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/shard"
)

// Service answers the readers of one member.
type Service struct {
	shard     *shard.Server
	member    *replset.Member
	receivers func(ns string) []string
}

// New serves command.ReadChanges. Receivers lists the shards to which a range of the collection is
// being moved from here, from before the move is announced in the log until the shard's metadata
// show its outcome.
func New(sh *shard.Server, receivers func(ns string) []string) *Service {
	s := &Service{shard: sh, member: sh.Member(), receivers: receivers}
	rpc.Handle(sh.Endpoint(), s.read)
	return s
}

func (s *Service) read(
	t env.Task, _ env.NodeID, req *command.ReadChanges,
) (*command.ChangesRead, error) {
	lead, err := s.member.Lead()
	if err != nil {
		return nil, err
	}
	reply := &command.ChangesRead{}
	if req.Open {
		if err := s.shard.Collection(req.NS).AdmitRead(t, req.Place); err != nil {
			return nil, err
		}
		reply.Receivers = s.receivers(req.NS)
	}
	if err := s.reach(t, req.Reach); err != nil {
		return nil, err
	}
	if err := t.Point(failpoint.ChangesRead, env.Note{ID: req.NS}); err != nil {
		return nil, err
	}
	// The database may have moved since: what happens from then on is in another log.
	if req.Unsharded && req.Open && !s.shard.Collection(req.NS).Serves(req.Place) {
		return nil, errcode.New(errcode.StaleDbVersion,
			"%s is not served here by the version that the reader knows", req.NS)
	}
	// A primary that was deposed and does not know it would agree to a version from before the
	// moves of its successor, and who reads from here on would not be told of these moves.
	if req.Open && !req.Unsharded {
		if err := lead.AwaitMajority(t); errcode.Is(err, errcode.ExceededTimeLimit) {
			return nil, errcode.New(errcode.ReadConcernMajorityNotAvailableYet, "%v", err)
		} else if err != nil {
			return nil, err
		}
	}
	return reply, s.collect(req, reply)
}

// reach lets the log advance to a time: an idle shard writes an entry without effect. A majority
// that takes too long for it only makes the answer end earlier.
func (s *Service) reach(t env.Task, time hlc.Timestamp) error {
	if s.member.AppliedTS() < time {
		if err := t.Point(failpoint.ChangesNoop, env.Note{}); err != nil {
			return err
		}
	}
	if s.member.AppliedTS() < time {
		_, err := s.member.Write(t, oplog.Op{Kind: oplog.Noop, Actor: uint8(trace.System)})
		if err != nil {
			return err
		}
	}
	if err := s.member.AwaitTS(t, time); !errcode.Is(err, errcode.ExceededTimeLimit) {
		return err
	}
	return t.Err()
}

// collect fills the answer from the committed log, with no more than fits into a message. What
// happened to an unsharded collection before it came here with its database is in the log of
// another shard, and so may be what happened under its name while a sharded collection had that.
func (s *Service) collect(req *command.ReadChanges, reply *command.ChangesRead) error {
	reply.Upto = s.member.CommittedTS()
	waits := suspension{ns: req.NS, since: req.After, held: s.shard.Suspended(req.NS)}
	var came bool
	bytes := 0
	complete := s.member.Since(req.After, func(e *oplog.Entry) bool {
		came = came || cameWithDatabase(req.NS, e) ||
			req.Unsharded && (arrived(req.NS, e) || shard.WasSharded(req.NS, e))
		if came {
			return false
		}
		changes := Changes(s.shard.Name(), req.NS, e)
		waits.pass(e, changes)
		reply.Changes = append(reply.Changes, changes...)
		for i := range changes {
			bytes += len(changes[i].Doc)
		}
		if bytes < document.MaxBytes && (req.Limit == 0 || len(reply.Changes) < req.Limit) {
			return true
		}
		reply.Upto = e.TS
		return false
	})
	if came {
		return errcode.New(errcode.ChangeStreamHistoryLost,
			"the history of %s is not on %s alone: it has come there, or was sharded, after %s",
			req.NS, s.shard.Name(), req.After)
	}
	if !complete {
		return errcode.New(errcode.ChangeStreamHistoryLost,
			"the log of %s does not reach back to %s", s.shard.Name(), req.After)
	}
	reply.Upto = waits.limit(reply.Upto)
	return nil
}

// suspension is an operation that has everything else on the collection wait. The catalog changes
// after every shard has begun to wait, and a shard's own collection may be dropped or renamed later
// than that: a reader that had got beyond the change in the catalog, and not to the end of the
// collection, would come back to a collection that begins before its token, and never be told that
// the one it has read is gone.
type suspension struct {
	ns string
	// since is when it began, or up to when the reader knows already.
	since hlc.Timestamp
	// held: it is not over. told: the end of the collection is among the changes.
	held, told bool
}

func (w *suspension) pass(e *oplog.Entry, changes []command.Change) {
	begins := shard.Suspends(w.ns, e)
	if begins || len(changes) > 0 { // which nobody makes while it lasts
		w.since = e.TS
	}
	w.told = w.told && !begins
	w.told = w.told ||
		slices.ContainsFunc(changes, func(c command.Change) bool { return c.Ends() })
}

// limit is up to when an answer may go.
func (w *suspension) limit(upto hlc.Timestamp) hlc.Timestamp {
	if w.held && !w.told {
		return min(upto, w.since)
	}
	return upto
}
