package shard

import (
	"github.com/shardproof/shardproof/system/clock"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// ClockNS holds the one document that makes config time durable on a shard (protocol 2.2).
const ClockNS = "config.vectorClock"

const clockID = "vectorClockState"

type clockDoc struct {
	ID     string `bson:"_id"`
	Config int64  `bson:"configTime"`
}

// PersistConfigTime makes the config time that this node has seen durable on a majority, so that whoever is primary later
// reads a catalogue at least as new (protocol 9.1).
func (s *Server) PersistConfigTime(t env.Task) error {
	now := s.Clock().Now().Config
	if s.durableConfigTime() < now {
		op := documentOp(oplog.Update, ClockNS, clockID, clockDoc{ID: clockID, Config: int64(now)})
		if _, err := s.cfg.Member.Write(t, op); err != nil {
			return err
		}
	}
	return s.cfg.Member.AwaitMajority(t)
}

func (s *Server) durableConfigTime() clock.Timestamp {
	raw := s.cfg.Member.Store().Get(ClockNS, string(key.String(clockID)), store.Latest)
	if raw == nil {
		return 0
	}
	var doc clockDoc
	s.decode(raw, &doc)
	return clock.Timestamp(doc.Config)
}

// resumeConfigTime takes over what an earlier primary made durable.
func (s *Server) resumeConfigTime() { s.Clock().Advance(clock.Vector{Config: s.durableConfigTime()}) }
