package configsvr

import (
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/store"
)

// adopt has the operation take over the unsharded collection of that name, if there is one, from
// the primary shard of the database: its identity, and its documents where they are. All shards
// block the namespace, so that no primary of the database moves while it has the collection. What
// was found is on record before anything follows from it.
func (s *Server) adopt(t env.Task, op *ddlOperation) error {
	if op.Home != "" || op.Code != "" {
		return nil
	}
	d, err := ReadDatabase(s.member.Store(), catalog.DatabaseOf(op.NS), store.Latest)
	if errcode.Is(err, errcode.NamespaceNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := t.Point(
		failpoint.ConfigDDLStep, env.Note{Peer: d.Primary, ID: op.NS + " describe"},
	); err != nil {
		return err
	}
	found, err := rpc.CallPrimary[command.UnshardedDescription](t, s.shards[d.Primary],
		&command.ShardsvrDescribe{NS: op.NS, Key: op.Coll.collection(op.NS).Key},
		s.settings.CommandTimeout)
	next, adopted := op.adopting(d.Primary, found, err, s.ep.Clock().Tick())
	if !adopted {
		return err
	}
	if _, err := s.member.Write(t, s.ddl.records.Put(op.NS, next)); err != nil {
		return err
	}
	*op = next
	return s.Majority(t)
}

// adopting is the operation with what the primary shard of the database has answered; false when
// there is nothing to take over, or no answer. The collection is one of now, when nobody writes to
// it: at an earlier time the operation had begun already, and the database was still moving.
func (op ddlOperation) adopting(
	home string, found *command.UnshardedDescription, refused error, now hlc.Timestamp,
) (next ddlOperation, adopted bool) {
	switch code := errcode.Of(refused); {
	case code == errcode.BadValue || code == errcode.InvalidOptions:
		op.Code, op.Why = code, errcode.Reason(refused)
		return op, true
	case refused != nil || found.UUID == "":
		return op, false
	case !found.Empty && op.Initial > 0:
		op.Code = errcode.InvalidOptions
		op.Why = "chunks can only be asked for while collection " + op.NS + " is empty"
		return op, true
	}
	op.Home, op.Founded, op.Coll.UUID = home, op.Coll.UUID, found.UUID
	op.Options, op.Indexes = found.Options, found.Indexes
	op.Coll.Epoch, op.Coll.At = epochOf(now), int64(now)
	if !found.Empty {
		op.Shards, op.Bounds = []string{home}, nil
	}
	return op, true
}

// unlessRefused is a stage that an operation leaves out which was refused after it had begun.
func unlessRefused(take ddlStage) ddlStage {
	return func(s *Server, t env.Task, op *ddlOperation) error {
		if op.Code != "" {
			return nil
		}
		return take(s, t, op)
	}
}
