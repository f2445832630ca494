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
// was found, or that nothing was, is on record before anything follows from it: a deposed primary
// might ask the wrong shard, and a later one the remains of another collection.
func (s *Server) adopt(t env.Task, op *ddlOperation) error {
	if op.Home != "" || op.Alone || op.Code != "" {
		return nil
	}
	home, found, err := s.describe(t, op.NS, op.Coll.collection(op.NS).Key)
	next, answered := op.adopting(home, found, err, s.ep.Clock().Tick())
	if !answered {
		return s.Settled(t, err)
	}
	return s.goOnAs(t, op, next)
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
// sharded collection, be it the one that is renamed, a shard can only have what is left of another,
// which a rename drops.
func (s *Server) refuseUnshardedTarget(t env.Task, op *ddlOperation) error {
	if op.Code != "" || op.Target.UUID != "" || s.renamedInCatalog(op) {
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

// renamedInCatalog reports whether the catalog lists the collection by its new name.
func (s *Server) renamedInCatalog(op *ddlOperation) bool {
	table, err := s.sharded(op.To)
	return err == nil && table.Collection().UUID == op.Coll.UUID
}

// adopting is the operation with what the primary shard of the database has answered; false without
// an answer. The collection is one of now, when nobody writes to it: at an earlier time the
// operation had begun already, and the database was still moving, or had an unsharded collection of
// that name, which a snapshot of then must not take for an empty one.
func (op ddlOperation) adopting(
	home string, found *command.UnshardedDescription, refused error, now hlc.Timestamp,
) (next ddlOperation, answered bool) {
	switch code := errcode.Of(refused); {
	case code == errcode.BadValue || code == errcode.InvalidOptions:
		op.Code, op.Why = code, errcode.Reason(refused)
		return op, true
	case refused != nil:
		return op, false
	}
	op.Coll.Epoch, op.Coll.At = epochOf(now), int64(now)
	switch {
	case home == "" || found.UUID == "":
		op.Alone = true
		return op, true
	case !found.Empty && op.Initial > 0:
		op.Code = errcode.InvalidOptions
		op.Why = "chunks can only be asked for while collection " + op.NS + " is empty"
		return op, true
	}
	op.Home, op.Founded, op.Coll.UUID = home, op.Coll.UUID, found.UUID
	op.Options, op.Indexes, op.Formerly = found.Options, found.Indexes, found.Formerly
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
