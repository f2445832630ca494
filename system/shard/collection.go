package shard

import (
	"slices"
	"sort"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/status"
	"github.com/shardproof/shardproof/system/store"
)

// Collection is the runtime of one namespace on one node: what is known of its placement, who may not write, who captures
// writes, which ranges are arriving. It lives in memory; a step-up starts from unknown metadata.
type Collection struct {
	server *Server
	ns     string

	// known is the filtering metadata, nil while unknown; cache is the newest table ever read, from which refreshes go on.
	known   *Metadata
	cache   *catalog.Table
	retired []*Metadata // replaced or cleared, but still used by queries
	drained env.Cond    // a filter was dropped
	clears  uint64      // how often the metadata was cleared
	drops   uint64      // how often an incarnation's data was dropped

	refreshing refreshing
	section    section
	recovering map[string]bool
	settled    env.Cond // the section was left, or a recovery ended
	donor      Donor
	receiving  []reception
}

func newCollection(s *Server, ns string) *Collection {
	return &Collection{server: s, ns: ns, recovering: make(map[string]bool)}
}

// NS is the namespace.
func (c *Collection) NS() string { return c.ns }

// Donor captures writes for a migration (protocol 6.1).
type Donor interface {
	// OnWrite is called inside the commit of every user's write to the namespace on this primary, with the document before
	// it (nil when there was none) and its place in the log. It must not wait. Writes of migrations and range deletion are
	// not shown.
	OnWrite(op *oplog.Op, pre bson.Raw, at oplog.Time)
}

// SetDonor attaches the donor of a migration: from now on it sees every write. There is at most one; a second is a
// status.ConflictingOperationInProgress.
func (c *Collection) SetDonor(d Donor) error {
	if c.donor != nil {
		return status.New(status.ConflictingOperationInProgress, "a range of %s is already being moved from %s", c.ns, c.server.name)
	}
	c.donor = d
	return nil
}

// ClearDonor detaches d; it does nothing when d is not attached.
func (c *Collection) ClearDonor(d Donor) {
	if c.donor == d {
		c.donor = nil
	}
}

// Donor returns the attached donor, or nil.
func (c *Collection) Donor() Donor { return c.donor }

// reception is a range that is arriving.
type reception struct {
	migration string
	rng       key.Range
}

// BeginReceive notes that the migration receives the range, until EndReceive.
func (c *Collection) BeginReceive(migration string, r key.Range) {
	c.EndReceive(migration)
	c.receiving = append(c.receiving, reception{migration, r})
}

// EndReceive takes the note back; it does nothing when there is none.
func (c *Collection) EndReceive(migration string) {
	c.receiving = slices.DeleteFunc(c.receiving, func(in reception) bool { return in.migration == migration })
}

// Receiving reports whether a migration receives keys of the range.
func (c *Collection) Receiving(r key.Range) bool {
	return slices.ContainsFunc(c.receiving, func(in reception) bool { return in.rng.Overlaps(r) })
}

// BeginRecovery notes that the outcome of a migration is unknown and being found out (protocol 9.2). Nobody
// refreshes the metadata until EndRecovery: what the catalogue says now may be about to change. Fetch and Install remain
// open to the recovery itself. The caller clears the metadata.
func (c *Collection) BeginRecovery(migration string) { c.recovering[migration] = true }

// EndRecovery lets waiting requests go on; it does nothing when no such recovery was begun.
func (c *Collection) EndRecovery(migration string) {
	if !c.recovering[migration] {
		return
	}
	delete(c.recovering, migration)
	c.settled.Broadcast()
}

// Recovering lists the migrations being recovered, in order of their names.
func (c *Collection) Recovering() []string {
	ids := make([]string, 0, len(c.recovering))
	for id := range c.recovering {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids
}

// stepDown forgets everything that belonged to the tenure. Recoverable critical sections stay: the store holds them.
func (c *Collection) stepDown() {
	c.Clear()
	c.donor = nil
	c.receiving = nil
	clear(c.recovering)
	c.section.dropTransient(c)
	c.settled.Broadcast()
}

// pattern is the collection's shard key as this shard's own copy of the collection has it; false when there is none.
func (c *Collection) pattern() (key.Pattern, bool) {
	options, exists := c.server.cfg.Member.Store().Options(c.ns)
	if !exists {
		return key.Pattern{}, false
	}
	if c.known != nil {
		return c.known.Table.Collection().Key, true
	}
	_, p, err := store.DecodeOptions(options)
	return p, err == nil && !p.IsZero()
}
