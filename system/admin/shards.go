package admin

import (
	"slices"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rpc"
)

// addShard makes a replica set a shard, without zones. One that drains goes on draining.
func (s *Service) addShard(t env.Task, _ env.NodeID, req *command.AddShard) (*command.Done, error) {
	err := s.alone(t, "addShard", req.Name, func(own env.Task) error {
		if err := s.acceptable(req); err != nil || s.isShard(req.Name) {
			return err
		}
		return s.include(own, req)
	})
	return doneReply, err
}

// acceptable refuses a limit where there is none, and a shard that has another one: what is not so
// must not be acknowledged.
func (s *Service) acceptable(req *command.AddShard) error {
	if req.MaxBytes < 0 || req.MaxBytes > 0 && s.config.Profile().BalancesBySize() {
		return errcode.New(errcode.BadValue,
			"shard %s cannot have the limit %d: maxSize is a number of bytes in 4.2, and "+
				"unknown later",
			req.Name, req.MaxBytes)
	}
	if doc, err := s.config.Shard(req.Name); err == nil && doc.MaxBytes != req.MaxBytes {
		return errcode.New(errcode.IllegalOperation,
			"%s is a shard with maxSize %d, not %d", req.Name, doc.MaxBytes, req.MaxBytes)
	}
	return nil
}

// limitShard changes a shard's maxSize (4.2, where operators write it into config.shards).
func (s *Service) limitShard(
	t env.Task, _ env.NodeID, req *command.LimitShard,
) (*command.Done, error) {
	note := env.Note{Peer: req.Name}
	return s.change(t, "limitShard "+req.Name, failpoint.ConfigAddShard, note,
		func() ([]oplog.Op, error) {
			doc, err := s.config.Shard(req.Name)
			switch {
			case err != nil:
				return nil, err
			case req.MaxBytes < 0 || s.config.Profile().BalancesBySize():
				return nil, errcode.New(errcode.BadValue,
					"shard %s cannot have the limit %d: maxSize is a number of bytes in 4.2, and "+
						"unknown later", req.Name, req.MaxBytes)
			case doc.MaxBytes == req.MaxBytes:
				return nil, nil
			}
			doc.MaxBytes = req.MaxBytes
			op, err := configsvr.PutShard(doc, trace.ShardZones)
			return []oplog.Op{op}, err
		})
}

// alone runs fn in this term while no other request adds or removes the shard, and until what its
// result rests on is majority-committed. A request that was stalled could otherwise continue with
// what it knew before the shard left and came back.
func (s *Service) alone(t env.Task, what, name string, fn func(env.Task) error) error {
	return s.config.InTerm(t, what+" "+name, func(own env.Task) error {
		if err := s.free.WaitFor(own, 0, func() bool { return !s.changing[name] }); err != nil {
			return err
		}
		s.changing[name] = true
		defer func() {
			delete(s.changing, name)
			s.free.Broadcast()
		}()
		return s.config.Settled(own, fn(own))
	})
}

func (s *Service) isShard(name string) bool {
	_, err := s.config.Shard(name)
	return err == nil
}

// include asks the replica set first. Ranges and databases that were on their way there when it was
// last a shard are refused until it knows that it is one again (H-38).
func (s *Service) include(t env.Task, req *command.AddShard) error {
	name := req.Name
	set := s.config.Set(name)
	if set == nil || name == configsvr.Name {
		return errcode.New(errcode.BadValue,
			"there is no replica set %q that could be a shard", name)
	}
	if err := s.prepare(t, name, set); err != nil {
		return err
	}
	return s.admit(t, req, set)
}

// prepare has the replica set get ready to be a shard.
func (s *Service) prepare(t env.Task, name string, set *rpc.Set) error {
	at, err := s.now(t)
	if err != nil {
		return err
	}
	if _, err := rpc.AskPrimary[command.Done](
		t, set, &command.ShardsvrJoinCluster{Name: name, At: at},
		s.config.Settings().CommandTimeout,
	); err != nil {
		return err
	}
	return t.Point(failpoint.ConfigAddShard, env.Note{Peer: name})
}

// admit writes that the replica set is a shard.
func (s *Service) admit(t env.Task, req *command.AddShard, set *rpc.Set) error {
	return s.config.WhileUnchanging(t, func() error {
		if s.isShard(req.Name) { // asked for twice
			return nil
		}
		op, err := configsvr.PutShard(configsvr.Shard{
			Name:     req.Name,
			Host:     set.Host(),
			MaxBytes: req.MaxBytes,
		}, trace.ShardAdded)
		if err != nil {
			return err
		}
		return s.config.Write(t, op)
	})
}

// findShard is served by every member.
func (s *Service) findShard(
	t env.Task, _ env.NodeID, req *command.FindShard,
) (*command.FoundShard, error) {
	if err := t.Yield(failpoint.ConfigRoutingTable); err != nil {
		return nil, err
	}
	member := s.config.Member()
	if err := member.AwaitTS(t, req.After); err != nil {
		return nil, err
	}
	doc, err := configsvr.ReadShard(member.Store(), req.Name, member.ReadAt(command.MajorityRead))
	return &command.FoundShard{Draining: doc.Draining}, err
}

// removeShard takes a shard one state further. It is repeated until the answer says that the shard
// is removed.
func (s *Service) removeShard(
	t env.Task, _ env.NodeID, req *command.RemoveShard,
) (reply *command.RemoveShardReply, err error) {
	err = s.alone(t, "removeShard", req.Name, func(own env.Task) error {
		doc, err := s.config.Shard(req.Name)
		switch {
		case err != nil:
		case doc.Draining:
			reply, err = s.remove(own, req.Name)
		default:
			reply, err = s.drain(own, req.Name)
		}
		return err
	})
	return reply, err
}

// drain lets the shard get nothing any more.
func (s *Service) drain(t env.Task, name string) (*command.RemoveShardReply, error) {
	if err := t.Point(failpoint.ConfigDrainStart, env.Note{Peer: name}); err != nil {
		return nil, err
	}
	err := s.config.Locked(t, func() error {
		return s.write(t, func() ([]oplog.Op, error) { return s.draining(name) })
	})
	if err != nil {
		return nil, err
	}
	return s.remaining(name, command.RemovalStarted)
}

// draining is what is written when a shard begins to drain.
func (s *Service) draining(name string) ([]oplog.Op, error) {
	doc, err := s.config.Shard(name)
	if err != nil || doc.Draining {
		return nil, err
	}
	if len(s.staying(name)) == 0 {
		return nil, errcode.New(errcode.IllegalOperation,
			"shard %s is the last one that does not drain", name)
	}
	for _, zone := range doc.Zones {
		if err := s.dispensable(name, zone); err != nil {
			return nil, err
		}
	}
	doc.Draining = true
	op, err := configsvr.PutShard(doc, trace.ShardDraining)
	return []oplog.Op{op}, err
}

// staying lists the other shards that do not drain.
func (s *Service) staying(but string) []configsvr.Shard {
	return slices.DeleteFunc(s.config.Shards(), func(d configsvr.Shard) bool {
		return d.Draining || d.Name == but
	})
}

// remove takes the shard out of the cluster if it has nothing any more. It has to say so itself,
// too: MongoDB does not ask it, and removes one that is lost for good as well.
func (s *Service) remove(t env.Task, name string) (*command.RemoveShardReply, error) {
	if err := t.Point(failpoint.ConfigDrainCheck, env.Note{Peer: name}); err != nil {
		return nil, err
	}
	reply, err := s.remaining(name, command.RemovalOngoing)
	if err != nil || !reply.Empty() {
		return reply, err
	}
	if reply.Unfinished, err = s.unfinished(t, name); err != nil || !reply.Empty() {
		return reply, err
	}
	if err := t.Point(failpoint.ConfigDrainRemove, env.Note{Peer: name}); err != nil {
		return nil, err
	}
	err = s.config.WhileUnchanging(t, func() error {
		reply, err = s.removeEmpty(t, name)
		return err
	})
	return reply, err
}

// unfinished is why the shard cannot leave yet, empty when it can. An operation on a whole
// collection that is in progress may hold the collection on this shard, which nobody else would
// release.
func (s *Service) unfinished(t env.Task, name string) (string, error) {
	if !s.config.Unchanging() {
		return "an operation on a whole collection is in progress", nil
	}
	at, err := s.now(t)
	if err == nil {
		// And was so when the order was: it must be older than the next one to join.
		err = s.stillDraining(name)
	}
	if err != nil {
		return "", err
	}
	_, err = rpc.AskPrimary[command.Done](t, s.config.Set(name),
		&command.ShardsvrLeaveCluster{Name: name, At: at}, s.config.Settings().CommandTimeout)
	if errcode.Is(err, errcode.OperationFailed) {
		return err.Error(), nil
	}
	return "", err
}

// now is the time of what this primary has written, which no later primary falls behind: orders to
// shards carry it.
func (s *Service) now(t env.Task) (hlc.Timestamp, error) {
	err := s.config.Majority(t)
	return s.config.Member().CommittedTS(), err
}

// stillDraining refuses a shard that was removed, and perhaps added again, since it was last looked
// at.
func (s *Service) stillDraining(name string) error {
	if doc, err := s.config.Shard(name); err != nil || !doc.Draining {
		return errcode.New(errcode.ShardNotFound, "shard %s was removed meanwhile", name)
	}
	return nil
}

// removeEmpty looks once more, and writes at once.
func (s *Service) removeEmpty(t env.Task, name string) (*command.RemoveShardReply, error) {
	if err := s.stillDraining(name); err != nil {
		return nil, err
	}
	reply, err := s.remaining(name, command.RemovalOngoing)
	if err != nil || !reply.Empty() {
		return reply, err
	}
	reply.State = command.RemovalCompleted
	return reply, s.config.Write(t, configsvr.RemoveShard(name))
}

// remaining is what keeps the shard from being removed: its chunks in the routing tables that are
// kept in memory, the databases that it is primary of, and a migration to it that may still commit.
func (s *Service) remaining(
	name string, state command.RemovalState,
) (*command.RemoveShardReply, error) {
	reply := &command.RemoveShardReply{State: state}
	for _, coll := range s.config.Sharded() {
		table, err := s.config.Table(coll.NS)
		if err != nil {
			return nil, err
		}
		reply.Chunks += table.Count(name)
		for c := range table.ChunksOf(name) {
			if c.Jumbo {
				reply.Jumbo++
			}
		}
	}
	for _, d := range s.config.Databases() {
		if d.Primary == name {
			reply.Databases = append(reply.Databases, d.Name)
		}
	}
	if moving := s.config.Receiving(name); moving != "" {
		reply.Unfinished = "a migration to it may still commit: " + moving
	}
	return reply, nil
}
