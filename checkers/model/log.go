// Package model rebuilds from events what is true in a cluster: who leads each replica set, what
// its leader has applied, how far a majority has it, and which shard owns which key according to
// the majority-committed routing table.
//
// Promise: what a deposed leader did alone never counts, and counts from the moment a later leader
// is elected with it in its log.
//
// Refusal: it judges nothing, and ignores events that it does not need.
package model

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
)

// Doc is a document as the model knows it: its shard key and the hash of its content; the zero Doc
// is none.
type Doc struct {
	Key  string
	Hash uint64
}

// documentChange is what one operation of a log entry did to a document, to the catalog or to the
// cluster.
type documentChange struct {
	term, index uint64
	ns, id      string
	after       Doc
	before      Doc
	catalog     *Write
	cluster     *trace.Event
	// written is set when a client wrote the document.
	written bool
}

func (c *documentChange) ofDocument() bool { return c.catalog == nil && c.cluster == nil }

// Set is a replica set.
type Set struct {
	Name string
	// Term and Leader are those of the newest election; Leader is empty before the first.
	Term   uint64
	Leader string
	// Majority is how far the set is known to be committed.
	Majority uint64

	docs map[string]map[string]Doc
	// chain holds the changes of the newest leader's log after Majority, in order; seen all others
	// that some leader made, by term, since a later leader may turn out to have them.
	chain []documentChange
	seen  map[uint64][]documentChange
	// lost is what clients had written and the newest leader does not have.
	lost []LostWrite
}

// LostWrite is what a client had made of a document before an election, and what the document is
// for the newest leader, whose log does not have that write.
type LostWrite struct {
	NS, ID       string
	Wrote, Found Doc
}

func newSet(name string) *Set {
	return &Set{Name: name, docs: map[string]map[string]Doc{}, seen: map[uint64][]documentChange{}}
}

// Leads says whether the event comes from the newest leader in its own term.
func (s *Set) Leads(e *trace.Event) bool { return e.Term == s.Term && e.Node == s.Leader }

// record keeps a change of any leader and, when it is the newest one's, applies it.
func (s *Set) record(c documentChange, current bool) {
	if c.index > s.Majority {
		s.seen[c.term] = append(s.seen[c.term], c)
	}
	if current {
		s.apply(c)
	}
}

func (s *Set) apply(c documentChange) {
	if c.ofDocument() {
		c.before = s.put(c.ns, c.id, c.after)
	}
	s.chain = append(s.chain, c)
}

func (s *Set) put(ns, id string, d Doc) (before Doc) {
	docs := s.docs[ns]
	if docs == nil {
		docs = map[string]Doc{}
		s.docs[ns] = docs
	}
	before = docs[id]
	if d.Hash == 0 {
		delete(docs, id)
	} else {
		docs[id] = d
	}
	return before
}

// elect makes a node the leader with the log that the event describes: what that log lacks is
// undone, and what it has of other leaders' changes is done.
func (s *Set) elect(e *trace.Event) {
	if e.Term <= s.Term && s.Leader != "" {
		return
	}
	s.Term, s.Leader = e.Term, e.Node
	keep, written := logOf(e, s.chain), s.written()
	for i := len(s.chain) - 1; i >= 0; i-- {
		if c := &s.chain[i]; c.ofDocument() {
			s.put(c.ns, c.id, c.before)
		}
	}
	s.chain = s.chain[:0]
	from := s.Majority
	for _, segment := range keep {
		for _, c := range s.seen[segment.term] {
			if c.index > from && c.index <= segment.last {
				s.apply(c)
			}
		}
		from = max(from, segment.last)
	}
	s.lost = s.lost[:0]
	for _, w := range written {
		if w.Found = s.Document(w.NS, w.ID); w.Found != w.Wrote {
			s.lost = append(s.lost, w)
		}
	}
}

// written are the documents that clients have written and no majority has.
func (s *Set) written() (all []LostWrite) {
	for _, c := range s.chain {
		if c.written && c.ofDocument() {
			all = append(all, LostWrite{NS: c.ns, ID: c.id, Wrote: s.Document(c.ns, c.id)})
		}
	}
	return all
}

// Lost lists the writes of clients that the newest election has undone; valid until the next.
func (s *Set) Lost() []LostWrite { return s.lost }

// termSegment is a stretch of a log: all its entries of one term, up to last.
type termSegment struct{ term, last uint64 }

// logOf reads "t1:i1,t2:i2": the last index of every term in the new leader's log. An event without
// it leaves only the index to go by, and the log of the leader before.
func logOf(e *trace.Event, chain []documentChange) (log []termSegment) {
	for _, part := range strings.Split(e.Log(), ",") {
		term, last, found := strings.Cut(part, ":")
		t, err1 := strconv.ParseUint(term, 10, 64)
		i, err2 := strconv.ParseUint(last, 10, 64)
		if found && err1 == nil && err2 == nil {
			log = append(log, termSegment{t, i})
		}
	}
	if log != nil {
		return log
	}
	for _, c := range chain {
		switch n := len(log); {
		case c.index > e.Index:
		case n > 0 && log[n-1].term == c.term:
			log[n-1].last = c.index
		default:
			log = append(log, termSegment{c.term, c.index})
		}
	}
	return log
}

// commit takes what a majority has out of the chain, and returns it.
func (s *Set) commit(index uint64) []documentChange {
	if index <= s.Majority {
		return nil
	}
	s.Majority = index
	n := 0
	for n < len(s.chain) && s.chain[n].index <= index {
		n++
	}
	done := s.chain[:n:n]
	s.chain = s.chain[n:]
	//shardproof:allow map each term by itself
	for term, changes := range s.seen {
		m := 0
		for m < len(changes) && changes[m].index <= index {
			m++
		}
		if s.seen[term] = changes[m:]; m == len(changes) && term < s.Term {
			delete(s.seen, term)
		}
	}
	return done
}

// Document is one document as the newest leader has applied it.
func (s *Set) Document(ns, id string) Doc { return s.docs[ns][id] }

// Entry is a place in the log of a replica set.
type Entry struct{ Term, Index uint64 }

// In reports whether the log of a leader that is elected has the entry, which no majority had.
func (at Entry) In(elected *trace.Event) bool {
	for _, segment := range logOf(elected, nil) {
		if segment.last >= at.Index {
			return segment.term == at.Term
		}
	}
	return false
}

// Unconfirmed is the entry by which a client made a document what it is now, if no majority has
// that yet and it is no statement of a session.
func (s *Set) Unconfirmed(ns, id string) (at Entry, is bool) {
	for i := len(s.chain) - 1; i >= 0; i-- {
		if c := &s.chain[i]; c.ofDocument() && c.ns == ns && c.id == id {
			at = Entry{c.term, c.index}
			return at, c.written && !s.hasStatement(at)
		}
	}
	return Entry{}, false
}

func (s *Set) hasStatement(at Entry) bool {
	return slices.ContainsFunc(s.chain, func(c documentChange) bool {
		return c.ns == statementsNS && at == Entry{c.term, c.index}
	})
}

// Documents are the documents of the namespace with a key in [lo, hi) that the newest leader has
// applied.
func (s *Set) Documents(ns, lo, hi string) map[string]Doc {
	return Within(s.docs[ns], lo, hi)
}

// Within are those of the documents with a key in [lo, hi).
func Within(docs map[string]Doc, lo, hi string) map[string]Doc {
	in := map[string]Doc{}
	//shardproof:allow map each document by itself
	for id, d := range docs {
		if lo <= d.Key && d.Key < hi {
			in[id] = d
		}
	}
	return in
}

// Durable is Documents as far as a majority has them.
func (s *Set) Durable(ns, lo, hi string) map[string]Doc {
	in := s.Documents(ns, lo, hi)
	for i := len(s.chain) - 1; i >= 0; i-- {
		c := &s.chain[i]
		if !c.ofDocument() || c.ns != ns {
			continue
		}
		if c.before.Hash != 0 && lo <= c.before.Key && c.before.Key < hi {
			in[c.id] = c.before
		} else {
			delete(in, c.id)
		}
	}
	return in
}
