package shard

import (
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// joinCluster prepares a replica set, which may have been a shard before, to be one. Its
// collections may be of incarnations that were dropped while it was none, so it keeps none of them;
// documents it gives up for nobody.
func (s *Server) joinCluster(
	t env.Task, _ env.NodeID, req *command.ShardsvrJoinCluster,
) (*command.Done, error) {
	if err := s.certain(t, failpoint.RequestJoinCluster, req.Name); err != nil {
		return nil, err
	}
	switch last := hlc.Timestamp(s.membership().At); {
	case req.At < last:
		return nil, errcode.New(errcode.OperationFailed,
			"%s cannot join: the order of %v is older than one of %v", s.name, req.At, last)
	case req.At == last: // a copy, which may come when the shard has joined and owns something
		return &command.Done{}, s.PersistConfigTime(t)
	}
	left := append(s.owed(), s.Busy()...)
	if n := len(s.documents(rangeDeletionsNS)); n > 0 {
		left = append(left, fmt.Sprintf("%d range deletions", n))
	}
	drops, full := s.drops()
	if left = append(left, full...); len(left) > 0 {
		return nil, errcode.New(errcode.OperationFailed, "%s cannot join: it has %s",
			s.name, strings.Join(left, ", "))
	}
	if _, err := s.cfg.Member.Write(
		t, append(drops, membershipDoc{At: int64(req.At), Joining: true}.op())...,
	); err != nil {
		return nil, err
	}
	return &command.Done{}, s.PersistConfigTime(t)
}

// membershipDoc is the document of the newest order to join or to leave that the shard has
// followed. Older ones may still be on their way, and are refused: one to leave would keep a shard
// that is one again from taking anything forever, one to join would let a shard that has agreed to
// leave take something.
type membershipDoc struct {
	ID string `bson:"_id"`
	// At is the config server's time when it gave the order.
	At int64 `bson:"at"`
	// Leaving is set from the shard's consent until it is told to join again, Joining from then on:
	// whether it was admitted after that the config server knows.
	Leaving bool `bson:"leaving"`
	Joining bool `bson:"joining"`
}

// MembershipID is the _id of that document, in VersionNS.
const MembershipID = "clusterMembership"

func (m membershipDoc) op() oplog.Op {
	m.ID = MembershipID
	return documentOp(oplog.Update, VersionNS, m.ID, m)
}

// NoMember is the operation by which a replica set knows that it is no shard yet: like one that has
// left, it takes nothing from any node.
func NoMember() oplog.Op { return membershipDoc{Leaving: true}.op() }

// membership is the zero value for a shard that has followed no order yet.
func (s *Server) membership() (m membershipDoc) {
	raw := s.cfg.Member.Store().Get(VersionNS, string(key.String(MembershipID)), store.Latest)
	if raw != nil {
		s.decode(raw, &m)
	}
	return m
}

// Leaving reports whether the shard has agreed to leave, and was not told to join since.
func (s *Server) Leaving() bool { return s.membership().Leaving }

// LearnAdmission asks the config server whether the shard was admitted after it was told to join,
// unless the answer is known already. Without an error, Outside says whether it was.
func (s *Server) LearnAdmission(t env.Task) error {
	m := s.membership()
	if !m.Joining || s.admitted == m.At {
		return nil
	}
	now := max(hlc.Timestamp(m.At), s.Clock().Now().Config)
	switch _, err := s.findShard(t, s.name, now); {
	case err == nil:
		s.admitted = m.At
	case !errcode.Is(err, errcode.ShardNotFound):
		return err
	}
	return nil
}

// Outside returns an errcode.ShardNotFound while the shard takes nothing from any node: from its
// consent to leave until it knows that it was admitted again. A request that was sent while the
// shard was still a member may arrive in between. Its sender would find no such shard in the
// catalog, and would not clean up (H-38).
func (s *Server) Outside() error {
	switch m := s.membership(); {
	case m.Leaving:
		return errcode.New(errcode.ShardNotFound,
			"shard %s has agreed to leave the cluster, and takes nothing", s.name)
	case m.Joining && s.admitted != m.At:
		return errcode.New(errcode.ShardNotFound,
			"shard %s does not know that it was admitted to the cluster, and takes nothing", s.name)
	}
	return nil
}

// leaveCluster answers when no node has to send this shard anything any more: a later sender would
// find a shard that has left, and perhaps no node at all (H-38). Before it looks, it ensures that
// no primary begins to receive. The ranges that it has still to delete are its own business.
func (s *Server) leaveCluster(
	t env.Task, _ env.NodeID, req *command.ShardsvrLeaveCluster,
) (*command.Done, error) {
	if err := s.certain(t, failpoint.RequestLeaveCluster, req.Name); err != nil {
		return nil, err
	}
	if last := hlc.Timestamp(s.membership().At); req.At < last {
		return nil, errcode.New(errcode.ShardNotFound,
			"%s was removed: the order to leave of %v is older than one of %v",
			s.name, req.At, last)
	}
	if !s.Leaving() {
		_, err := s.cfg.Member.Write(t, membershipDoc{At: int64(req.At), Leaving: true}.op())
		if err != nil {
			return nil, err
		}
	}
	if err := s.cfg.Member.AwaitMajority(t); err != nil {
		return nil, err
	}
	if left := append(s.owed(), s.copies()...); len(left) > 0 {
		return nil, errcode.New(errcode.OperationFailed, "%s cannot leave: it has %s",
			s.name, strings.Join(left, ", "))
	}
	// What has just been taken off the record must not come back with a failover.
	return &command.Done{}, s.cfg.Member.AwaitMajority(t)
}

// certain makes sure that this is the primary, and no former one.
func (s *Server) certain(t env.Task, site failpoint.Site, name string) error {
	if err := t.Point(site, env.Note{ID: name}); err != nil {
		return err
	}
	if err := s.cfg.Member.NeedPrimary(); err != nil {
		return err
	}
	return s.cfg.Member.Confirm(t)
}

const rangeDeletionsNS = "config.rangeDeletions"

// owed lists what the shard has in progress with others.
func (s *Server) owed() (left []string) {
	var a command.AuditReply
	for _, contribute := range s.audits {
		contribute(&a)
	}
	left = a.ActiveMigrations
	for _, ns := range []string{
		"config.migrationCoordinators", "config.migrationRecipients", SectionsNS,
	} {
		if n := len(s.documents(ns)); n > 0 {
			left = append(left, fmt.Sprintf("%d documents in %s", n, ns))
		}
	}
	for _, task := range s.documents(rangeDeletionsNS) {
		if pending, _ := task.Lookup("pending").BooleanOK(); pending {
			left = append(left, "a range deletion that waits for the outcome of "+
				task.Lookup("_id").StringValue())
		}
	}
	return left
}

// copies lists the unsharded collections: as the shard is the primary of no database, each is on
// its way here or away.
func (s *Server) copies() (left []string) {
	for _, ns := range s.userCollections() {
		options, _ := s.cfg.Member.Store().Options(ns)
		_, pattern, err := store.DecodeOptions(options)
		s.node.Assert(err == nil, "%s has %s with options that are none: %v", s.node.ID(), ns, err)
		if pattern.Unsharded {
			left = append(left, "a copy of "+ns)
		}
	}
	return left
}

// drops removes every collection without documents, which is no change to the collection, and lists
// those that have some.
func (s *Server) drops() (ops []oplog.Op, full []string) {
	for _, ns := range s.userCollections() {
		if n := s.cfg.Member.Store().Count(ns, store.Latest); n > 0 {
			full = append(full, fmt.Sprintf("%d documents in %s", n, ns))
			continue
		}
		ops = append(ops, oplog.Op{
			Kind:        oplog.Drop,
			NS:          ns,
			Actor:       uint8(trace.System),
			FromMigrate: true,
		})
	}
	return ops, full
}

// userCollections lists what a server does not keep for itself.
func (s *Server) userCollections() (all []string) {
	for _, ns := range s.cfg.Member.Store().Collections(store.Latest) {
		own := strings.HasPrefix(ns, "config.") || strings.HasPrefix(ns, "admin.")
		if !own || ns == catalog.Sessions {
			all = append(all, ns)
		}
	}
	return all
}
