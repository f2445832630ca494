package configsvr

import (
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/store"
)

// adopt has the operation take over the unsharded collection of that name, if there is one, from
// the primary shard of the database: its identity, and its documents where they are. All shards
// block the namespace, so that no primary of the database moves while it has the collection. What
// was found is on record before anything follows from it. That nothing was found leaves no record,
// so it counts only with proof that this primary leads: a deposed one might ask the wrong shard.
// Once the collection is in the catalog, a shard can only have the remains of another one.
func (s *Server) adopt(t env.Task, op *ddlOperation) error {
	if op.Home != "" || op.Code != "" || s.entered(op) {
		return nil
	}
	home, found, err := s.describe(t, op.NS, op.Coll.collection(op.NS).Key)
	if home == "" {
		return s.Settled(t, err)
	}
	next, adopted := op.adopting(home, found, err, s.ep.Clock().Tick())
	if !adopted {
		return s.Settled(t, err)
	}
	return s.goOnAs(t, op, next)
}

// entered reports whether the catalog lists the collection that the operation makes.
func (s *Server) entered(op *ddlOperation) bool {
	table, err := s.sharded(op.NS)
	return err == nil && table.Collection().UUID == op.Coll.UUID
}

// describe asks the primary shard of the database, home, for the unsharded collection of a name
// that all shards block. Without a home there is no database, or an error.
func (s *Server) describe(
	t env.Task, ns string, as key.Pattern,
) (home string, found *command.UnshardedDescription, err error) {
	d, err := ReadDatabase(s.member.Store(), catalog.DatabaseOf(ns), store.Latest)
	if errcode.Is(err, errcode.NamespaceNotFound) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	if err := t.Point(
		failpoint.ConfigDDLStep, env.Note{Peer: d.Primary, ID: ns + " describe"},
	); err != nil {
		return "", nil, err
	}
	found, err = rpc.CallPrimary[command.UnshardedDescription](t, s.shards[d.Primary],
		&command.ShardsvrDescribe{NS: ns, Key: as}, s.settings.CommandTimeout)
	return d.Primary, found, err
}

// goOnAs puts what has become of the operation on record.
func (s *Server) goOnAs(t env.Task, op *ddlOperation, next ddlOperation) error {
	if _, err := s.member.Write(t, s.ddl.records.Put(op.NS, next)); err != nil {
		return err
	}
	*op = next
	return s.Majority(t)
}

// refuseUnshardedTarget ends a rename to the name of an unsharded collection, which the catalog
// does not know: a sharded one does not replace it. Of a name that the catalog lists as that of a
// sharded collection a shard can only have what is left of another, which a rename drops.
func (s *Server) refuseUnshardedTarget(t env.Task, op *ddlOperation) error {
	if op.Code != "" || op.Target.UUID != "" {
		return nil
	}
	home, found, err := s.describe(t, op.To, key.Pattern{Field: "_id"})
	if err != nil || home == "" || found.UUID == "" {
		return err
	}
	next := *op
	next.Code = errcode.NamespaceExists
	next.Why = "collection " + op.NS + " cannot be renamed to " + op.To +
		": an unsharded collection of that name exists"
	return s.goOnAs(t, op, next)
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
