package endstate

import (
	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

// Audit is the state of a cluster after its faults have healed and everything has come to rest, for
// one collection.
type Audit struct {
	NS string
	// Table is the routing table of the config server's primary, in order.
	Table []trace.Chunk
	// UUID names the incarnation of the collection that the catalog knows.
	UUID string
	// Members are all data members and the config members.
	Members []Member
	// SameSince are, by shard, the major versions from which on it has had the same ranges.
	SameSince map[string]model.Same
	// Unsharded says that the shard owns all of it that is the primary of its database.
	Unsharded bool
	// Busy: something was still running when the members were asked, which is reported by itself.
	// Their states may be of different moments.
	Busy bool
	// Keys of the collection are 0 to Keys-1.
	Keys int
	// Final are the operations of the last pass over all keys, which began when everything was at
	// rest: each key was written and then read, and nothing followed.
	Final []histories.Op
	// Whole are the operations on the collection as a whole; Index is the name of the index that
	// they make and drop, empty when there is no other.
	Whole []histories.Op
	Index string
	// Copied are the times from when to when a movePrimary of 4.2 copied the collection, in virtual
	// nanoseconds. What an operation did to its indexes meanwhile may be left behind.
	Copied [][2]int64
	// Described are the descriptions that an index of a name may have, as far as that is known.
	Described map[string][]string
	// Options are those that were asked for when a collection was made, by its UUID, as far as that
	// is known.
	Options map[string]string
	// Show turns an encoded key into text for people; nil shows its bytes.
	Show func(key string) string `json:"-"`
}

// Member is the state of one member of a shard, or of the config replica set.
type Member struct {
	Shard, Node string
	// Primary is true for the member that accepts writes.
	Primary bool
	// Unreachable is true when the member did not answer; then nothing else is set.
	Unreachable bool
	// Outside is true when its replica set is no shard any more, or not yet: it may keep collections
	// that were dropped meanwhile, until it joins.
	Outside bool
	// Applied is its position in the log, as text; Checksum covers all it holds.
	Applied  string
	Checksum uint64
	// Known is true when the member knows the collection's routing; Major and Epoch are then its
	// version of it, and Owned the ranges it believes are its shard's.
	Known bool
	Major uint32
	Epoch string
	Owned []Range
	// Documents are all documents of the collection that it holds, owned or not.
	Documents []Document
	// Tasks are the range deletions on record, ready ones only.
	Tasks []Task
	// Leftovers are documents of migrations, deletions and recoveries that should be gone; Sections
	// the critical sections that are still held; Cursors how many are still open.
	Leftovers []string
	// UUID is the incarnation that the member has data of, empty for none; Indexes are those
	// besides the shard key's.
	UUID    string
	Indexes []string
	// Options are those of the collection that the member has data of, empty for none.
	Options  string
	Sections []string
	Cursors  int
}

// Task is a range deletion on record, with the number of orphans that it counts.
type Task struct {
	ID string
	Range
	Orphans int64
}

// Range is [Min, Max) of encoded shard keys.
type Range struct{ Min, Max string }

// Document is a stored document. Shard is its encoded shard key, Key the number that clients use.
type Document struct {
	Shard string
	Key   int64
	Value string
	List  []string
}

// Orphan is a document on a member of a shard that does not own it.
type Orphan struct {
	Member *Member
	Document
	// Owner is the shard that owns it.
	Owner string
}

// Orphans are all such documents.
func (a *Audit) Orphans() (all []Orphan) {
	for i := range a.Members {
		all = append(all, a.orphansOf(&a.Members[i])...)
	}
	return all
}

func (a *Audit) orphansOf(m *Member) (all []Orphan) {
	for _, d := range m.Documents {
		if owner, known := a.owner(d.Shard); !known || owner != m.Shard {
			all = append(all, Orphan{m, d, owner})
		}
	}
	return all
}
