package trace

import "strings"

// BalancerMode is what the balancer may do. The zero value is none.
type BalancerMode uint8

// The modes.
const (
	BalancerOff BalancerMode = iota + 1
	BalancerFull
	BalancerAutoSplitOnly // of 4.2: chunks are split and nothing is moved
)

var balancerModes = []string{"", "off", "full", "autoSplitOnly"}

// String is the mode's name as the setting has it, empty for none.
func (m BalancerMode) String() string { return nameOf(balancerModes, m) }

// ParseBalancerMode is the inverse of String.
func ParseBalancerMode(s string) (BalancerMode, bool) {
	return parseName[BalancerMode](balancerModes, s)
}

// RoundPhase says whether a round of the balancer begins or ends. The zero value is none.
type RoundPhase uint8

// The phases.
const (
	RoundBegun RoundPhase = iota + 1
	RoundEnded
)

var roundPhases = []string{"", "begun", "ended"}

// String is the phase's name, empty for none.
func (p RoundPhase) String() string { return nameOf(roundPhases, p) }

// ParseRoundPhase is the inverse of String.
func ParseRoundPhase(s string) (RoundPhase, bool) { return parseName[RoundPhase](roundPhases, s) }

// BalancerMoved is the outcome of a request of the balancer whose migration was committed; every
// other outcome is an error's code.
const BalancerMoved = "moved"

// AtRandom is the reason of a request that follows no policy.
const AtRandom = "at random"

// ClusterChange is what operators change about shards, zones and collections. The zero value is
// none.
type ClusterChange uint8

// The changes.
const (
	ShardAdded    ClusterChange = iota + 1 // Shard is one of the cluster from now on, with Zones
	ShardDraining                          // Shard takes no chunks and no databases from now on
	ShardRemoved                           // Shard is no shard any more
	ShardZones                             // Shard, draining or not as before, has exactly Zones
	ZoneRange                              // the range is of the zone; without one, of none
	BalancingOn                            // the balancer may move chunks of the collection
	BalancingOff                           // it may not
)

var clusterChanges = []string{
	"", "shardAdded", "shardDraining", "shardRemoved", "shardZones", "zoneRange", "balancingOn",
	"balancingOff",
}

// String is the change's name, empty for none.
func (c ClusterChange) String() string { return nameOf(clusterChanges, c) }

// ParseClusterChange is the inverse of String.
func ParseClusterChange(s string) (ClusterChange, bool) {
	return parseName[ClusterChange](clusterChanges, s)
}

// CatalogChange is what a write of the catalog does to a collection or a database. The zero value
// is any change without a name here.
type CatalogChange uint8

// The changes. Those that have a subject are followed by it in the text of a CatalogWritten.
const (
	Dropped           CatalogChange = iota + 1 // the collection is removed
	ForbidsMigrations                          // migrations of it are not committed from now on
	AllowsMigrations                           // they are again
	Split                                      // a chunk becomes several
	Merge                                      // several chunks become one
	Jumbo                                      // a chunk is marked as too big
	JumboCleared                               // it is not marked any more
	AutoMerge                                  // chunks of one shard are joined unasked
	RenamedFrom                                // subject: the former name; all chunks are written
	ChunkMoved                                 // subject: the migration
	PrimaryMoved                               // subject: the movePrimary
)

var catalogChanges = []string{
	"", "drop", "forbidMigrations", "allowMigrations", "split", "merge", "jumbo",
	"clearJumboFlag", "autoMerge", "renameFrom", "move", "movePrimary",
}

// String is the change's name, empty for none.
func (c CatalogChange) String() string { return nameOf(catalogChanges, c) }

// HasSubject says whether the change is about something that has a name.
func (c CatalogChange) HasSubject() bool { return c >= RenamedFrom && c <= PrimaryMoved }

// Of is the text of a change with its subject.
func (c CatalogChange) Of(subject string) string { return c.String() + " " + subject }

// ParseCatalogChange takes the text of a CatalogWritten apart; a text of another change has none.
func ParseCatalogChange(text string) (c CatalogChange, subject string) {
	name, subject, has := strings.Cut(text, " ")
	c, _ = parseName[CatalogChange](catalogChanges, name)
	if c.HasSubject() != has {
		return 0, ""
	}
	return c, subject
}
