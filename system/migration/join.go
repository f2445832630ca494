package migration

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

// joinMigrations waits for the end of everything that this shard does for the namespace, or for all
// (`_shardsvrJoinMigrations`): its donor migration, its recipient migration and the recovery of
// earlier ones. The requester has learned that migrations are forbidden, and every later primary
// will have learned it as well.
func (s *Service) joinMigrations(
	t env.Task, _ env.NodeID, req *command.JoinMigrations,
) (*command.Done, error) {
	lead, err := s.member.Lead()
	if err != nil {
		return nil, err
	}
	if err := t.Point(failpoint.DonorJoinMigrations, env.Note{ID: req.NS}); err != nil {
		return nil, err
	}
	// A migration that waits for the recovery as well begins then, and ends with one of its own.
	if err := s.awaitRecovered(t); err != nil {
		return nil, err
	}
	meant := func(ns string) bool { return req.NS == "" || req.NS == ns }
	if d := s.donor; d != nil && meant(d.record.NS) {
		if err := d.ended.WaitFor(t, 0, func() bool { return d.over }); err != nil {
			return nil, err
		}
	}
	if r := s.recipient; r != nil && meant(r.start.NS) {
		if err := r.changed.WaitFor(t, 0, func() bool { return r.over }); err != nil {
			return nil, err
		}
	}
	if err := s.awaitRecovered(t); err != nil {
		return nil, err
	}
	if err := lead.Err(); err != nil { // a later primary may have resumed others
		return nil, err
	}
	if err := s.shard.PersistConfigTime(t); err != nil {
		return nil, err
	}
	return doneReply, lead.AwaitMajority(t)
}
