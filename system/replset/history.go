package replset

import (
	"sort"
	"strconv"

	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/oplog"
)

// logEntry is an entry with the term of the leader who appended it.
type logEntry struct {
	term  uint64
	entry *oplog.Entry
}

// logHistory is the decoded log after base, and of everything before it the timestamp reached and
// the extents of the terms.
//
// Invariant: kept[i] has index base.Index+1+i; terms increases in both fields and ends with last().
type logHistory struct {
	base   oplog.Time
	baseTS hlc.Timestamp
	kept   []logEntry
	// terms holds the last place of every term that ever appended to this log.
	terms []oplog.Time
}

func (h *logHistory) last() oplog.Time {
	if n := len(h.kept); n > 0 {
		return oplog.Time{Term: h.kept[n-1].term, Index: h.base.Index + uint64(n)}
	}
	return h.base
}

func (h *logHistory) at(index uint64) (logEntry, bool) {
	i := index - h.base.Index - 1
	if index <= h.base.Index || i >= uint64(len(h.kept)) {
		return logEntry{}, false
	}
	return h.kept[i], true
}

// termOf is the term of the entry at an index, also of one that the log has forgotten; 0 when there
// is none.
func (h *logHistory) termOf(index uint64) uint64 {
	i := sort.Search(len(h.terms), func(i int) bool { return h.terms[i].Index >= index })
	if i == len(h.terms) {
		return 0
	}
	return h.terms[i].Term
}

// place returns the place of an index from base to last.
func (h *logHistory) place(index uint64) oplog.Time {
	if l, ok := h.at(index); ok {
		return oplog.Time{Term: l.term, Index: index}
	}
	return h.base
}

// stamp is the timestamp of the newest entry up to index that has one.
func (h *logHistory) stamp(index uint64) hlc.Timestamp {
	for ; index > h.base.Index; index-- {
		if l, ok := h.at(index); ok && l.entry.TS != 0 {
			return l.entry.TS
		}
	}
	return h.baseTS
}

// upTo is the last index whose entry, and with it every earlier one, is not newer than ts; false
// when even base is newer. Timestamps grow with the index, but for entries that have none.
func (h *logHistory) upTo(ts hlc.Timestamp) (uint64, bool) {
	newer := sort.Search(len(h.kept), func(i int) bool {
		return h.stamp(h.base.Index+uint64(i)+1) > ts
	})
	return h.base.Index + uint64(newer), h.baseTS <= ts
}

// after is an index from which on, and not before, entries have timestamps after ts. It is false
// when entries that do may have been forgotten.
func (h *logHistory) after(ts hlc.Timestamp) (index uint64, complete bool) {
	n := sort.Search(len(h.kept), func(i int) bool {
		return h.stamp(h.base.Index+1+uint64(i)) > ts
	})
	return h.base.Index + 1 + uint64(n), ts >= h.baseTS
}

func (h *logHistory) append(l logEntry) {
	h.kept = append(h.kept, l)
	at := h.last()
	if n := len(h.terms); n > 0 && h.terms[n-1].Term == at.Term {
		h.terms[n-1] = at
		return
	}
	h.terms = append(h.terms, at)
}

func (h *logHistory) truncate(to uint64) {
	h.kept = h.kept[:to-h.base.Index]
	h.terms = truncateTerms(h.terms, to)
}

// compact forgets the entries up to index.
func (h *logHistory) compact(index uint64) {
	if index <= h.base.Index {
		return
	}
	ts, n := h.stamp(index), index-h.base.Index
	h.base = h.place(index)
	h.baseTS = ts
	h.kept = append([]logEntry(nil), h.kept[n:]...)
}

// truncateTerms cuts a list of terms' last places down to a log that ends with index.
func truncateTerms(terms []oplog.Time, index uint64) []oplog.Time {
	n := sort.Search(len(terms), func(i int) bool { return terms[i].Index >= index })
	if n == len(terms) || index == 0 {
		return append([]oplog.Time(nil), terms[:n]...)
	}
	cut := append([]oplog.Time(nil), terms[:n+1]...)
	cut[n].Index = index
	return cut
}

// describeTerms prints the last place of every term as "term:index,term:index".
func describeTerms(terms []oplog.Time) string {
	var b []byte
	for i, at := range terms {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, at.Term, 10)
		b = append(b, ':')
		b = strconv.AppendUint(b, at.Index, 10)
	}
	return string(b)
}
