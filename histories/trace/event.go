// Package trace is the record of what happened inside a cluster, step by step: what the step oracles judge, what the
// coverage tables count and what a story is told from. Whoever observes a run sees these values and nothing else.
//
// Promise: an event carries names, numbers and encoded keys, never a pointer into a node.
package trace

// Kind says what happened, and with it which fields of an Event have a meaning.
type Kind uint8

// The kinds. Fields named here are set; all others are zero.
const (
	// Of the world.
	NodeUp         Kind = iota + 1 // Value incarnation
	NodeDown                       // a crash
	ProcessAborted                 // Value why: the process ends itself; NodeDown follows
	Fault                          // Value kind of the fault, Peer target; N the fault's number in the scenario
	Repair                         // Value kind of the fault, Peer target; N the fault's number in the scenario
	PointHit                       // Value site, Peer, ID, N as in env.Note
	Reached                        // Value name of a Sometimes probe

	// Of a replica set.
	Elected     // Shard, Term, Index: last index of the log when the node became leader; ID "term:index,...": last index of each term in it
	Writable    // Shard, Term: step-up is over, user writes are accepted
	SteppedDown // Shard, Term
	Majority    // Shard, Term, Index: the leader learned that everything to Index is committed
	RolledBack  // Shard, Index: the node forgot everything it had applied after Index, or came back from a crash with the log up to Index

	// Of data. Applied is emitted by the leader only, one for each document operation, when the write is applied.
	Applied // Shard, Term, Index, NS, Key shard key, DocID, Hash of the new document (0: deleted), Actor, ID session or migration or task
	// Executed is emitted by the leader for every statement of a retryable write that goes on record, before the Applied of
	// the same entry; with Actor Session it was executed elsewhere.
	Executed // Shard, Term, Index, NS, Key shard key, Actor, ID session, Txn, N statement (-1: a dead end), Value migration that brought it

	// Of the catalogue. A CatalogWritten counts from the Majority event of the config server that covers its Index.
	CatalogWritten // Shard "config", Term, Index, NS, Value why, Chunks: those written; none with Value Dropped, which removes the collection

	// Of a shard's knowledge.
	MetadataInstalled // Shard, NS, Value version; Chunks: what the node now believes it owns
	MetadataCleared   // Shard, NS
	CriticalSection   // Shard, NS, Value writesBlocked | readsBlocked | released, Actor Donor or Recipient, ID migration
	CursorOpened      // Shard, NS, ID cursor, Min, Max; Chunks: the part of it that the shard owned, as far as the node knew, when the query began
	CursorClosed      // Shard, NS, ID cursor

	// Of a migration.
	MigrationRequested // NS, Min, Max, Shard from, Peer to, ID; Value the name of the request; without Max the donor decides how much
	DonorState         // Shard from, Peer to, NS, Min, Max, ID, Value state; with kCommittingOnConfig Chunks: the chunk with the version that the commit names
	RecipientState     // Shard to, Peer from, NS, Min, Max, ID, Value state
	DecisionMade       // Shard, ID, Value committed | aborted: persisted by the donor
	MigrationEnded     // Shard, ID, Value committed | aborted, N 1 when by recovery

	// Of range deletion.
	RangeDeletion // Shard, NS, Min, Max, ID task, Value pending | ready | processing | done; N the orphans counted, -1: by nobody, or the collection was replaced

	// Of a movePrimary.
	PrimaryMoving // Shard from, Peer to, NS database, ID, Value phase

	// Of the balancer, all with Shard "config" unless they say otherwise, and Term.
	BalancerRound   // N the round of the term, Value begun | ended
	BalancerChose   // a migration is asked for: NS, Min, Max (none: the donor decides), Shard from, Peer to, ID the request's name, Value why; Wall, Txn the local time's nanoseconds ahead of UTC
	BalancerDone    // ID the request's name, Value Moved or the status with which it has ended: its shards are free again
	BalancerState   // Index, Value off | full | autoSplitOnly: the mode was written, with ID the active window, such as 23:00-7:00; it counts from the Majority that covers it
	BalancerStopped // a BalancerStop is answered: nothing that the balancer asked for is committed until it is on again

	// Of shards, zones and what operators say about collections; it counts as a CatalogWritten does.
	ClusterChanged // Shard "config", Term, Index, Value what, and what the line of the Value says

	// Chance is a fault that chance decided: Value kind of the question at the choice gate, ID the class of a message and Peer its
	// receiver, or ID the place on the node; N occurrence, Txn answer. No world emits it: it is added to what is kept of a run.
	Chance

	kinds
)

var names = [kinds]string{
	NodeUp: "node-up", NodeDown: "node-down", ProcessAborted: "process-aborted", Fault: "fault", Repair: "repair", PointHit: "point", Reached: "reached", Chance: "chance",
	Elected: "elected", Writable: "writable", SteppedDown: "stepped-down", Majority: "majority", RolledBack: "rolled-back",
	Applied: "applied", Executed: "executed", CatalogWritten: "catalog-written", MetadataInstalled: "metadata-installed",
	MetadataCleared: "metadata-cleared", CriticalSection: "critical-section", CursorOpened: "cursor-opened",
	CursorClosed: "cursor-closed", MigrationRequested: "migration-requested", DonorState: "donor-state",
	RecipientState: "recipient-state", DecisionMade: "decision", MigrationEnded: "migration-ended",
	RangeDeletion: "range-deletion", PrimaryMoving: "primary-moving", BalancerRound: "balancer-round", BalancerChose: "balancer-chose",
	BalancerDone: "balancer-done", BalancerState: "balancer-state", BalancerStopped: "balancer-stopped",
	ClusterChanged: "cluster-changed",
}

// String is the kind's name in texts and files.
func (k Kind) String() string {
	if k < kinds && names[k] != "" {
		return names[k]
	}
	return "kind-unknown"
}

// ParseKind is the inverse of String.
func ParseKind(s string) (Kind, bool) {
	for k, n := range names {
		if n == s && n != "" {
			return Kind(k), true
		}
	}
	return 0, false
}

// Actor says on whose behalf something was written or held.
type Actor uint8

// The actors.
const (
	Nobody       Actor = iota
	User               // a client's operation
	Donor              // the donor's own book-keeping
	Recipient          // the recipient's clone and mods
	Session            // transferred session history
	RangeDeleter       // deletion of orphans
	System             // everything else a server writes for itself
)

var actors = [...]string{"nobody", "user", "donor", "recipient", "session", "range-deleter", "system"}

// String is the actor's name in texts and files.
func (a Actor) String() string {
	if int(a) < len(actors) {
		return actors[a]
	}
	return "actor-unknown"
}

// The Values of a CatalogWritten about a whole collection.
const (
	Dropped           = "drop"             // it is removed
	ForbidsMigrations = "forbidMigrations" // from now on the config server refuses to commit migrations of it
	AllowsMigrations  = "allowMigrations"  // it does so no more
	RenamedFrom       = "renameFrom "      // followed by the name that the collection had; all its chunks are written
)

// Moved is the Value of a BalancerDone whose migration was committed.
const Moved = "moved"

// The Values of a ClusterChanged.
const (
	ShardAdded    = "shardAdded"    // Peer is a shard from now on; ID its zones
	ShardDraining = "shardDraining" // Peer takes no chunks and no databases from now on; ID its zones
	ShardRemoved  = "shardRemoved"  // Peer is no shard any more
	ShardZones    = "shardZones"    // Peer, draining or not as before, has from now on exactly the zones of ID, with commas between them
	ZoneRange     = "zoneRange"     // the range NS, Min, Max is of the zone ID; without ID the one that began at Min, whatever its Max, is of none
	BalancingOn   = "balancingOn"   // the balancer may move chunks of NS
	BalancingOff  = "balancingOff"  // it may not
)

// Chunk is one row of the catalogue as the oracles see it. Min and Max are encoded keys.
type Chunk struct {
	Min, Max     string
	Shard        string
	Major, Minor uint32
	Epoch        string
	// History is newest first (protocol 2.1).
	History []Placement
}

// Placement is one entry of a chunk's history.
type Placement struct {
	ValidAfter uint64
	Shard      string
}

// Event is one thing that happened. Which fields count depends on Kind.
type Event struct {
	// Step counts all events of the run from 1; At is true virtual time in nanoseconds. The world sets both, and Node.
	Step uint64
	At   int64
	Node string

	Kind        Kind
	Actor       Actor
	Shard, Peer string
	Term, Index uint64
	Txn         int64
	// Wall is what the node's clock shows, in nanoseconds since a midnight in UTC; the world sets it where the Kind has it.
	Wall       int64
	NS         string
	Key, DocID string
	Hash       uint64
	Min, Max   string
	ID         string
	Value      string
	N          int
	Chunks     []Chunk
}

// Observer takes events as they happen. It must not keep the pointer.
type Observer interface{ Observe(e *Event) }
