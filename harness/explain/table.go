package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// row is a chunk of a routing table, and the position of the event that wrote it last.
type row struct {
	trace.Chunk
	at int
}

// tableBefore is the routing table of a collection as it was before an event.
func (s *slice) tableBefore(i int, ns string) (table []row) {
	for at := range s.events[:i] {
		e := &s.events[at]
		if e.Kind != trace.CatalogWritten || e.NS != ns {
			continue
		}
		if e.Change() == trace.Dropped {
			table = nil
		}
		for _, c := range e.Chunks {
			table = slices.DeleteFunc(table,
				func(r row) bool { return r.Min < c.Max && c.Min < r.Max })
			table = append(table, row{c, at})
		}
	}
	return table
}

// rowsTold is how many changes of the rows before a write of the catalog are told.
const rowsTold = 3

// rowsBefore follows a contradiction in the catalog itself: the writes that made the rows which
// this one changes.
func (s *slice) rowsBefore(i int, of *trace.Event) {
	if len(s.docs) > 0 {
		return
	}
	s.versionTaken(i, of)
	told := 0
	for _, r := range s.tableBefore(i, of.NS) {
		if told < rowsTold && s.chosen[r.at] < Close && slices.ContainsFunc(of.Chunks, r.overlaps) {
			s.choose(r.at, Close)
			told++
		}
	}
}

// versionTaken follows a version that a chunk should not have got: the write that gave it before.
func (s *slice) versionTaken(i int, of *trace.Event) {
	s.chooseLast(i, Close, func(e *trace.Event) bool {
		return e.Kind == trace.CatalogWritten && e.NS == of.NS &&
			slices.ContainsFunc(e.Chunks, func(c trace.Chunk) bool {
				return namesIt(s.about.Text, fmt.Sprintf("already had version %d|%d", c.Major, c.Minor))
			})
	})
}

func (r row) overlaps(c trace.Chunk) bool { return r.Min < c.Max && c.Min < r.Max }

// rewritten tells a write of the catalog that contradicts something with what its rows were
// before.
func (s *slice) rewritten(i int) string {
	e := &s.events[i]
	before := s.tableBefore(i, e.NS)
	if isDatabase(e.NS) && len(before) > 0 {
		return fmt.Sprintf("%s (before: %s)", Sentence(e), before[0].Shard)
	}
	var texts []string
	for _, c := range e.Chunks {
		texts = append(texts, chunkText([]trace.Chunk{c})+s.replaced(before, &c))
	}
	if len(texts) == 0 {
		return Sentence(e)
	}
	return "config writes " + e.Why() + ": " + strings.Join(texts, "; ") + s.handedOver(e)
}

// replaced tells what was in place of a chunk: the one chunk that it was, with its differences, or
// all those that are joined in it.
func (s *slice) replaced(before []row, c *trace.Chunk) string {
	var were []trace.Chunk
	for _, r := range before {
		if r.overlaps(*c) {
			were = append(were, r.Chunk)
		}
	}
	switch len(were) {
	case 0:
		return ""
	case 1:
		return " (" + strings.Join(s.differences(&were[0], c), ", ") + ")"
	}
	slices.SortFunc(were, func(a, b trace.Chunk) int { return cmp.Compare(a.Min, b.Min) })
	return " (was " + chunkText(were[:min(len(were), joinedTold)]) +
		andMore(len(were)-joinedTold) + ")"
}

// joinedTold is how many chunks are told that are joined.
const joinedTold = 6

// differences are what a chunk was before, in the fields that the contradiction is about.
func (s *slice) differences(was, is *trace.Chunk) []string {
	texts := []string{"was"}
	if was.Min != is.Min || was.Max != is.Max {
		texts[0] += fmt.Sprintf(" part of [%s, %s)", key.Key(was.Min), key.Key(was.Max))
	}
	texts[0] += fmt.Sprintf(" on %s %d|%d", was.Shard, was.Major, was.Minor)
	if strings.Contains(s.about.Text, "histor") {
		texts = append(texts, fieldText("history", placementsText(was), placementsText(is)))
	}
	if was.Since != is.Since {
		texts = append(texts, "date changed")
	} else if was.Shard != is.Shard {
		texts = append(texts, "date kept")
	}
	if was.Jumbo || is.Jumbo {
		texts = append(texts, fieldText("jumbo", fmt.Sprint(was.Jumbo), fmt.Sprint(is.Jumbo)))
	}
	if was.Epoch != is.Epoch {
		texts = append(texts, fieldText("epoch", was.Epoch, is.Epoch))
	}
	return texts
}

func fieldText(name, was, is string) string {
	if was == is {
		return name + " still " + is
	}
	return name + " " + was + " → " + is
}

// placementsText are the shards of a chunk's history, newest first.
func placementsText(c *trace.Chunk) string {
	var names []string
	for _, p := range c.History {
		names = append(names, p.Shard)
	}
	return "[" + strings.Join(names, ", ") + "]"
}
