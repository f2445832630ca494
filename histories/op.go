// Package histories is the record that everything above the system shares: what clients asked and
// were answered, and the files in which that is kept. Checkers see nothing else.
//
// Promise: a history written by this build is read back equal; a file of another schema, a
// truncated or a foreign file is refused with the file, the line and what to do.
//
// Refusal: it holds no rule about what a right history is; wellformed and the checkers do.
package histories

import (
	"github.com/shardproof/shardproof/histories/scenario"
)

// Outcome is what the client knows of its operation.
type Outcome string

// The outcomes.
const (
	OK      Outcome = "ok"      // it happened, with the result recorded
	Failed  Outcome = "failed"  // it certainly did not happen and never will
	Unknown Outcome = "unknown" // it may have happened, may happen later, or not
)

// Op is one operation as its client saw it. Call and Return are numbers of the run's event counter,
// strictly increasing over the whole history, so that real-time order is never lost to a coarse
// clock; Return of an unknown outcome is when the client gave up.
type Op struct {
	ID       int             `json:"id"`
	Client   int             `json:"client"`
	NS       string          `json:"ns"`
	Kind     scenario.OpKind `json:"kind"`
	Key      int64           `json:"key"`
	To       int64           `json:"to,omitempty"`
	Value    string          `json:"value,omitempty"`
	Expect   string          `json:"expect,omitempty"`
	Concern  string          `json:"concern,omitempty"`
	Prefer   string          `json:"prefer,omitempty"`
	Causal   bool            `json:"causal,omitempty"`
	Into     string          `json:"into,omitempty"`
	Call     uint64          `json:"call"`
	Return   uint64          `json:"return"`
	CallAt   int64           `json:"callAt"`   // virtual nanoseconds
	ReturnAt int64           `json:"returnAt"` // virtual nanoseconds
	Outcome  Outcome         `json:"outcome"`
	Error    string          `json:"error,omitempty"`
	Retries  int             `json:"retries,omitempty"`
	Result   Result          `json:"result"`
	// After and Time are cluster times: the newest that the client had heard of at the call, and
	// the operation time that it was told; zero when it was told none. What the operation wrote has
	// a time after After and up to Time; with Exact it has that of Time. A snapshot read saw the
	// state at Time.
	After uint64 `json:"after,omitempty"`
	Time  uint64 `json:"time,omitempty"`
	Exact bool   `json:"exact,omitempty"`
	// Since is, of a read, the cluster time before which nothing that it saw lies: everything that
	// took effect by then counts for it. Zero when nothing is said.
	Since uint64 `json:"since,omitempty"`
	// Lossy marks a read on a secondary that range deletion was allowed to overtake: documents may
	// be missing from it.
	Lossy bool `json:"lossy,omitempty"`
	// Stream is what a watch received; nil for every other operation.
	Stream *Stream `json:"stream,omitempty"`
}

// Result is what the operation returned.
type Result struct {
	// Found says whether there was a document: for a read the one read, for a write the one it
	// replaced or removed.
	Found bool `json:"found,omitempty"`
	// Value is that document's write identity; List its pushed identities.
	Value string   `json:"value,omitempty"`
	List  []string `json:"list,omitempty"`
	// Applied is true when a write took effect: the CAS matched, the insert was no duplicate, the
	// update found its document.
	Applied bool `json:"applied,omitempty"`
	N       int  `json:"n,omitempty"`
	// Upserted is true when a write that replaces or makes a document says that it made one.
	// Without it and without Found it says neither.
	Upserted bool   `json:"upserted,omitempty"`
	Items    []Item `json:"items,omitempty"`
	// Complete is true when a scan reached its end.
	Complete bool `json:"complete,omitempty"`
}

// Item is one document returned by a scan. Return is the event number at which its batch arrived.
type Item struct {
	Key    int64    `json:"key"`
	Value  string   `json:"value"`
	List   []string `json:"list,omitempty"`
	Return uint64   `json:"return"`
}
