package shard

import (
	"slices"
	"sort"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// Collection is the runtime of one namespace on one node: what is known of its placement, what
// blocks its writes, what captures them, which ranges are arriving. It lives in memory; a step-up
// starts from unknown metadata.
type Collection struct {
	server *Server
	ns     string

	// known is the filtering metadata, nil while unknown; cache is the newest table ever read, from
	// which refreshes go on.
	known   *Metadata
	cache   *catalog.Table
	retired []*Metadata // replaced or cleared, but still used by queries
	drained env.Cond    // a filter was dropped
	// How often the metadata was installed and cleared, and an incarnation's data dropped.
	installs, clears, drops uint64

	refreshing refreshCount
	flushing   bool // the copy of the routing table is being written
	flushed    env.Cond
	encoded    map[key.Key]encodedChunk // by where they begin, of the last flush
	copied     document.Memo[bson.Raw, cacheDoc]
	section    criticalSection
	recovering map[string]bool
	settled    env.Cond // the section was left, or a recovery ended
	donor      Donor
	receiving  []incomingRange
}

func newCollection(s *Server, ns string) *Collection {
	return &Collection{server: s, ns: ns, recovering: make(map[string]bool)}
}

// NS is the namespace.
func (c *Collection) NS() string { return c.ns }

// Donor captures writes for a migration (protocol 6.1).
type Donor interface {
	// OnWrite is called inside the commit of every user's write to the namespace on this primary,
	// with the document before it (nil when there was none) and its place in the log. It must not
	// wait. Writes of migrations and range deletion are not shown.
	OnWrite(op *oplog.Op, pre bson.Raw, at oplog.Time)
}

// SetDonor attaches the donor of a migration: from now on it sees every write. There is at most
// one; a second is an errcode.ConflictingOperationInProgress.
func (c *Collection) SetDonor(d Donor) error {
	if c.donor != nil {
		return errcode.New(errcode.ConflictingOperationInProgress,
			"a range of %s is already being moved from %s", c.ns, c.server.name)
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

// incomingRange is a range that is arriving, or has arrived: then everything is here, and the
// commit is the donor's business.
type incomingRange struct {
	migration string
	rng       key.Range
	arrived   bool
}

// BeginReceive notes that the migration receives the range, until EndReceive.
func (c *Collection) BeginReceive(migration string, r key.Range) {
	c.EndReceive(migration)
	c.receiving = append(c.receiving, incomingRange{migration: migration, rng: r})
}

// Arrived keeps the note of a migration that has nothing to do here any more: until the metadata
// shows the range as the shard's own, nobody may take it for orphans (protocol 10.2).
func (c *Collection) Arrived(migration string) {
	for i := range c.receiving {
		in := &c.receiving[i]
		in.arrived = in.arrived || in.migration == migration
	}
}

// Unowned lists the migrations that have arrived and do not show in the metadata.
func (c *Collection) Unowned() (migrations []string) {
	for _, in := range c.receiving {
		if in.arrived {
			migrations = append(migrations, in.migration)
		}
	}
	return migrations
}

// Incoming lists the migrations that are noted as bringing a range and have not brought it yet.
func (c *Collection) Incoming() (migrations []string) {
	for _, in := range c.receiving {
		if !in.arrived {
			migrations = append(migrations, in.migration)
		}
	}
	return migrations
}

// settleArrived drops the notes that the metadata makes superfluous: of what is owned now, and of
// another collection.
func (c *Collection) settleArrived(before *catalog.Table) {
	replaced := before != nil && !before.Version().SameIncarnation(c.known.Table.Version())
	c.receiving = slices.DeleteFunc(c.receiving, func(in incomingRange) bool {
		return in.arrived && (replaced || c.known.Overlaps(in.rng))
	})
}

// EndReceive takes the note back; it does nothing when there is none.
func (c *Collection) EndReceive(migration string) {
	c.receiving = slices.DeleteFunc(c.receiving, func(in incomingRange) bool {
		return in.migration == migration
	})
}

// Receiving reports whether a migration receives keys of the range.
func (c *Collection) Receiving(r key.Range) bool {
	return slices.ContainsFunc(c.receiving, func(in incomingRange) bool {
		return in.rng.Overlaps(r)
	})
}

// NextOrphans is the first range at or after a key that is neither the shard's by what is known nor
// being received; empty when there is none.
func (c *Collection) NextOrphans(from key.Key) key.Range {
	taken := slices.Clone(c.known.Owned())
	for _, in := range c.receiving {
		taken = append(taken, in.rng)
	}
	slices.SortFunc(taken, func(a, b key.Range) int {
		return strings.Compare(string(a.Min), string(b.Min))
	})
	for _, r := range taken {
		if from < r.Min {
			return key.Range{Min: from, Max: r.Min}
		}
		from = max(from, r.Max)
	}
	return key.Range{Min: from, Max: key.Max}
}

// BeginRecovery notes that the outcome of a migration is unknown and being found out (protocol
// 9.2). Nobody refreshes the metadata until EndRecovery: what the catalog says now may be about
// to change. Fetch and Install remain open to the recovery itself. The caller clears the metadata.
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

// BeginRecovery does for all namespaces at once what a Collection's does for one, until EndRecovery
// or the end of the term: what an earlier primary has moved is not known, nor of which collection.
// It forgets what is known.
func (s *Server) BeginRecovery() {
	s.undecided = true
	s.clearAll()
}

// EndRecovery lets waiting requests go on.
func (s *Server) EndRecovery() {
	s.undecided = false
	for _, c := range s.Collections() {
		c.settled.Broadcast()
	}
}

// undecided reports whether the metadata must not be refreshed.
func (c *Collection) undecided() bool { return c.server.undecided || len(c.recovering) > 0 }

// stepDown forgets everything that belonged to the term. Recoverable critical sections stay: the
// store holds them.
func (c *Collection) stepDown() {
	c.Clear()
	c.donor = nil
	c.receiving = nil
	clear(c.recovering)
	c.section.dropTransient(c)
	c.settled.Broadcast()
}

// pattern is the collection's shard key as this shard's own copy of the collection has it; false
// when there is none.
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
