package shard

import (
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/store"
)

// SessionTxn is the newest transaction number of a session, 0 for one that has never written here. It does not wait for
// whoever has the session checked out, so a check followed by a write in the same step is not overtaken.
func (s *Server) SessionTxn(id string) int64 {
	raw := s.cfg.Member.Store().Get(SessionsNS, string(key.String(id)), store.Latest)
	if raw == nil {
		return 0
	}
	return s.sessionRecord(raw).Txn
}
