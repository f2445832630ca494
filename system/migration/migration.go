// Package migration moves a range of documents from one shard to another (protocol 5 to 9): the
// donor, the recipient, the history of sessions that moves along, and recovery when either side
// fails over.
//
// Promise: until the config server has committed, the donor owns the range and has every document
// of it; when it commits, a majority of the recipient has every document and every statement of the
// range's sessions, and both sides block writes. After any failure, each side ends up with the
// outcome that the config server knows: the donor's record of the migration is durable before
// anyone else learns of it and stays until both sides are done. Nobody concludes an outcome without
// having fenced those who could still change it.
//
// That is 8.0. In 4.2 (protocol 4) nothing of a migration is durable but the documents and a count
// of commits in progress: the files whose names end in 42, and minoptime.go, have its steps. Until
// the commit the promises are the same; after it, a commit that is still in transit when its donor
// gives up, or is lost, is not fenced, and orphans may stay behind.
//
// Refusal: a shard takes part in one migration at a time, as donor or recipient. A message of
// another migration, or of one that was fenced, changes nothing. No step is skipped because it
// probably succeeded: it is idempotent and repeated.
package migration

import (
	"fmt"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/statedoc"
)

// Service is one member's part in migrations. Everything in memory belongs to one term.
type Service struct {
	node     env.Node
	shard    *shard.Server
	member   *replset.Member
	ranges   *rangedel.Service
	settings *settings.Settings
	profile  protocol.Profile

	coordinators *statedoc.Journal[Coordinator]
	receipts     *statedoc.Journal[Receipt]

	donor         *donorMigration     // the running one
	recipient     *recipientMigration // the running one
	lastRecipient *recipientMigration // the last that ended
	recoveries    map[string]*migrationRecovery
	recovered     env.Cond // a recovery ended
	undecided     bool     // what an earlier primary has moved is being found out
	count         int64    // migrations begun in this term
}

// New adds migrations to a shard's server and serves their commands. It must be called after
// rangedel.New.
func New(sh *shard.Server, ranges *rangedel.Service) *Service {
	s := &Service{
		node:         sh.Node(),
		shard:        sh,
		member:       sh.Member(),
		ranges:       ranges,
		settings:     sh.Settings(),
		profile:      sh.Profile(),
		coordinators: statedoc.New[Coordinator](sh.Member(), CoordinatorsNS, trace.Donor),
		receipts:     statedoc.New[Receipt](sh.Member(), RecipientsNS, trace.Recipient),
		recoveries:   make(map[string]*migrationRecovery),
	}
	s.member.Watch(s)
	s.serveDonor(sh.Endpoint())
	s.serveRecipient(sh.Endpoint())
	sh.AddAudit(s.audit)
	return s
}

// newID names the next migration of this term, uniquely over the whole run.
func (s *Service) newID() (id string, txn int64) {
	s.count++
	// Each migration uses two transaction numbers of the shard's session: its own and the one that
	// fences it (SERVER-45952).
	return fmt.Sprintf("%s/%d/%d",
		s.shard.Name(), s.member.Term(), s.count), int64(s.member.Term())<<24 + 2*s.count
}

// lsid is the session under which this shard's migrations are fenced. Its numbers grow over all
// terms.
func (s *Service) lsid() string { return "migrations of " + s.shard.Name() }

// Receivers lists the shards to which a range of the collection may be on its way from here, those
// of unfinished migrations of earlier terms included; in 4.2, which has no record of these, the
// running one's.
func (s *Service) Receivers(ns string) (shards []string) {
	if d := s.donor; d != nil && d.record.NS == ns && !s.profile.CoordinatesMigrations() {
		shards = append(shards, d.record.Recipient)
	}
	for _, c := range s.coordinators.All() {
		if c.NS == ns {
			shards = append(shards, c.Recipient)
		}
	}
	return shards
}

// free returns an error while this shard takes part in a migration.
func (s *Service) free() error {
	switch {
	case s.donor != nil:
		return errcode.New(errcode.ConflictingOperationInProgress, "shard %s is the donor of %s",
			s.shard.Name(), s.donor.record.Migration)
	case s.recipient != nil:
		return errcode.New(errcode.ConflictingOperationInProgress,
			"shard %s is the recipient of %s", s.shard.Name(), s.recipient.start.Migration)
	}
	return nil
}

// Applied does not matter to migrations: the shard's commit has passed on what they captured.
func (s *Service) Applied(uint64, *oplog.Entry, bool) {}

// RolledBack does not matter: only a primary takes part, and it is not rolled back.
func (s *Service) RolledBack(uint64) {}

// Reset does not matter, for the same reason.
func (s *Service) Reset(uint64) {}

// Committed does not matter: steps wait for what they wrote themselves.
func (s *Service) Committed(uint64) {}

// StepDown forgets the term's migrations. Their tasks end with its scope.
func (s *Service) StepDown() {
	if r := s.recipient; r != nil {
		r.over = true
		defer r.changed.Broadcast()
	}
	s.donor, s.recipient, s.lastRecipient = nil, nil, nil
	s.recoveries = make(map[string]*migrationRecovery)
	s.undecided = false
	s.recovered.Broadcast()
	s.count = 0
}

func (s *Service) audit(a *command.AuditReply) {
	if d := s.donor; d != nil {
		a.ActiveMigrations = append(a.ActiveMigrations,
			"donor of "+d.record.Migration+" "+d.state.String())
	}
	if r := s.recipient; r != nil {
		a.ActiveMigrations = append(a.ActiveMigrations,
			"recipient of "+r.start.Migration+" "+r.state.String())
	}
	for _, id := range s.forgotten() {
		a.OutstandingTasks = append(a.OutstandingTasks, "note of receiving "+id+", which has ended")
	}
	if n := s.minOpTime().Updaters; n != 0 {
		a.OutstandingTasks = append(a.OutstandingTasks,
			fmt.Sprintf("%d commits in progress in minOpTimeRecovery", n))
	}
	for _, id := range s.recovering() {
		a.OutstandingTasks = append(a.OutstandingTasks, "recovery of "+id)
	}
}

// forgotten lists the migrations that are noted as bringing a range, and of which this shard is no
// longer the recipient: the notes would forever keep the documents of the range from being deleted.
func (s *Service) forgotten() (ids []string) {
	for _, c := range s.shard.Collections() {
		for _, id := range c.Incoming() {
			if s.recipient == nil || s.recipient.start.Migration != id {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
