package trace

import "strings"

// CatalogWrittenEvent: chunks of a collection, or a database, are written.
type CatalogWrittenEvent struct {
	Shard  string
	Term   uint64
	Index  uint64
	NS     string
	Chunks []Chunk
	// Why is the text of a CatalogChange, or any other.
	Why string
	// ClusterTime is that of the entry, 0 when nobody says.
	ClusterTime int64
}

// Event is the event that travels.
func (p CatalogWrittenEvent) Event() *Event {
	change, _ := ParseCatalogChange(p.Why)
	return &Event{
		Kind: CatalogWritten, Shard: p.Shard, Term: p.Term, Index: p.Index, NS: p.NS,
		Chunks: p.Chunks, detail: p.Why, state: uint8(change), amount: p.ClusterTime,
	}
}

// MetadataInstalledEvent: the node believes from now on that its shard owns Chunks.
type MetadataInstalledEvent struct {
	Shard  string
	NS     string
	Chunks []Chunk
	// Version is that of the placement.
	Version string
}

// Event is the event that travels.
func (p MetadataInstalledEvent) Event() *Event {
	return &Event{
		Kind: MetadataInstalled, Shard: p.Shard, NS: p.NS, Chunks: p.Chunks, detail: p.Version,
	}
}

// MetadataClearedEvent: the node forgets who owns what.
type MetadataClearedEvent struct {
	Shard string
	NS    string
}

// Event is the event that travels.
func (p MetadataClearedEvent) Event() *Event {
	return &Event{
		Kind: MetadataCleared, Shard: p.Shard, NS: p.NS,
	}
}

// CriticalSectionEvent: a primary blocks writes or reads, or no longer.
type CriticalSectionEvent struct {
	Actor Actor
	Shard string
	NS    string
	// Migration is the one that holds it.
	Migration string
	// State is what is blocked from now on.
	State SectionState
}

// Event is the event that travels.
func (p CriticalSectionEvent) Event() *Event {
	return &Event{
		Kind: CriticalSection, Actor: p.Actor, Shard: p.Shard, NS: p.NS, subject: p.Migration,
		detail: p.State.String(), state: uint8(p.State),
	}
}

// CursorOpenedEvent: a query begins; Chunks are what the shard owned of its range, as far as
// the node knew.
type CursorOpenedEvent struct {
	Shard  string
	NS     string
	Min    string
	Max    string
	Chunks []Chunk
	// Cursor is its name.
	Cursor string
}

// Event is the event that travels.
func (p CursorOpenedEvent) Event() *Event {
	return &Event{
		Kind: CursorOpened, Shard: p.Shard, NS: p.NS, Min: p.Min, Max: p.Max, Chunks: p.Chunks,
		subject: p.Cursor,
	}
}

// CursorClosedEvent: a query has ended.
type CursorClosedEvent struct {
	Shard string
	NS    string
	Min   string
	Max   string
	// Cursor is its name.
	Cursor string
}

// Event is the event that travels.
func (p CursorClosedEvent) Event() *Event {
	return &Event{
		Kind: CursorClosed, Shard: p.Shard, NS: p.NS, Min: p.Min, Max: p.Max, subject: p.Cursor,
	}
}

// ClusterChangedEvent: the cluster's configuration is written; Peer is the shard it is about.
type ClusterChangedEvent struct {
	Shard string
	Peer  string
	Term  uint64
	Index uint64
	NS    string
	Min   string
	Max   string
	// Change says what.
	Change ClusterChange
	// Zones are the shard's with commas between them, or the range's zone.
	Zones string
	// MaxBytes is from how much data on the shard is given no more; 0 is no limit.
	MaxBytes int64
}

// Event is the event that travels.
func (p ClusterChangedEvent) Event() *Event {
	return &Event{
		Kind: ClusterChanged, Shard: p.Shard, Peer: p.Peer, Term: p.Term, Index: p.Index,
		NS: p.NS, Min: p.Min, Max: p.Max, detail: p.Change.String(), state: uint8(p.Change),
		subject: p.Zones, amount: p.MaxBytes,
	}
}

// EntryChangedEvent: a document of the catalog that was there before, no chunk, has other fields
// now: that of the shard Peer, or of the collection or database NS. A renamed collection was there
// before under its former name.
type EntryChangedEvent struct {
	Shard string
	Peer  string
	Term  uint64
	Index uint64
	NS    string
	// Why is the purpose for which it was written.
	Why string
	// Fields are those that changed, came or went, in the order of the document.
	Fields []string
}

// Event is the event that travels.
func (p EntryChangedEvent) Event() *Event {
	return &Event{
		Kind: EntryChanged, Shard: p.Shard, Peer: p.Peer, Term: p.Term, Index: p.Index, NS: p.NS,
		detail: p.Why, subject: strings.Join(p.Fields, " "),
	}
}
