package endstate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// Convergence looks at the cluster after its faults have healed.
var Convergence = verdict.Checker{
	Name: "convergence",
	Promise: "After all faults have been repaired the cluster converges: the members of a " +
		"replica set hold the same data, every document is on the shard that owns it and " +
		"nowhere else, all servers agree on the metadata, nothing is left over, and every key " +
		"can be read and written.",
	Signatures: verdict.Meanings{
		replicasDiffer:    "members of one shard hold different data",
		documentLost:      "the final read found a document that no owner has",
		documentWrong:     "the owner's document is not the one that the final read found",
		documentTwice:     "two documents of one key are owned",
		orphanLeft:        "a member has a document that its shard does not own",
		leftoverFound:     "a record of finished work is left over",
		sectionHeld:       "a critical section is still held",
		metadataDiffers:   "a member's metadata differs from the catalog",
		tableBroken:       "the routing table leaves a gap, overlaps, or repeats a version",
		keyUnusable:       "an operation of the final pass failed",
		memberUnreachable: "a member does not answer",
		orphansMiscounted: "a task's orphan count is not the number of its orphaned documents",
		uuidDiffers: "a member has data of another incarnation of the collection than the " +
			"catalog",
		indexesDiffer:  "two owners have different indexes",
		collectionGone: "an owner does not have the collection",
		indexMissing:   "an owner lacks an index that was created",
		indexKept:      "an owner has an index that was dropped",
		optionsDiffer:  "a member has a collection with other options than it was made with",
	},
}

// The signatures of convergence violations; orphansMiscounted is also one of a step rule.
const (
	orphansMiscounted verdict.Signature = "orphan-count-wrong"
	replicasDiffer    verdict.Signature = "replica-mismatch"
	documentLost      verdict.Signature = "document-lost"
	documentWrong     verdict.Signature = "document-value-wrong"
	documentTwice     verdict.Signature = "document-duplicated"
	orphanLeft        verdict.Signature = "orphaned-document"
	leftoverFound     verdict.Signature = "leftover-state"
	sectionHeld       verdict.Signature = "critical-section-held"
	metadataDiffers   verdict.Signature = "metadata-mismatch"
	tableBroken       verdict.Signature = "routing-table-invalid"
	keyUnusable       verdict.Signature = "key-unavailable"
	memberUnreachable verdict.Signature = "member-unreachable"
)

// Check judges an audit. It is a pure function of it; the gravest violations come first.
func (a *Audit) Check() verdict.Verdict {
	v := Convergence.Begin()
	v.Checked = len(a.Members)
	a.checkTable(&v)
	a.checkDocuments(&v)
	a.checkReplicas(&v)
	for i := range a.Members {
		a.checkMember(&v, &a.Members[i])
	}
	a.checkIncarnations(&v)
	a.checkOptions(&v)
	a.checkDescribed(&v)
	a.checkFinal(&v)
	return v
}

func (a *Audit) add(
	v *verdict.Verdict, signature verdict.Signature, key, broke string, because ...string,
) {
	v.Add(verdict.Violation{
		Signature: signature,
		NS:        a.NS,
		Key:       key,
		Broke:     broke,
		Because:   because,
	})
}

// checkTable: the chunks cover the key space without gap or overlap, with versions of their own.
func (a *Audit) checkTable(v *verdict.Verdict) {
	if flaw := model.Table(a.Table).Flaw(a.span); flaw != "" {
		a.add(v, tableBroken, "", flaw, "the chunks must cover all keys, each key once")
	}
	seen := map[[2]uint32]bool{}
	for _, c := range a.Table {
		version := [2]uint32{c.Major, c.Minor}
		if seen[version] {
			a.add(v, tableBroken, "", fmt.Sprintf("two chunks have version %d|%d",
				c.Major, c.Minor), "chunk versions must be unique")
		}
		seen[version] = true
	}
}

func (a *Audit) owner(key string) (string, bool) {
	for _, c := range a.Table {
		if c.Min <= key && key < c.Max {
			return c.Shard, true
		}
	}
	return "", false
}

func (a *Audit) checkMember(v *verdict.Verdict, m *Member) {
	if m.Unreachable {
		a.add(v, memberUnreachable, "", m.Node+" does not answer", "all faults had been repaired")
		return
	}
	for _, what := range m.Leftovers {
		a.add(v, leftoverFound, "", m.Node+" still has "+what,
			"no operation that needs it is running")
	}
	for _, what := range m.Sections {
		a.add(v, sectionHeld, "", m.Node+" still holds the critical section "+what,
			"no operation that needs it is running")
	}
	if m.Cursors > 0 {
		a.add(v, leftoverFound, "", fmt.Sprintf("%s still has %d open cursors", m.Node, m.Cursors),
			"every scan has ended")
	}
	a.checkMetadata(v, m)
	a.checkTasks(v, m)
	for _, d := range a.orphansOf(m) {
		a.add(v, orphanLeft, fmt.Sprint(d.Key), fmt.Sprintf("%s still has k=%d", m.Node, d.Key),
			fmt.Sprintf("the key is owned by %s", d.Owner), "no range deletion covers it")
	}
}

// checkTasks: a range deletion that is still on record counts the documents that it has left to
// delete (protocol 10.6).
func (a *Audit) checkTasks(v *verdict.Verdict, m *Member) {
	for _, k := range m.Tasks {
		left := int64(0)
		for _, d := range m.Documents {
			if k.Min <= d.Shard && d.Shard < k.Max {
				left++
			}
		}
		if left != k.Orphans {
			a.add(v, orphansMiscounted, "", fmt.Sprintf("task %s of %s counts %d orphans in %s",
				k.ID, m.Node, k.Orphans, a.span(k.Min, k.Max)),
				fmt.Sprintf("%s holds %d documents there", m.Node, left))
		}
	}
}

// checkMetadata: what a member believes is what the routing table says. Not knowing is no wrong
// belief.
func (a *Audit) checkMetadata(v *verdict.Verdict, m *Member) {
	if !m.Known || a.notTold(m) {
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
			a.add(v, metadataDiffers, "", fmt.Sprintf("%s has the collection with epoch %s",
				m.Node, m.Epoch), "the catalog has epoch "+c.Epoch)
			return
		}
	}
	if got, want := joined(m.Owned), joined(want); !slices.Equal(got, want) {
		v.Add(verdict.Violation{
			Signature: metadataDiffers, NS: a.NS, Ranges: differing(got, want),
			Broke:   fmt.Sprintf("%s believes that %s owns %s", m.Node, m.Shard, a.ranges(got)),
			Because: []string{"the catalog says " + a.ranges(want)},
		})
	} else if m.Major > major || m.Major < a.oldest(m, major) {
		// Commits behind its back may have taken all of it, and given it back: a member that asks
		// nobody, as nobody names a newer version, hears of neither.
		v.Add(verdict.Violation{
			Signature: metadataDiffers, NS: a.NS, Ranges: differing(got, nil),
			Broke: fmt.Sprintf("%s has major version %d of %s", m.Node, m.Major,
				m.Shard),
			Because: []string{fmt.Sprintf("the catalog has major version %d", major)},
		})
	}
}

// notTold: a secondary that knows that its shard does not own an unsharded collection hears of the
// opposite from the first request that is sent to it as the owner's; nobody else tells the members
// of a shard that has become the primary of a database (protocol 15).
func (a *Audit) notTold(m *Member) bool {
	return a.Unsharded && !m.Primary && len(m.Owned) == 0
}

// oldest is the lowest major version that a member may go by.
func (a *Audit) oldest(m *Member, newest uint32) uint32 {
	switch since, known := a.SameSince[m.Shard]; {
	case !known:
		return newest
	case m.Primary:
		return since.Primary
	default:
		return since.Secondaries
	}
}

// differing is what is in one of two lists of ranges only, cut at all their bounds.
func differing(one, other []Range) (all []verdict.KeyRange) {
	var bounds []string
	for _, r := range slices.Concat(one, other) {
		bounds = append(bounds, r.Min, r.Max)
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	for i := range len(bounds) - 1 {
		lo, hi := bounds[i], bounds[i+1]
		within := func(r Range) bool { return r.Min <= lo && hi <= r.Max }
		if slices.ContainsFunc(one, within) != slices.ContainsFunc(other, within) {
			all = append(all, verdict.KeyRange{Min: lo, Max: hi})
		}
	}
	return all
}

// joined are the ranges in order, with neighbours made one: how a range is cut into chunks is
// nobody's belief.
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

// checkReplicas: all members of a shard have applied the same and hold the same. They are asked one
// after the other: while something goes on, the later one may have applied more.
func (a *Audit) checkReplicas(v *verdict.Verdict) {
	first := map[string]*Member{}
	for i := range a.Members {
		m := &a.Members[i]
		switch other := first[m.Shard]; {
		case m.Unreachable:
		case other == nil:
			first[m.Shard] = m
		case a.Busy && other.Applied != m.Applied:
		case other.Applied != m.Applied || other.Checksum != m.Checksum:
			a.add(v, replicasDiffer, "",
				fmt.Sprintf("%s and %s hold different data", other.Node, m.Node),
				fmt.Sprintf("%s has applied %s, checksum %x",
					other.Node, other.Applied, other.Checksum),
				fmt.Sprintf("%s has applied %s, checksum %x", m.Node, m.Applied, m.Checksum))
		}
	}
}

// checkDocuments: the documents that shards own, together, are those that the last reads found.
func (a *Audit) checkDocuments(v *verdict.Verdict) {
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

func (a *Audit) compare(v *verdict.Verdict, op *histories.Op, d Document, found bool) {
	r, name := &op.Result, fmt.Sprint(op.Key)
	switch {
	case r.Found && !found:
		a.add(v, documentLost, name, "no shard that owns k="+name+" has it",
			fmt.Sprintf("operation %d had just read %s", op.ID, r.Value))
	case !r.Found && found:
		a.add(v, documentWrong, name, fmt.Sprintf("the owner of k=%s has %s", name, d.Value),
			fmt.Sprintf("operation %d had just found no document", op.ID))
	case found && (d.Value != r.Value || !slices.Equal(d.List, r.List)):
		a.add(v, documentWrong, name,
			fmt.Sprintf("the owner of k=%s has %s %v", name, d.Value, d.List),
			fmt.Sprintf("operation %d had just read %s %v", op.ID, r.Value, r.List))
	}
}

func (a *Audit) owned(v *verdict.Verdict) map[int64]Document {
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
				a.add(v, documentTwice, fmt.Sprint(d.Key),
					fmt.Sprintf("k=%d is stored twice by its owners", d.Key),
					"a key has one owner, which has one document of it")
			}
			owned[d.Key] = d
		}
	}
	return owned
}

func (a *Audit) lastReads() map[int64]*histories.Op {
	last := map[int64]*histories.Op{}
	for i := range a.Final {
		if op := &a.Final[i]; op.Kind == opkind.Read && op.Outcome == histories.OK {
			last[op.Key] = op
		}
	}
	return last
}

// checkFinal: every key was written and read in the last pass.
func (a *Audit) checkFinal(v *verdict.Verdict) {
	written, read := make([]bool, a.Keys), make([]bool, a.Keys)
	for i := range a.Final {
		op := &a.Final[i]
		if op.Outcome != histories.OK {
			a.add(v, keyUnusable, fmt.Sprint(op.Key),
				fmt.Sprintf("operation %d (%s k=%d) of the final pass failed: %s",
					op.ID, op.Kind, op.Key, op.Error),
				"the faults had healed and nothing was in progress")
		}
		if op.Key < 0 || op.Key >= int64(a.Keys) {
			continue
		}
		written[op.Key] = written[op.Key] || !op.Kind.Of().Reads()
		read[op.Key] = read[op.Key] || op.Kind == opkind.Read
	}
	for key := range a.Keys {
		if !written[key] || !read[key] {
			v.LeaveOpen("k=%d of %s: the final pass did not cover it", key, a.NS)
		}
	}
}

// span is a range of encoded keys for people.
func (a *Audit) span(lo, hi string) string {
	show := a.Show
	if show == nil {
		show = model.ShowKey
	}
	return "[" + show(lo) + ", " + show(hi) + ")"
}
