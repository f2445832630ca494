package checkers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

// Convergence looks at the cluster after its faults have healed.
var Convergence = Checker{
	Name: "convergence",
	Promise: "After all faults have been repaired the cluster converges: the members of a " +
		"replica set hold the same data, every document is on the shard that owns it and " +
		"nowhere else, all servers agree on the metadata, nothing is left over, and every key " +
		"can be read and written.",
}

// The signatures of convergence violations.
const (
	ReplicasDiffer    = "replica-mismatch"
	DocumentLost      = "document-lost"
	DocumentWrong     = "document-value-wrong"
	DocumentTwice     = "document-duplicated"
	Orphan            = "orphaned-document"
	Leftover          = "leftover-state"
	SectionHeld       = "critical-section-held"
	MetadataDiffers   = "metadata-mismatch"
	TableBroken       = "routing-table-invalid"
	KeyUnusable       = "key-unavailable"
	MemberUnreachable = "member-unreachable"
)

// Check judges an audit. It is a pure function of it; the gravest violations come first.
func (a *Audit) Check() Verdict {
	v := Convergence.pass()
	v.Checked = len(a.Members)
	a.checkTable(&v)
	a.checkDocuments(&v)
	a.checkReplicas(&v)
	for i := range a.Members {
		a.checkMember(&v, &a.Members[i])
	}
	a.checkIncarnations(&v)
	a.checkFinal(&v)
	return v
}

func (a *Audit) add(v *Verdict, signature, key, broke string, because ...string) {
	v.add(Violation{Signature: signature, NS: a.NS, Key: key, Broke: broke, Because: because})
}

// checkTable: the chunks cover the key space without gap or overlap, with versions of their own.
func (a *Audit) checkTable(v *Verdict) {
	if flaw := partition(a.Table, a.span); flaw != "" {
		a.add(v, TableBroken, "", flaw, "the chunks must cover all keys, each key once")
	}
	seen := map[[2]uint32]bool{}
	for _, c := range a.Table {
		version := [2]uint32{c.Major, c.Minor}
		if seen[version] {
			a.add(v, TableBroken, "", fmt.Sprintf("two chunks have version %d|%d", c.Major, c.Minor), "chunk versions must be unique")
		}
		seen[version] = true
	}
}

// The bounds of the key space, as system/key encodes MinKey and MaxKey.
const (
	lowest  = "\x00"
	highest = "\xff"
)

// partition says what keeps ordered chunks from covering the key space exactly once, or nothing.
func partition(chunks []trace.Chunk, span func(lo, hi string) string) string {
	if len(chunks) == 0 {
		return "there are no chunks"
	}
	if chunks[0].Min != lowest || chunks[len(chunks)-1].Max != highest {
		return fmt.Sprintf("the chunks cover only %s", span(chunks[0].Min, chunks[len(chunks)-1].Max))
	}
	for i, c := range chunks {
		switch {
		case c.Min >= c.Max:
			return fmt.Sprintf("the chunk %s is empty", span(c.Min, c.Max))
		case i > 0 && chunks[i-1].Max != c.Min:
			return fmt.Sprintf("the chunk %s is followed by %s", span(chunks[i-1].Min, chunks[i-1].Max), span(c.Min, c.Max))
		}
	}
	return ""
}

func (a *Audit) owner(key string) (string, bool) {
	for _, c := range a.Table {
		if c.Min <= key && key < c.Max {
			return c.Shard, true
		}
	}
	return "", false
}

func (a *Audit) checkMember(v *Verdict, m *Member) {
	if m.Unreachable {
		a.add(v, MemberUnreachable, "", m.Node+" does not answer", "all faults had been repaired")
		return
	}
	for _, what := range m.Leftovers {
		a.add(v, Leftover, "", m.Node+" still has "+what, "no operation that needs it is running")
	}
	for _, what := range m.Sections {
		a.add(v, SectionHeld, "", m.Node+" still holds the critical section "+what, "no operation that needs it is running")
	}
	if m.Cursors > 0 {
		a.add(v, Leftover, "", fmt.Sprintf("%s still has %d open cursors", m.Node, m.Cursors), "every scan has ended")
	}
	a.checkMetadata(v, m)
	a.checkTasks(v, m)
	for _, d := range m.Documents {
		if owner, known := a.owner(d.Shard); !known || owner != m.Shard {
			a.add(v, Orphan, fmt.Sprint(d.Key), fmt.Sprintf("%s still has k=%d", m.Node, d.Key),
				fmt.Sprintf("the key is owned by %s", owner), "no range deletion covers it")
		}
	}
}

// checkTasks: a range deletion that is still on record counts the documents that it has left to delete (protocol 10.6).
func (a *Audit) checkTasks(v *Verdict, m *Member) {
	for _, k := range m.Tasks {
		left := int64(0)
		for _, d := range m.Documents {
			if k.Min <= d.Shard && d.Shard < k.Max {
				left++
			}
		}
		if left != k.Orphans {
			a.add(v, Miscounted, "", fmt.Sprintf("task %s of %s counts %d orphans in %s", k.ID, m.Node, k.Orphans, a.span(k.Min, k.Max)),
				fmt.Sprintf("%s holds %d documents there", m.Node, left))
		}
	}
}

// checkMetadata: what a member believes is what the routing table says. Not knowing is no wrong belief.
func (a *Audit) checkMetadata(v *Verdict, m *Member) {
	if !m.Known {
		return
	}
	var want []Range
	var major uint32
	for _, c := range a.Table {
		if c.Shard != m.Shard {
			continue
		}
		want = append(want, Range{c.Min, c.Max})
		major = max(major, c.Major)
		if m.Epoch != "" && c.Epoch != m.Epoch {
			a.add(v, MetadataDiffers, "", fmt.Sprintf("%s has the collection with epoch %s", m.Node, m.Epoch), "the catalog has epoch "+c.Epoch)
			return
		}
	}
	if got, want := joined(m.Owned), joined(want); !slices.Equal(got, want) {
		a.add(v, MetadataDiffers, "", fmt.Sprintf("%s believes that %s owns %s", m.Node, m.Shard, a.ranges(got)),
			"the catalogue says "+a.ranges(want))
	} else if m.Major != major && !a.Reshaped {
		a.add(v, MetadataDiffers, "", fmt.Sprintf("%s has major version %d of %s", m.Node, m.Major, m.Shard),
			fmt.Sprintf("the catalog has major version %d", major))
	}
}

// joined are the ranges in order, with neighbours made one: how a range is cut into chunks is nobody's belief.
func joined(all []Range) (out []Range) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(x, y Range) int { return strings.Compare(x.Min, y.Min) })
	for _, r := range all {
		if n := len(out); n > 0 && out[n-1].Max == r.Min {
			out[n-1].Max = r.Max
		} else {
			out = append(out, r)
		}
	}
	return out
}

func (a *Audit) ranges(all []Range) string {
	if len(all) == 0 {
		return "nothing"
	}
	texts := make([]string, len(all))
	for i, r := range all {
		texts[i] = a.span(r.Min, r.Max)
	}
	return strings.Join(texts, " and ")
}

// checkReplicas: all members of a shard have applied the same and hold the same.
func (a *Audit) checkReplicas(v *Verdict) {
	first := map[string]*Member{}
	for i := range a.Members {
		m := &a.Members[i]
		switch other := first[m.Shard]; {
		case m.Unreachable:
		case other == nil:
			first[m.Shard] = m
		case other.Applied != m.Applied || other.Checksum != m.Checksum:
			a.add(v, ReplicasDiffer, "", fmt.Sprintf("%s and %s hold different data", other.Node, m.Node),
				fmt.Sprintf("%s has applied %s, checksum %x", other.Node, other.Applied, other.Checksum),
				fmt.Sprintf("%s has applied %s, checksum %x", m.Node, m.Applied, m.Checksum))
		}
	}
}

// checkDocuments: the documents that shards own, together, are those that the last reads found.
func (a *Audit) checkDocuments(v *Verdict) {
	owned, reads := a.owned(v), a.lastReads()
	for key := range int64(a.Keys) {
		op := reads[key]
		if op == nil {
			continue
		}
		d, found := owned[key]
		a.compare(v, op, d, found)
	}
}

func (a *Audit) compare(v *Verdict, op *histories.Op, d Document, found bool) {
	r, name := &op.Result, fmt.Sprint(op.Key)
	switch {
	case r.Found && !found:
		a.add(v, DocumentLost, name, "no shard that owns k="+name+" has it", fmt.Sprintf("operation %d had just read %s", op.ID, r.Value))
	case !r.Found && found:
		a.add(v, DocumentWrong, name, fmt.Sprintf("the owner of k=%s has %s", name, d.Value), fmt.Sprintf("operation %d had just found no document", op.ID))
	case found && (d.Value != r.Value || !slices.Equal(d.List, r.List)):
		a.add(v, DocumentWrong, name, fmt.Sprintf("the owner of k=%s has %s %v", name, d.Value, d.List),
			fmt.Sprintf("operation %d had just read %s %v", op.ID, r.Value, r.List))
	}
}

func (a *Audit) owned(v *Verdict) map[int64]Document {
	owned := map[int64]Document{}
	for i := range a.Members {
		m := &a.Members[i]
		if !m.Primary {
			continue
		}
		for _, d := range m.Documents {
			if owner, _ := a.owner(d.Shard); owner != m.Shard {
				continue
			}
			if _, twice := owned[d.Key]; twice {
				a.add(v, DocumentTwice, fmt.Sprint(d.Key), fmt.Sprintf("k=%d is stored twice by its owners", d.Key), "a key has one owner, which has one document of it")
			}
			owned[d.Key] = d
		}
	}
	return owned
}

func (a *Audit) lastReads() map[int64]*histories.Op {
	last := map[int64]*histories.Op{}
	for i := range a.Final {
		if op := &a.Final[i]; op.Kind == "read" && op.Outcome == histories.OK {
			last[op.Key] = op
		}
	}
	return last
}

// checkFinal: every key was written and read in the last pass.
func (a *Audit) checkFinal(v *Verdict) {
	written, read := make([]bool, a.Keys), make([]bool, a.Keys)
	for i := range a.Final {
		op := &a.Final[i]
		if op.Outcome != histories.OK {
			a.add(v, KeyUnusable, fmt.Sprint(op.Key), fmt.Sprintf("operation %d (%s k=%d) of the final pass failed: %s", op.ID, op.Kind, op.Key, op.Error),
				"the faults had healed and nothing was under way")
		}
		if op.Key < 0 || op.Key >= int64(a.Keys) {
			continue
		}
		written[op.Key] = written[op.Key] || op.Kind != "read" && op.Kind != "scan"
		read[op.Key] = read[op.Key] || op.Kind == "read"
	}
	for key := range a.Keys {
		if !written[key] || !read[key] {
			v.leaveOpen("k=%d of %s: the final pass did not cover it", key, a.NS)
		}
	}
}

// span is a range of encoded keys for people.
func (a *Audit) span(lo, hi string) string {
	show := a.Show
	if show == nil {
		show = showKey
	}
	return "[" + show(lo) + ", " + show(hi) + ")"
}

func showKey(k string) string {
	switch k {
	case lowest:
		return "MinKey"
	case highest:
		return "MaxKey"
	}
	return fmt.Sprintf("%x", k)
}
