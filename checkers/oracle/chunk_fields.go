package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// fieldsRule is chunk-fields (protocol 2.1, 3.2, 3.3, 13.4, 13.5): what metadata judges of a table
// as a whole, this judges of every field that is written.
var fieldsRule = verdict.Checker{
	Name: "chunk-fields",
	Promise: "A change of the catalog writes the chunks that it concerns and no others, and " +
		"each of their fields follows from the change: bounds, owner, version, history, date, " +
		"jumbo flag and epoch.",
	Signatures: verdict.Meanings{
		wrongBounds: "a change wrote other chunks than those it concerns",
		wrongStep:   "a chunk has a higher version than follows from the change",
		notKept:     "a chunk lost history, or got another one, although it stays where it is",
		wrongDate:   "the date since which a shard has a chunk is not that of the newest placement",
		wrongFlag:   "a jumbo flag was kept or lost",
		wrongEpoch:  "chunks have another epoch than their collection",
		wrongMerge:  "a merge joined what it must not join",
	},
}

var _ = declare(25, fieldsRule, func(o *Oracle) hooks {
	f := &fields{Oracle: o, gone: map[string]lastLife{}}
	return hooks{event: f.judge}
})

// The signatures of fields that do not follow.
const (
	wrongBounds verdict.Signature = "chunk-bounds-unexpected"
	wrongStep   verdict.Signature = "chunk-version-unexpected"
	notKept     verdict.Signature = "chunk-history-not-kept"
	wrongDate   verdict.Signature = "chunk-date-wrong"
	wrongFlag   verdict.Signature = "jumbo-flag-wrong"
	wrongEpoch  verdict.Signature = "chunk-epoch-wrong"
	wrongMerge  verdict.Signature = "merged-unmergeable-chunks"
)

// fields is the memory of fieldsRule: collections that were dropped, as a rename writes the drop
// first, and the states of the cluster, the oldest first.
type fields struct {
	*Oracle
	gone     map[string]lastLife
	clusters []clusterSince
	elected  uint64 // the step of the last event if the config server elected a leader, or 0
}

// lastLife is a table as it was when its collection was dropped, at which step and when.
type lastLife struct {
	table model.Table
	step  uint64
	at    int64
}

// judge looks at collections; a database has no chunks of its own.
func (f *fields) judge(e *trace.Event) {
	if f.elected != 0 { // what the new leader has may be an older state
		f.clusters, f.elected = []clusterSince{{f.elected, f.world.LatestCluster()}}, 0
	}
	if e.Kind == trace.Elected && e.Shard == model.Config {
		f.elected = e.Step
	}
	if e.Kind == trace.ClusterChanged && f.world.Set(e.Shard).Leads(e) {
		f.clusters = append(f.clusters, clusterSince{e.Step, f.world.LatestCluster().With(e)})
	}
	if e.Kind != trace.CatalogWritten || !strings.Contains(e.NS, ".") ||
		!f.world.Set(e.Shard).Leads(e) {
		return
	}
	w := f.world.Written(e)
	if w.Drops() {
		f.gone[w.NS] = lastLife{w.Before, e.Step, e.At}
		return
	}
	for i := range w.Chunks {
		f.judgeDate(w, &w.Chunks[i])
	}
	switch former := e.FormerName(); {
	case former != "":
		f.judgeRenamed(w, f.gone[former].table, e.ClusterTime())
	case len(w.Before) == 0:
		f.judgeFounded(w)
	case w.Migration() != "":
		f.judgeMoved(w)
	case w.Is(trace.Split):
		f.judgeSplit(w)
	case merges(w):
		f.judgeMerged(w, e.ClusterTime())
	default:
		f.judgeRaised(w)
	}
	f.judgeEpoch(w)
}

// merges says whether a write joins chunks, asked for or not.
func merges(w *model.Write) bool { return w.Is(trace.Merge) || w.Is(trace.AutoMerge) }

func (f *fields) wrong(w *model.Write, s verdict.Signature, flaw, because string) {
	f.report(fieldsRule, verdict.Violation{
		Signature: s,
		NS:        w.NS,
		Because:   []string{because},
		Broke: fmt.Sprintf("the config server wrote %q to the catalog of %s: %s",
			w.Why, w.NS, flaw),
	})
}

func (f *fields) name(c *trace.Chunk) string { return "the chunk " + f.span(c.Min, c.Max) }

func (f *fields) judgeDate(w *model.Write, c *trace.Chunk) {
	if len(c.History) == 0 {
		f.wrong(w, notKept, f.name(c)+" has no history", "every chunk has been placed once")
	} else if c.Since != c.History[0].ValidAfter {
		f.wrong(w, wrongDate, fmt.Sprintf("%s is on its shard since time %d", f.name(c), c.Since),
			fmt.Sprintf("its newest placement is of time %d", c.History[0].ValidAfter))
	}
}

// judgeEpoch: all chunks are of one incarnation, which a drop or a rename ends.
func (f *fields) judgeEpoch(w *model.Write) {
	for i := range w.After {
		if c := &w.After[i]; c.Epoch != w.After[0].Epoch {
			f.wrong(w, wrongEpoch, fmt.Sprintf("%s has epoch %s", f.name(c), c.Epoch),
				"another chunk of the collection has epoch "+w.After[0].Epoch)
			return
		}
	}
}

// judgeFounded: the first chunks are numbered from 1|0 on in the order of their keys, and have been
// where they are since one time.
func (f *fields) judgeFounded(w *model.Write) {
	f.judgeLayout(w)
	for i := range w.Chunks {
		c := &w.Chunks[i]
		f.judgeVersion(w, c, 1, uint32(i))
		f.judgeFlag(w, c, false)
		if len(c.History) != 1 || c.Since != w.Chunks[0].Since {
			f.wrong(w, notKept, f.name(c)+" has the history of another collection",
				"the collection has just been made")
		}
	}
}

// judgeRenamed: owners, versions and flags stay; times before the new name are nobody's. The time
// of the write is 0 if it is not known.
func (f *fields) judgeRenamed(w *model.Write, before model.Table, now uint64) {
	if len(before) == 0 {
		return
	}
	if len(w.Chunks) != len(before) {
		f.wrong(w, wrongBounds, fmt.Sprintf("%d chunks were written", len(w.Chunks)),
			fmt.Sprintf("the collection had %d", len(before)))
		return
	}
	for i := range w.Chunks {
		c, old := &w.Chunks[i], &before[i]
		if c.Min != old.Min || c.Max != old.Max || c.Shard != old.Shard {
			f.wrong(w, wrongBounds, fmt.Sprintf("%s is on %s", f.name(c), c.Shard),
				fmt.Sprintf("it was %s on %s", f.name(old), old.Shard))
		}
		f.judgeVersion(w, c, old.Major, old.Minor)
		f.judgeFlag(w, c, old.Jumbo)
		if len(c.History) != 1 || c.Epoch == old.Epoch && c.Epoch != "" {
			f.wrong(w, notKept, f.name(c)+" has the history or the epoch of the former name",
				"a renamed collection is another incarnation, which begins then")
		}
		if now != 0 && c.Since <= old.Since {
			f.wrong(w, wrongDate,
				fmt.Sprintf("%s is on its shard since time %d", f.name(c), c.Since),
				fmt.Sprintf("it was there since %d under the former name, and begins again",
					old.Since))
		}
	}
}

// judgeMoved: the range gets the next major version, what is left of its chunk and the control
// chunk follow with minor ones. What moves leaves its flag behind.
func (f *fields) judgeMoved(w *model.Write) {
	moved := &w.Chunks[0]
	whole := chunkAt(w.Before, moved)
	m := f.moves[w.Migration()]
	switch {
	case whole == nil || whole.Shard == moved.Shard:
		f.wrong(w, wrongBounds, f.name(moved)+" is written first",
			"it is not in one chunk of another shard")
		return
	case m != nil && m.max != "" &&
		(m.min != moved.Min || m.max != moved.Max || m.to != moved.Shard):
		f.wrong(w, wrongBounds, fmt.Sprintf("%s goes to %s", f.name(moved), moved.Shard),
			fmt.Sprintf("the migration is of %s to %s", f.span(m.min, m.max), m.to))
	}
	major, _ := w.Before.Version()
	others := 0
	for i := range w.Chunks {
		c := &w.Chunks[i]
		f.judgeVersion(w, c, major+1, uint32(i))
		old := chunkAt(w.Before, c)
		if i == 0 {
			f.judgeFlag(w, c, false)
			continue
		}
		same := old != nil && c.Min == old.Min && c.Max == old.Max
		part := old == whole && (c.Min == whole.Min && c.Max == moved.Min ||
			c.Min == moved.Max && c.Max == whole.Max)
		if same {
			others++
		}
		if old == nil || old.Shard != whole.Shard || c.Shard != whole.Shard || !same && !part ||
			others > 1 {
			f.wrong(w, wrongBounds, fmt.Sprintf("%s on %s is written", f.name(c), c.Shard),
				"it is neither left of the chunk that moves nor the one control chunk of the donor")
			continue
		}
		f.judgeFlag(w, c, same && old.Jumbo)
		f.judgeKept(w, c, old)
	}
	f.judgeProlonged(w, moved, whole)
}

// kept is for how many milliseconds placements are remembered at least (protocol 3.3): 10 s in
// every version of the protocol, unless the oracle is told otherwise.
func (f *fields) kept() uint64 {
	if f.limits == nil || f.limits().History == 0 {
		return 10_000
	}
	return uint64(f.limits().History.Milliseconds())
}

// judgeProlonged: the new placement is followed by those before, of which only the oldest may be
// forgotten, and only those that ended long ago, or in 4.2 began long ago (protocol 3.3).
func (f *fields) judgeProlonged(w *model.Write, c, old *trace.Chunk) {
	if len(c.History) == 0 {
		return
	}
	before := c.History[1:]
	if len(before) > len(old.History) || !slices.Equal(before, old.History[:len(before)]) {
		f.wrong(w, notKept, f.name(c)+" has placements in its history that it did not have",
			fmt.Sprintf("it had %d before, and those follow the new one", len(old.History)))
		return
	}
	if len(before) == len(old.History) {
		return
	}
	lost, now := old.History[len(before)], c.History[0].ValidAfter
	if len(before) == 0 && !f.older() || millis(lost.ValidAfter)+f.kept() > millis(now) {
		f.wrong(w, notKept, fmt.Sprintf("%s forgets that it was on %s from time %d on",
			f.name(c), lost.Shard, lost.ValidAfter),
			fmt.Sprintf("it moves at time %d, and snapshots may still ask", now))
	}
}

// millis is the wall clock of a cluster time.
func millis(t uint64) uint64 { return t >> 20 }

// judgeSplit: the pieces are exactly one chunk. Their versions and history metadata judges.
func (f *fields) judgeSplit(w *model.Write) {
	first, last := &w.Chunks[0], &w.Chunks[len(w.Chunks)-1]
	whole := chunkAt(w.Before, first)
	if whole == nil || len(w.Chunks) < 2 || first.Min != whole.Min || last.Max != whole.Max {
		f.wrong(w, wrongBounds, fmt.Sprintf("%d pieces begin with %s", len(w.Chunks),
			f.span(first.Min, first.Max)), "they are not exactly one chunk")
		return
	}
	for i := range w.Chunks {
		f.judgeFlag(w, &w.Chunks[i], false)
	}
}

// judgeMerged: several chunks of one shard become one, which is there since its latest part came.
// What nobody asked for leaves jumbo chunks alone, the bounds of zones, and what snapshots may
// still ask for at the time of the write, 0 if that is not known.
func (f *fields) judgeMerged(w *model.Write, now uint64) {
	for i := range w.Chunks {
		c := &w.Chunks[i]
		var since uint64
		parts, aligned := 0, true
		for _, old := range w.Before {
			if old.Max <= c.Min || c.Max <= old.Min {
				continue
			}
			parts++
			aligned = aligned && c.Min <= old.Min && old.Max <= c.Max && old.Shard == c.Shard
			since = max(since, old.Since)
			if old.Jumbo && w.Is(trace.AutoMerge) {
				f.wrong(w, wrongMerge, f.name(c)+" was joined without being asked for",
					f.name(&old)+" is jumbo")
			}
		}
		if !aligned || parts < 2 {
			f.wrong(w, wrongMerge, f.name(c)+" is written",
				"it does not consist of several whole chunks of its shard")
		}
		if c.Since != since || len(c.History) != 1 {
			f.wrong(w, wrongDate,
				fmt.Sprintf("%s is on its shard since time %d", f.name(c), c.Since),
				fmt.Sprintf("the latest of its parts came at time %d", since))
		}
		if w.Is(trace.AutoMerge) && now != 0 && millis(since)+f.kept() > millis(now) {
			f.wrong(w, wrongMerge, f.name(c)+" was joined without being asked for",
				fmt.Sprintf("a part of it came at time %d, and at time %d snapshots may still ask",
					since, now))
		}
		z := f.world.LatestCluster()
		if z != nil && w.Is(trace.AutoMerge) && z.Crosses(w.NS, c.Min, c.Max) {
			f.wrong(w, wrongMerge, f.name(c)+" was joined without being asked for",
				"it crosses the boundary of a zone")
		}
		f.judgeFlag(w, c, false)
	}
}

// judgeRaised is about every other change: one chunk stays what it is and gets the next major
// version, so that everybody notices, or the jumbo flag, for which nobody has to.
func (f *fields) judgeRaised(w *model.Write) {
	c := &w.Chunks[0]
	old := chunkAt(w.Before, c)
	if len(w.Chunks) > 1 || old == nil || c.Min != old.Min || c.Max != old.Max ||
		c.Shard != old.Shard {
		f.wrong(w, wrongBounds, fmt.Sprintf("%d chunks are written, the first of them %s on %s",
			len(w.Chunks), f.span(c.Min, c.Max), c.Shard),
			"such a change is about one chunk, which stays where it is")
		return
	}
	f.judgeKept(w, c, old)
	if w.Is(trace.Jumbo) {
		f.judgeVersion(w, c, old.Major, old.Minor)
		f.judgeFlag(w, c, true)
		return
	}
	major, _ := w.Before.Version()
	f.judgeVersion(w, c, major+1, 0)
	f.judgeFlag(w, c, old.Jumbo && w.Why != clearsFlag)
}

// clearsFlag is the reason of a change that takes the jumbo flag off a chunk.
const clearsFlag = "clearJumboFlag"

func (f *fields) judgeKept(w *model.Write, c, old *trace.Chunk) {
	if !slices.Equal(c.History, old.History) {
		f.wrong(w, notKept, f.name(c)+" has another history than before",
			"it stays on "+old.Shard)
	}
}

func (f *fields) judgeVersion(w *model.Write, c *trace.Chunk, major, minor uint32) {
	if c.Major != major || c.Minor != minor {
		f.wrong(w, wrongStep, fmt.Sprintf("%s has version %d|%d", f.name(c), c.Major, c.Minor),
			fmt.Sprintf("version %d|%d follows from the change", major, minor))
	}
}

func (f *fields) judgeFlag(w *model.Write, c *trace.Chunk, jumbo bool) {
	if c.Jumbo != jumbo {
		f.wrong(w, wrongFlag, fmt.Sprintf("%s is jumbo: %v", f.name(c), c.Jumbo),
			fmt.Sprintf("after the change it should be: %v", jumbo))
	}
}

// chunkAt is the chunk of the table that has all of another, nil for none.
func chunkAt(t model.Table, c *trace.Chunk) *trace.Chunk {
	i := slices.IndexFunc(t, func(old trace.Chunk) bool {
		return old.Min <= c.Min && c.Max <= old.Max
	})
	if i < 0 {
		return nil
	}
	return &t[i]
}
