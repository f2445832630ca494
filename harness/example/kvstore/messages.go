package kvstore

// The messages. A sender never changes one afterwards.
type (
	// Request is a client's operation on a key.
	Request struct {
		Do            Do
		Key           int64
		Value, Expect string // Expect: of a Swap
	}
	// Reply is what a request found before it changed anything, and whether it did.
	Reply struct {
		Found, Applied bool
		Value          string
	}

	// Fetch asks the directory for its table; with Fence it gets a new version first, so that no
	// earlier movement can end.
	Fetch struct{ Fence bool }
	// Assign gives a range to a shard, if the table still has the version.
	Assign struct {
		Version int
		Given   Owned
		Move    string
	}

	// Copy and Switch are the steps of the movement of that name.
	Copy struct {
		Move  string
		Given Owned // the range, and who is to have it
	}
	Switch struct{ Move string }
	// Install is a part of a copy, CatchUp what was written during it: part Seq of the movement
	// that began with Version.
	Install struct{ Part }
	// CatchUp is the last part.
	CatchUp struct{ Part }
	// Part is what Install and CatchUp carry.
	Part struct {
		Version, Seq int
		Move         string
		Given        Owned
		Pairs        []Pair
	}
	// Done answers what has no other answer.
	Done struct{}
)

// Pair is a key and its value, or that it has none.
type Pair struct {
	Key     int64  `json:"k"`
	Value   string `json:"v,omitempty"`
	Deleted bool   `json:"d,omitempty"`
}

// Do is what a request does.
type Do uint8

// The operations.
const (
	Get    Do = iota
	Put       // replaces the value
	Remove    // of the key
	Swap      // replaces the value if it is the expected one; an empty expectation wants none
)
