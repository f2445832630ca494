package configsvr

import (
	"cmp"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/store"
)

// ddlPause is how long an operation that failed waits before it begins again.
const ddlPause = 100 * time.Millisecond

// ddlStage is one step of an operation. It succeeds when it was taken before, by this primary or an
// earlier one.
type ddlStage func(*Server, env.Task, *ddlOperation) error

// ddlStages are the operations. Migrations are forbidden and joined before shards change, so that
// no recipient makes what is being dropped (H-15) and no clone misses an index (H-73). A collection
// leaves the catalog while all shards block it, and its data after that: a node that refreshes
// then finds nothing, and no shard holds what the catalog does not know. It enters the catalog
// while all shards block it, too: one that took the namespace for free would go on to answer that.
// Migrations are allowed again only when no shard blocks the collection any more: a recipient would
// wait for the operation, which, begun again by another primary, would wait for the migration.
var ddlStages = map[ddlKind][]ddlStage{
	createCollection: {
		participantStage(command.ParticipantBlock), (*Server).adopt,
		unlessRefused(participantStage(command.ParticipantCreate)),
		unlessRefused(participantStage(command.ParticipantClear)),
		unlessRefused((*Server).enterCatalog), participantStage(command.ParticipantRelease),
	},
	dropCollection: {
		(*Server).excludeMigrations, participantStage(command.ParticipantBlock),
		(*Server).leaveCatalog, participantStage(command.ParticipantDrop),
		participantStage(command.ParticipantRelease),
	},
	renameCollection: {
		(*Server).excludeMigrations, participantStage(command.ParticipantBlock),
		(*Server).refuseUnshardedTarget, unlessRefused((*Server).renameInCatalog),
		unlessRefused(participantStage(command.ParticipantRename)),
		participantStage(command.ParticipantRelease), (*Server).allowRenamed,
		(*Server).refreshShards,
	},
	createIndex: {
		(*Server).excludeMigrations, participantStage(command.ParticipantCreateIndex),
		(*Server).allowMigrations, (*Server).refreshShards,
		participantStage(command.ParticipantRelease),
	},
	dropIndex: {
		(*Server).excludeMigrations, participantStage(command.ParticipantDropIndex),
		(*Server).allowMigrations, (*Server).refreshShards,
		participantStage(command.ParticipantRelease),
	},
}

// coordinate carries the operation out in a task of the term. After a failure it begins again at
// the first stage.
func (s *Server) coordinate(termScope *env.Scope, op ddlOperation) {
	s.node.Spawn(termScope, string(op.Kind)+" of "+op.NS, func(t env.Task) {
		if s.carryOut(t, &op) == nil || termScope.Err() != nil {
			return
		}
		s.node.After(ddlPause, func() {
			if termScope.Err() == nil {
				s.coordinate(termScope, op)
			}
		})
	})
}

func (s *Server) carryOut(t env.Task, op *ddlOperation) error {
	if err := cmp.Or(s.Majority(t), t.Err()); err != nil { // the wait and the term may end at once
		return err
	}
	if s.profile.LocksCollections() {
		return s.manager.whileLocked(t, op, func() error { return s.takeStages(t, op) })
	}
	return s.takeStages(t, op)
}

func (s *Server) takeStages(t env.Task, op *ddlOperation) error {
	for _, take := range ddlStages[op.Kind] {
		if err := take(s, t, op); err != nil {
			return err
		}
	}
	return s.conclude(t, op)
}

// conclude forgets the operation and remembers its request, in one entry.
func (s *Server) conclude(t env.Task, op *ddlOperation) error {
	if err := t.Point(failpoint.ConfigDDLForget, env.Note{ID: op.NS}); err != nil {
		return err
	}
	ops := []oplog.Op{s.ddl.records.Remove(op.NS)}
	if done := (executedRequest{op.Session, op.Txn, op.Code, op.Why}); s.ddl.isNewest(done) {
		ops = append(ops, s.ddl.requests.Put(op.Session, done))
	}
	_, err := s.member.Write(t, ops...)
	if err == nil {
		if op.Code != "" {
			s.ddl.refused[op.Number] = errcode.New(op.Code, "%s", op.Why)
		}
		s.ddl.ended.Broadcast()
	}
	return err
}

// participantStage has every shard take a step.
func participantStage(step command.ParticipantStep) ddlStage {
	return func(s *Server, t env.Task, op *ddlOperation) error {
		req := &command.ShardsvrParticipate{
			Operation:  op.Number,
			Step:       step,
			Collection: op.Coll.collection(op.NS),
			To:         op.To,
			Target:     op.Target.UUID,
			Founded:    op.Founded,
			Creates:    op.Kind == createCollection,
		}
		if step == command.ParticipantCreate {
			req.Home, req.Options, req.Indexes = op.Home, op.Options, op.Indexes
			req.Formerly = op.Formerly
		}
		switch {
		case op.Index != "":
			req.Index, req.Spec = op.Index, op.Spec
		case op.Field != "":
			req.Index, req.Spec = indexOn(op.Field)
		}
		for _, name := range s.shardNames() {
			if !s.takesStep(op, step, name) {
				continue
			}
			if err := t.Point(
				failpoint.ConfigDDLStep, env.Note{Peer: name, ID: op.NS + " " + string(step)},
			); err != nil {
				return err
			}
			if _, err := rpc.CallPrimary[command.Done](
				t, s.shards[name], req, s.settings.CommandTimeout,
			); err != nil {
				return err
			}
		}
		return nil
	}
}

// takesStep reports whether a shard has a part in the step. A new collection is made where it gets
// chunks, and out of the unsharded one. What a move of the database has left on any other shard has
// to go, or that shard can neither take what it reads of the collection in nor receive of it; only
// moves of 4.2 leave something.
func (s *Server) takesStep(op *ddlOperation, step command.ParticipantStep, shard string) bool {
	makes := shard == op.Home || slices.Contains(op.Shards, shard)
	switch step {
	case command.ParticipantCreate:
		return makes
	case command.ParticipantClear:
		return !makes && !s.profile.CoordinatesMovePrimary()
	}
	return true
}

// excludeMigrations ensures that from now on no chunk of what the operation is about is being
// moved: it forbids migrations, and then waits for those that had begun. They stay forbidden until
// a later stage says otherwise.
func (s *Server) excludeMigrations(t env.Task, op *ddlOperation) error {
	for _, one := range op.existing() {
		if err := s.setAllow(t, &one, false); err != nil {
			return err
		}
		if err := s.joinMigrations(t, &one); err != nil {
			return err
		}
	}
	return nil
}

// existing are the collections that the operation is about, each as an operation of its own.
func (op *ddlOperation) existing() []ddlOperation {
	all := []ddlOperation{*op}
	if op.Target.UUID != "" {
		all = append(all, ddlOperation{NS: op.To, Number: op.Number, Coll: op.Target})
	}
	return all
}

// joinMigrations waits until no shard takes part in a migration of the collection. Those that start
// later find that they are not allowed. A donor of 4.2 ends without its recipient, which may have
// begun after it was asked itself: when no donor is left, all are asked once more.
func (s *Server) joinMigrations(t env.Task, op *ddlOperation) error {
	join := func() error {
		return everyShard[command.Done](t, s, op, failpoint.ConfigAllowJoin,
			&command.JoinMigrations{NS: op.NS})
	}
	if err := join(); err != nil || s.profile.CoordinatesMigrations() {
		return err
	}
	return join()
}

// refreshShards has every shard notice the versions that setAllow has raised.
func (s *Server) refreshShards(t env.Task, op *ddlOperation) error {
	return everyShard[command.Flushed](t, s, op, failpoint.ConfigAllowRefresh,
		&command.FlushRoutingTableCacheUpdates{NS: op.result()})
}

// result is the name that the collection has when the operation is over.
func (op *ddlOperation) result() string {
	if op.Kind == renameCollection && op.Code == "" {
		return op.To
	}
	return op.NS
}

// everyShard asks each shard until it has answered: what the stages before have reached is not to
// be lost to a failover of one shard.
func everyShard[Resp any](
	t env.Task, s *Server, op *ddlOperation, site failpoint.Site, req env.Message,
) error {
	for _, name := range s.shardNames() {
		for {
			err := t.Point(site, env.Note{Peer: name, ID: op.NS})
			if err == nil {
				_, err = rpc.CallPrimary[Resp](t, s.shards[name], req, s.settings.CommandTimeout)
			}
			if err == nil || errcode.Is(err, errcode.NamespaceNotFound) {
				break
			}
			if err := t.Sleep(ddlPause); err != nil {
				return err
			}
		}
	}
	return nil
}

func indexOn(field string) (name string, spec bson.Raw) {
	name = field + "_1"
	spec, err := bson.Marshal(bson.D{
		{Key: "name", Value: name},
		{Key: "key", Value: bson.D{{Key: field, Value: int32(1)}}},
	})
	if err != nil {
		panic(errcode.New(errcode.Internal, "an index on %q has no document: %v", field, err))
	}
	return name, spec
}

// shardNames lists the shards of the cluster.
func (s *Server) shardNames() (names []string) {
	s.member.Store().Scan(Shards, store.Latest, func(_ string, doc bson.Raw) bool {
		names = append(names, doc.Lookup("_id").StringValue())
		return true
	})
	return names
}

func (s *Server) allowMigrations(t env.Task, op *ddlOperation) error {
	return s.setAllow(t, op, true)
}

func (s *Server) allowRenamed(t env.Task, op *ddlOperation) error {
	return s.setAllow(t, &ddlOperation{NS: op.result(), Number: op.Number, Coll: op.Coll}, true)
}

// setAllow says in the catalog whether the collection's chunks may be moved. The version of a
// chunk rises with it, so that every refresh notices.
func (s *Server) setAllow(t env.Task, op *ddlOperation, allow bool) error {
	return s.under(t, op, failpoint.ConfigAllowBump,
		func(table *catalog.Table) ([]oplog.Op, error) {
			coll := table.Collection()
			if coll.AllowMigrations == allow {
				return nil, nil
			}
			coll.AllowMigrations = allow
			doc, err := catalog.EncodeCollection(coll)
			if err != nil {
				return nil, err
			}
			why := trace.ForbidsMigrations
			if allow {
				why = trace.AllowsMigrations
			}
			ops, err := chunkOpsOf(coll, catalog.Touch(table), why.String())
			return append(ops, putOp(Collections, coll.NS, doc, why.String())), err
		})
}

// under changes the catalog of the operation's incarnation under the lock, if that is still
// there, and waits until a majority knows.
func (s *Server) under(
	t env.Task, op *ddlOperation, site failpoint.Site,
	change func(*catalog.Table) ([]oplog.Op, error),
) error {
	err := s.Locked(t, func() error {
		if err := t.Point(site, env.Note{ID: op.NS}); err != nil {
			return err
		}
		table, err := s.sharded(op.NS)
		if errcode.Is(err, errcode.NamespaceNotFound) ||
			err == nil && table.Collection().UUID != op.Coll.UUID {
			return nil
		}
		if err != nil {
			return err
		}
		return s.writeAll(t, table, change)
	})
	if err != nil {
		return err
	}
	return s.Majority(t)
}

func (s *Server) writeAll(
	t env.Task, table *catalog.Table, change func(*catalog.Table) ([]oplog.Op, error),
) error {
	ops, err := change(table)
	if err != nil || len(ops) == 0 {
		return err
	}
	_, err = s.member.Write(t, ops...)
	return err
}

// enterCatalog puts the new collection with its chunks into the catalog, unless it is there.
func (s *Server) enterCatalog(t env.Task, op *ddlOperation) error {
	err := s.Locked(t, func() error {
		if err := t.Point(failpoint.ConfigDDLCatalog, env.Note{ID: op.NS}); err != nil {
			return err
		}
		if _, err := s.sharded(op.NS); !errcode.Is(err, errcode.NamespaceNotFound) {
			return err
		}
		ops, err := Founding(op.Coll.collection(op.NS), op.bounds(), op.Shards)
		if err != nil {
			return err
		}
		_, err = s.member.Write(t, ops...)
		return err
	})
	if err != nil {
		return err
	}
	return s.Majority(t)
}
