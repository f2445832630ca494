package shard

import (
	"slices"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
)

// Metadata is one state of a shard's knowledge of a collection. It is never changed, but for what
// concerns its users.
type Metadata struct {
	Table *catalog.Table
	shard string
	owned []key.Range
	pins  int
	// serial numbers what was installed: the newer, the larger.
	serial uint64
	// lost are the ranges whose documents are being deleted though users are left. That happens on
	// secondaries only: a primary's deletion waits.
	lost []key.Range
}

// Version is the shard's own version: zero when it owns nothing.
func (m *Metadata) Version() catalog.Version { return m.Table.ShardVersion(m.shard) }

// Owns reports whether the shard owns the key.
func (m *Metadata) Owns(k key.Key) bool { return m.Table.OwnsKey(m.shard, k) }

// Owned lists what the shard owns, in order.
func (m *Metadata) Owned() []key.Range { return m.owned }

// Overlaps reports whether the shard owns a key of the range.
func (m *Metadata) Overlaps(r key.Range) bool {
	for _, o := range m.owned {
		if o.Overlaps(r) {
			return true
		}
	}
	return false
}

// Metadata returns what is known now, nil when nothing is. To keep it across a wait, Take a Filter.
func (c *Collection) Metadata() *Metadata { return c.known }

// Install makes the table the shard's knowledge, unless what is known is newer. A refresh that read
// the table before a Clear must not install it after; Refresh handles that by itself.
func (c *Collection) Install(table *catalog.Table) {
	if c.known != nil && !newerTable(table, c.known.Table) {
		return
	}
	c.retire()
	before := c.cache
	if c.cache == nil || newerTable(table, c.cache) {
		c.cache = table
	}
	c.installs++
	c.known = &Metadata{
		Table:  table,
		shard:  c.server.name,
		owned:  table.Owned(c.server.name),
		serial: c.installs,
	}
	c.settleArrived(before)
	c.announceInstalled()
}

func newerTable(t, than *catalog.Table) bool { return supersedes(t.Version(), than.Version()) }

// supersedes reports whether a table of the first version replaces one of the second: those of one
// incarnation by version, others by age.
func supersedes(v, u catalog.Version) bool {
	if v.SameIncarnation(u) {
		return u.Older(v)
	}
	return v.Timestamp > u.Timestamp
}

// Clear forgets what is known: every versioned request then waits for a refresh. A refresh that is
// in progress will not undo it.
func (c *Collection) Clear() {
	c.clears++
	if c.known == nil {
		return
	}
	c.retire()
	c.server.node.Emit(trace.MetadataClearedEvent{Shard: c.server.name, NS: c.ns}.Event())
}

// retire ends the use of the current metadata for new requests; queries that run keep theirs.
func (c *Collection) retire() {
	if c.known != nil && c.known.pins > 0 {
		c.retired = append(c.retired, c.known)
	}
	c.known = nil
}

func (c *Collection) announceInstalled() {
	v := c.known.Version()
	e := trace.MetadataInstalledEvent{
		Shard:   c.server.name,
		NS:      c.ns,
		Version: v.String(),
	}
	for _, r := range c.known.owned {
		e.Chunks = append(e.Chunks, trace.Chunk{
			Min:   string(r.Min),
			Max:   string(r.Max),
			Shard: c.server.name,
			Major: v.Major,
			Minor: v.Minor,
			Epoch: v.Epoch,
		})
	}
	c.server.node.Emit(e.Event())
}

// Filter keeps one state of the metadata for the life of a query (protocol 10.1): what the shard
// owned when the query began stays visible to it, and is not deleted before Drop.
type Filter struct {
	collection *Collection
	metadata   *Metadata
}

// Take returns a filter of what is known now, nil when nothing is.
func (c *Collection) Take() *Filter {
	if c.known == nil {
		return nil
	}
	c.known.pins++
	return &Filter{collection: c, metadata: c.known}
}

// Owns reports whether the query may see the key. A nil Filter lets everything pass.
func (f *Filter) Owns(k key.Key) bool { return f == nil || f.metadata.Owns(k) }

// Lost reports whether documents of the range are being deleted below the query.
func (f *Filter) Lost(r key.Range) bool {
	return f != nil && slices.ContainsFunc(f.metadata.lost, r.Overlaps)
}

// Drop ends the use; it may be called again, and on nil.
func (f *Filter) Drop() {
	if f == nil || f.metadata == nil {
		return
	}
	m := f.metadata
	f.metadata = nil
	m.pins--
	if m.pins == 0 {
		f.collection.forget(m)
		f.collection.drained.Broadcast()
	}
}

func (c *Collection) forget(m *Metadata) {
	for i, r := range c.retired {
		if r == m {
			c.retired = append(c.retired[:i], c.retired[i+1:]...)
			return
		}
	}
}

// InUse reports whether a running query may still see keys of the range.
func (c *Collection) InUse(r key.Range) bool {
	for _, m := range c.retired {
		if m.Overlaps(r) {
			return true
		}
	}
	return c.known != nil && c.known.pins > 0 && c.known.Overlaps(r)
}

// NewestUser returns the newest of the earlier states of the metadata by which a running query may
// see keys of the range; nil when there is none.
func (c *Collection) NewestUser(r key.Range) *Metadata {
	for _, m := range slices.Backward(c.retired) {
		if m.Overlaps(r) {
			return m
		}
	}
	return nil
}

// AwaitRetired waits until no running query uses a state of the metadata, or an older one (protocol
// 10.2); nil is used by none.
func (c *Collection) AwaitRetired(t env.Task, m *Metadata) error {
	return c.drained.WaitFor(t, 0, func() bool {
		return m == nil || !slices.ContainsFunc(c.retired, func(old *Metadata) bool {
			return old.serial <= m.serial
		})
	})
}

// LoseRange informs the running queries of a secondary that the documents of a range that they may
// see are being deleted (protocol 10.4). It comes no later than the first deletion, since both come
// through the log.
func (c *Collection) LoseRange(r key.Range) {
	for _, m := range append([]*Metadata{c.known}, c.retired...) {
		if m != nil && m.Overlaps(r) {
			m.lost = append(m.lost, r)
		}
	}
}

// AwaitQueries waits until no running query may see keys of the range. The caller has handled it
// that the range is no longer owned, so that no new one begins.
func (c *Collection) AwaitQueries(t env.Task, r key.Range) error {
	return c.drained.WaitFor(t, 0, func() bool { return !c.InUse(r) })
}
