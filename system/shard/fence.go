package shard

import (
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/store"
)

// SessionTxn is the newest transaction number of a session, 0 for one that has never written here.
// It does not wait for the task that has the session checked out, so a check followed by a write in
// the same step is not overtaken.
func (s *Server) SessionTxn(id string) int64 {
	raw := s.cfg.Member.Store().Get(SessionsNS, string(key.String(id)), store.Latest)
	if raw == nil {
		return 0
	}
	return s.sessionRecord(raw).Txn
}

// AdvanceSession moves the session to the transaction number, unless it is there or beyond, without
// a statement. Everything that an older number begins later is refused: this is how a migration
// fences its past (protocol 9.3). The caller waits for the majority.
func (s *Server) AdvanceSession(t env.Task, id string, txn int64) error {
	x, err := s.Checkout(t, id)
	if err != nil {
		return err
	}
	defer x.Release()
	if x.Record().Txn >= txn {
		return nil
	}
	_, err = s.cfg.Member.Write(t, sessionOpOf(SessionRecord{ID: id, Txn: txn}))
	return err
}
