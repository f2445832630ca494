package histories

import (
	"cmp"
	"fmt"
)

// Stream is what a reader received from opening a change stream to the next opening.
type Stream struct {
	// ID is the stream's number in the scenario.
	ID int `json:"id"`
	// Fresh is true when the stream was opened from now on, which turned out to be After; else it
	// was opened behind After. Opened is the number of the event at which the opening was answered.
	Fresh  bool   `json:"fresh,omitempty"`
	After  Token  `json:"after"`
	Opened uint64 `json:"opened"`
	// Batches are the answers. Drained is true when the last one reaches beyond every write of the
	// run.
	Batches []ChangeBatch `json:"batches,omitempty"`
	Drained bool          `json:"drained,omitempty"`
}

// Token is a place in the order of all changes of a collection. Time is cluster time, of no
// relation to event numbers.
type Token struct {
	Time  uint64 `json:"time"`
	Shard string `json:"shard,omitempty"`
	N     int    `json:"n,omitempty"`
}

// Compare is negative when t is before u.
func (t Token) Compare(u Token) int {
	return cmp.Or(cmp.Compare(t.Time, u.Time), cmp.Compare(t.Shard, u.Shard), cmp.Compare(t.N, u.N))
}

// Text is the token for people: its time as ClusterTime has it, then the shard and the number of
// the change, unless the shard stands for before or behind all of them.
func (t Token) Text() string {
	text := ClusterTime(t.Time)
	if t.Shard >= " " && t.Shard < "\x7f" {
		text += fmt.Sprintf(" of %s/%d", t.Shard, t.N)
	}
	return text
}

// TimeBits are the bits of a cluster time that count within its millisecond.
const TimeBits = 20

// ClusterTime is a cluster time for people: the millisecond, and the count within it.
func ClusterTime(t uint64) string {
	return fmt.Sprintf("%d.%d", t>>TimeBits, t&(1<<TimeBits-1))
}

// Ends says whether the change is the end of the collection, or what the stream says of itself
// after that.
func (c *Change) Ends() bool { return c.Gone() || c.Kind == "invalidate" }

// Gone says whether the collection is gone with the change, or has another name.
func (c *Change) Gone() bool { return c.Kind == "drop" || c.Kind == "rename" }

// ChangeBatch is one answer: changes, and up to where everything was delivered with it.
type ChangeBatch struct {
	Changes []Change `json:"changes,omitempty"`
	Upto    Token    `json:"upto"`
}

// Change is one change of a document: Kind insert, update, replace or delete, and the document
// after it. Kinds drop, rename and invalidate are about the collection and have no document.
type Change struct {
	Token Token    `json:"token"`
	Kind  string   `json:"kind"`
	Key   int64    `json:"key"`
	Value string   `json:"value,omitempty"`
	List  []string `json:"list,omitempty"`
}

// Upto is up to where the reader was delivered everything.
func (s *Stream) Upto() Token {
	if n := len(s.Batches); n > 0 {
		return s.Batches[n-1].Upto
	}
	return s.After
}
