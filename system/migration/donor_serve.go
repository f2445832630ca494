package migration

import (
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/rpc"
)

func (s *Service) serveDonor(ep *rpc.Endpoint) {
	rpc.Handle(ep, s.moveRange)
	rpc.Handle(ep, s.migrateClone)
	rpc.Handle(ep, s.transferMods)
	rpc.Handle(ep, s.nextSessionMods)
	rpc.Handle(ep, s.collectionOptions)
	rpc.Handle(ep, s.joinMigrations)
}

// moveRange begins a migration, or joins the running one when the request is the same (protocol 4
// step 2).
func (s *Service) moveRange(
	t env.Task, _ env.NodeID, req *command.ShardsvrMoveRange,
) (*command.Done, error) {
	if err := s.member.NeedPrimary(); err != nil {
		return nil, err
	}
	d := s.donor
	if d == nil || !sameRequest(d.req, req) {
		if err := t.Point(failpoint.DonorRegister, env.Note{Peer: req.To}); err != nil {
			return nil, err
		}
		var err error
		if d, err = s.register(req); err != nil {
			return nil, err
		}
	} else if err := t.Point(
		failpoint.DonorJoinExisting, env.Note{ID: d.record.Migration},
	); err != nil {
		return nil, err
	}
	if err := d.ended.WaitFor(t, 0, func() bool { return d.over }); err != nil {
		return nil, err
	}
	return &command.Done{}, d.err
}

// sameRequest reports whether two requests mean one migration.
func sameRequest(a, b *command.ShardsvrMoveRange) bool {
	return a.NS == b.NS && a.Min == b.Min && a.Max == b.Max && a.To == b.To &&
		a.WaitDelete == b.WaitDelete &&
		a.ForceJumbo == b.ForceJumbo && a.Throttle == b.Throttle
}

// register makes the request this shard's migration, unless there is one.
func (s *Service) register(req *command.ShardsvrMoveRange) (*donorMigration, error) {
	if err := s.member.NeedPrimary(); err != nil {
		return nil, err
	}
	if d := s.donor; d != nil && sameRequest(d.req, req) {
		return d, nil
	}
	if err := s.free(); err != nil {
		return nil, err
	}
	if s.shard.Set(req.To) == nil || req.To == s.shard.Name() {
		return nil, errcode.New(errcode.ShardNotFound, "%q is not another shard", req.To)
	}
	d := &donorMigration{
		state: donorCreated, s: s,
		req:        req,
		collection: s.shard.Collection(req.NS),
		began:      s.node.Mono(),
	}
	id, txn := s.newID()
	d.record = Coordinator{
		Migration: id,
		Session:   s.shard.Name() + "_" + req.To + "_" + id,
		Lsid:      s.lsid(),
		Txn:       txn,
		NS:        req.NS,
		Donor:     s.shard.Name(),
		Recipient: req.To,
		Min:       []byte(req.Min),
		Max:       []byte(req.Max),
	}
	s.donor = d
	s.node.Emit(trace.MigrationRequestedEvent{
		Shard:     s.shard.Name(),
		Peer:      req.To,
		NS:        req.NS,
		Min:       string(req.Min),
		Max:       string(req.Max),
		Migration: id,
		Request:   req.MigrationOf,
	}.Event())
	s.node.Spawn(s.member.TermScope(), "donor "+id, d.run)
	return d, nil
}

// runningDonor returns the running donor migration of a session.
func (s *Service) runningDonor(session string) (*donorMigration, error) {
	if err := s.member.NeedPrimary(); err != nil {
		return nil, err
	}
	if d := s.donor; d != nil && d.record.Session == session && d.state >= donorCloning {
		return d, nil
	}
	return nil, errcode.New(errcode.StaleSession,
		"shard %s is not the donor of migration session %s", s.shard.Name(), session)
}

// checkCloning fails unless the donor migration of a session runs and has not begun to commit: a
// recipient may begin.
func (s *Service) checkCloning(session string) error {
	d, err := s.runningDonor(session)
	if err == nil && d.state >= donorCriticalSection {
		err = errcode.New(errcode.StaleSession, "migration %s is in state %s and begins no more",
			d.record.Migration, d.state)
	}
	return err
}

func (s *Service) migrateClone(
	t env.Task, _ env.NodeID, req *command.MigrateClone,
) (*command.Mods, error) {
	d, err := s.runningDonor(req.Session)
	if err != nil {
		return nil, err
	}
	return d.clone.pulls.serve(t, req.Number, d.nextClone)
}

func (s *Service) transferMods(
	t env.Task, _ env.NodeID, req *command.TransferMods,
) (*command.Mods, error) {
	d, err := s.runningDonor(req.Session)
	if err != nil {
		return nil, err
	}
	return d.mods.serve(t, req.Number, d.nextMods)
}

func (s *Service) nextSessionMods(
	t env.Task, _ env.NodeID, req *command.NextSessionMods,
) (*command.SessionMods, error) {
	d, err := s.runningDonor(req.Session)
	if err != nil {
		return nil, err
	}
	return d.sessions.pulls.serve(t, req.Number, d.sessions.next)
}

// asksInTime fails unless a recipient of the session may still begin: of 4.2, before the donor
// begins to commit.
func (s *Service) asksInTime(session string) error {
	if !s.profile.CoordinatesMigrations() {
		return s.checkCloning(session)
	}
	_, err := s.runningDonor(session)
	return err
}

// leadsDonor fails unless this is the primary, with a donor whose recipient may still begin. In 4.2
// a later primary knows nothing of the migration and fences no recipient, so that a deposed one
// must not answer for it.
func (s *Service) leadsDonor(t env.Task, session string) error {
	if err := s.member.NeedPrimary(); err != nil {
		return err
	}
	if !s.profile.CoordinatesMigrations() {
		if err := s.member.Confirm(t); err != nil {
			return err
		}
	}
	return s.asksInTime(session)
}

// collectionOptions is what a recipient asks for first. To one that was asked to begin long ago, by
// a message that was late, nobody would say what to do with what it would leave behind.
func (s *Service) collectionOptions(
	t env.Task, _ env.NodeID, req *command.CollectionOptions,
) (*command.CollectionOptionsReply, error) {
	if err := s.leadsDonor(t, req.Session); err != nil {
		return nil, err
	}
	options, ok := s.member.Store().Options(req.NS)
	if !ok {
		return nil, errcode.New(errcode.NamespaceNotFound, "shard %s has no collection %s",
			s.shard.Name(), req.NS)
	}
	return &command.CollectionOptionsReply{
		Options: options, Indexes: s.shard.Indexes(req.NS), Formerly: s.shard.Formerly(req.NS),
		Rekeyed: s.shard.Rekeyed(req.NS),
	}, nil
}
