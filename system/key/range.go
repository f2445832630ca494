package key

// Range is the keys from Min up to but not including Max.
type Range struct{ Min, Max Key }

// Everything is the range of all shard keys.
var Everything = Range{Min, Max}

// Empty reports whether no key is in the range.
func (r Range) Empty() bool { return r.Min >= r.Max }

// Contains reports whether k is in the range.
func (r Range) Contains(k Key) bool { return r.Min <= k && k < r.Max }

// ContainsRange reports whether every key of s is in r; an empty s is in every range.
func (r Range) ContainsRange(s Range) bool { return s.Empty() || r.Min <= s.Min && s.Max <= r.Max }

// Overlaps reports whether a key is in both.
func (r Range) Overlaps(s Range) bool { return !r.Intersect(s).Empty() }

// Intersect returns the keys that are in both; it may be empty.
func (r Range) Intersect(s Range) Range { return Range{max(r.Min, s.Min), min(r.Max, s.Max)} }

// String is "[3, 17)".
func (r Range) String() string { return "[" + r.Min.String() + ", " + r.Max.String() + ")" }
