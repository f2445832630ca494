package migration

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/statedoc"
	"github.com/shardproof/shardproof/system/store"
)

// minOpTimeRecovery is the document by which a primary of 4.2 informs its successors that the
// config server may know more of the shard's ranges than the shard does (protocol 2.2, 4 step 8).
const minOpTimeRecovery = "minOpTimeRecovery"

type minOpTime struct {
	ID     string `bson:"_id"`
	Config string `bson:"configsvrConnectionString"`
	Shard  string `bson:"shardName"`
	// Time is what the shard knows of the config server: readers of the catalog read a state at
	// least as new.
	Time hlc.Timestamp `bson:"minOpTime"`
	// Updaters counts the commits in progress.
	Updaters int `bson:"minOpTimeUpdaters"`
}

// minOpTime is the document as it is now; empty when it was never written.
func (s *Service) minOpTime() (m minOpTime) {
	raw := s.member.Store().Get(shard.VersionNS, string(key.String(minOpTimeRecovery)),
		store.Latest)
	if raw != nil {
		err := bson.Unmarshal(raw, &m)
		s.node.Assert(err == nil, "%s of %s cannot be read: %v: %v",
			minOpTimeRecovery, s.shard.Name(), raw, err)
	}
	return m
}

// setUpdaters writes the count, and how far the config server is known.
func (s *Service) setUpdaters(t env.Task, n int) (oplog.Time, error) {
	doc, err := bson.Marshal(minOpTime{
		ID:       minOpTimeRecovery,
		Config:   shard.ConfigSet,
		Shard:    s.shard.Name(),
		Time:     s.shard.Clock().Now().Config,
		Updaters: n,
	})
	if err != nil {
		panic(err)
	}
	return s.member.Write(t, oplog.Op{
		Kind:  oplog.Update,
		NS:    shard.VersionNS,
		ID:    string(key.String(minOpTimeRecovery)),
		Doc:   doc,
		Actor: uint8(trace.Donor),
	})
}

// count adds the donor migration to the commits in progress, for a majority to know before writes
// are blocked.
func (d *donorMigration) count(t env.Task) error {
	if err := d.live(); err != nil {
		return err
	}
	at, err := d.s.setUpdaters(t, d.s.minOpTime().Updaters+1)
	if err != nil {
		return err
	}
	d.counted = true
	return statedoc.AwaitMajority(t, d.s.member, at)
}

// uncount takes the donor migration out again. Nobody waits for the majority: a successor that does
// not know of it asks the config server once too often.
func (d *donorMigration) uncount(t env.Task) error {
	if !d.counted {
		return nil
	}
	err := d.s.uncount(t)
	d.counted = err != nil
	return err
}

// CountCommit adds the commit of a move of another kind to those in progress, for a majority to
// know before it is asked for. What it returns, also with an error, takes it out again.
func (s *Service) CountCommit(t env.Task, move string) (uncount func(), err error) {
	if err := s.awaitRecovered(t); err != nil { // which ends with a count of none
		return func() {}, err
	}
	at, err := s.setUpdaters(t, s.minOpTime().Updaters+1)
	if err != nil {
		return func() {}, err
	}
	return func() { s.uncountLater(move, s.uncount) }, statedoc.AwaitMajority(t, s.member, at)
}

// uncountLater takes the commit of a move out of those in progress without anybody waiting for it.
func (s *Service) uncountLater(move string, uncount func(env.Task) error) {
	s.spawnLasting(s.member.TermScope(), "uncount "+move, func(t env.Task) error {
		return s.retryUntil(t, move, failpoint.DonorMinOpTimeDec, uncount)
	})
}

func (s *Service) uncount(t env.Task) error {
	_, err := s.setUpdaters(t, s.minOpTime().Updaters-1)
	return err
}

// stepUp42 takes over from an earlier primary. If that may have sent a commit, nothing is known of
// any placement until the config server has been asked; what it says then is final, but for a
// commit that is still in transit.
func (s *Service) stepUp42(t env.Task) error {
	if err := pass(t, failpoint.RecoveryList, env.Note{}); err != nil {
		return err
	}
	left := s.minOpTime()
	s.shard.Clock().Advance(hlc.Vector{Config: left.Time})
	if left.Updaters == 0 {
		return nil
	}
	if err := pass(t, failpoint.RecoveryClear, env.Note{N: left.Updaters}); err != nil {
		return err
	}
	s.shard.Statistics().Unfinished += int64(left.Updaters)
	s.undecided = true
	s.shard.BeginRecovery()
	s.spawnLasting(s.member.TermScope(), "recover minOpTime", s.recoverTime)
	return nil
}

// recoverTime learns how far the config server is, by a write there that follows every commit that
// has taken effect.
func (s *Service) recoverTime(t env.Task) error {
	err := s.retryUntil(t, minOpTimeRecovery, failpoint.RecoveryBarrier, func(t env.Task) error {
		return statedoc.AwaitMajority(t, s.member, s.member.Applied())
	})
	if err != nil {
		return err
	}
	err = s.retryUntil(t, minOpTimeRecovery, failpoint.RecoveryConfigWrite, func(t env.Task) error {
		return s.logChange(t, "Sharding minOpTime recovery", "",
			bson.D{{Key: "shard", Value: s.shard.Name()}})
	})
	if err != nil {
		return err
	}
	err = s.retryUntil(t, minOpTimeRecovery, failpoint.RecoveryComplete, func(t env.Task) error {
		_, err := s.setUpdaters(t, 0)
		return err
	})
	if err != nil {
		return err
	}
	s.undecided = false
	s.shard.EndRecovery()
	s.recovered.Broadcast()
	return nil
}
