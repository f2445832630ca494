package shard

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/store"
)

// ClockNS holds the one document that makes config time durable on a shard (protocol 2.2).
const ClockNS = "config.vectorClock"

// VersionNS holds single documents that a shard keeps for itself; 4.2 keeps more of them there than
// later versions.
const VersionNS = "admin.system.version"

type identityDoc struct {
	ID    string `bson:"_id"`
	Shard string `bson:"shardName"`
}

// Identity is the operation that makes a replica set a shard: it writes a document that stays
// forever.
func Identity(name string) oplog.Op {
	const id = "shardIdentity"
	return documentOp(oplog.Insert, VersionNS, id, identityDoc{id, name})
}

const clockID = "vectorClockState"

type clockDoc struct {
	ID     string `bson:"_id"`
	Config int64  `bson:"configTime"`
}

// awaitTime waits until everything up to a cluster time is committed here (afterClusterTime,
// atClusterTime). A set that has nothing to write would never get there, so an entry is asked for;
// without it the next write will do.
func (s *Server) awaitTime(t env.Task, ts hlc.Timestamp) error {
	m := s.cfg.Member
	if m.CommittedTS() >= ts {
		return nil
	}
	if err := t.Point(failpoint.RequestAwaitTime, env.Note{ID: s.name}); err != nil {
		return err
	}
	s.Clock().Advance(hlc.Vector{Cluster: ts})
	note := &command.AppendOplogNote{Time: ts}
	if m.IsPrimary() {
		_, _ = s.appendOplogNote(t, s.node.ID(), note)
	} else if set := s.Set(s.name); set != nil && m.AppliedTS() < ts {
		_, _ = rpc.CallPrimary[command.Done](t, set, note, s.cfg.Settings.CommandTimeout)
	}
	return m.AwaitTS(t, ts)
}

// PersistConfigTime makes the config time that this node has seen durable on a majority, so that
// every later primary reads a catalog at least as new (protocol 9.1).
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

func (s *Server) durableConfigTime() hlc.Timestamp {
	raw := s.cfg.Member.Store().Get(ClockNS, string(key.String(clockID)), store.Latest)
	if raw == nil {
		return 0
	}
	var doc clockDoc
	s.decode(raw, &doc)
	return hlc.Timestamp(doc.Config)
}

// resumeConfigTime takes over what an earlier primary made durable.
func (s *Server) resumeConfigTime() { s.Clock().Advance(hlc.Vector{Config: s.durableConfigTime()}) }
