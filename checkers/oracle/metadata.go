package oracle

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// catalogRule is metadata (protocol 2.1, 3.2).
var catalogRule = verdict.Checker{
	Name: "metadata",
	Promise: "The chunks of a collection partition its keys; every change gives the " +
		"chunks that it writes higher versions than any before; the newest entry of a chunk's " +
		"history names its owner; splits and merges move no data.",
	Signatures: verdict.Meanings{
		noPartition: "the chunks leave a gap or overlap",
		oldVersion:  "a change gives a chunk a version that is not higher than all before",
		noControl:   "a migration does not increase the donor's major version",
		wrongHistory: "the newest entry of a chunk's history is not its owner, or its times do " +
			"not decrease",
		wrongSplit: "a split or merge moved a key or skipped a version",
	},
}

var _ = declare(20, catalogRule, func(o *Oracle) hooks {
	return hooks{event: o.judgeCatalog}
})

// The signatures of catalog violations.
const (
	noPartition  verdict.Signature = "chunks-not-a-partition"
	oldVersion   verdict.Signature = "chunk-version-not-increased"
	noControl    verdict.Signature = "donor-version-not-increased"
	wrongHistory verdict.Signature = "chunk-history-inconsistent"
	wrongSplit   verdict.Signature = "split-not-equivalent"
)

func (o *Oracle) judgeCatalog(e *trace.Event) {
	if e.Kind != trace.CatalogWritten || !o.world.Set(e.Shard).Leads(e) {
		return
	}
	w := o.world.Written(e)
	if w.Drops() {
		return
	}
	if flaw := w.After.Flaw(o.span); flaw != "" {
		o.wrongWrite(w, noPartition, flaw, "the chunks must cover all keys, each key once")
	}
	o.judgeVersions(w)
	o.judgeMove(w)
	for i := range w.Chunks {
		o.judgeHistory(w, &w.Chunks[i])
	}
	o.judgeReshaping(w)
}

func (o *Oracle) wrongWrite(w *model.Write, signature verdict.Signature, flaw, because string) {
	o.report(catalogRule, verdict.Violation{
		Signature: signature,
		NS:        w.NS,
		Because:   []string{because},
		Broke: fmt.Sprintf("the config server wrote %q to the catalog of %s: %s",
			w.Why, w.NS, flaw),
	})
}

// judgeVersions: only a mark leaves a chunk its version, since nothing that routers know changes
// with it (protocol 3.2).
func (o *Oracle) judgeVersions(w *model.Write) {
	if w.Is(trace.Jumbo) && w.Changes() == 0 {
		return
	}
	major, minor := w.Before.Version()
	seen := map[[2]uint32]bool{}
	for _, c := range w.Chunks {
		version := [2]uint32{c.Major, c.Minor}
		switch newer := c.Major > major || c.Major == major && c.Minor > minor; {
		case seen[version]:
			o.wrongWrite(w, oldVersion, fmt.Sprintf("%s has version %d|%d", o.span(c.Min, c.Max),
				c.Major, c.Minor), "another chunk of the same change has the same version")
		case w.Before != nil && !newer:
			o.wrongWrite(w, oldVersion,
				fmt.Sprintf("%s has version %d|%d", o.span(c.Min, c.Max), c.Major, c.Minor),
				fmt.Sprintf("the collection already had version %d|%d", major, minor))
		}
		seen[version] = true
	}
}

// judgeMove: a chunk that moves gets a new major version, and a donor that keeps chunks gets it
// too, on one of them, so that routers which know neither are found stale on both shards.
func (o *Oracle) judgeMove(w *model.Write) {
	before, _ := w.Before.Version()
	for _, m := range w.Moved() {
		i := slices.IndexFunc(w.After, func(c trace.Chunk) bool {
			return c.Min <= m.Min && m.Max <= c.Max
		})
		if i >= 0 && w.After[i].Major <= before {
			o.wrongWrite(w, oldVersion, fmt.Sprintf("%s moves with version %d|%d",
				o.span(m.Min, m.Max), w.After[i].Major, w.After[i].Minor),
				fmt.Sprintf("a move must increase the major version, which was %d", before))
		}
		kept := model.Table(w.After.Owned(m.From))
		if major, _ := kept.Version(); len(kept) > 0 && major <= before {
			o.wrongWrite(w, noControl, fmt.Sprintf("%s gives away %s and stays at major version %d",
				m.From, o.span(m.Min, m.Max), major),
				"it keeps chunks, of which one must get the new major version")
		}
	}
}

// judgeReshaping: a split or a merge leaves every key where it is, and its versions follow the
// collection's closely: the first chunk has the next minor or, as some versions of MongoDB do it,
// the next major version (protocol 3.2), and of a split each next one the next minor.
func (o *Oracle) judgeReshaping(w *model.Write) {
	if !w.Is(trace.Split) && !merges(w) || len(w.Before) == 0 {
		return
	}
	for _, m := range w.Moved() {
		o.wrongWrite(w, wrongSplit, fmt.Sprintf("%s goes from %s to %s",
			o.span(m.Min, m.Max), m.From, m.To), "a split or merge moves no data")
	}
	major, minor := w.Before.Version()
	minor++
	if w.Chunks[0].Major > major {
		major, minor = major+1, 0
	}
	for i, c := range w.Chunks {
		if c.Major != major || c.Minor != minor+uint32(i) {
			o.wrongWrite(w, wrongSplit,
				fmt.Sprintf("%s has version %d|%d", o.span(c.Min, c.Max), c.Major, c.Minor),
				fmt.Sprintf("version %d|%d was the next one", major, minor+uint32(i)))
		}
		o.judgeInheritance(w, &w.Chunks[i])
	}
}

// judgeInheritance: the pieces of a split keep the history of the whole.
func (o *Oracle) judgeInheritance(w *model.Write, c *trace.Chunk) {
	for _, old := range w.Before {
		if w.Is(trace.Split) && old.Min <= c.Min && c.Max <= old.Max &&
			!slices.Equal(old.History, c.History) {
			o.wrongWrite(w, wrongSplit,
				fmt.Sprintf("%s has a different history than the chunk it was split from",
					o.span(c.Min, c.Max)), "both have been on the shard equally long")
		}
	}
}

func (o *Oracle) judgeHistory(w *model.Write, c *trace.Chunk) {
	for i, p := range c.History {
		switch {
		case i == 0 && p.Shard != c.Shard:
			o.wrongWrite(w, wrongHistory, fmt.Sprintf("the newest entry in the history of %s is %s",
				o.span(c.Min, c.Max), p.Shard), "the chunk is on "+c.Shard)
		case i > 0 && p.ValidAfter >= c.History[i-1].ValidAfter:
			o.wrongWrite(w, wrongHistory,
				fmt.Sprintf(
					"in the history of %s, time %d is followed by the earlier entry with time %d",
					o.span(c.Min, c.Max), c.History[i-1].ValidAfter, p.ValidAfter,
				),
				"times must strictly decrease from the newest entry on")
		}
	}
}

// reshapes are the changes that may give a shard a new major version although it keeps what it has,
// since they number chunks above the whole collection's version (protocol 3.2); no shard is told.
var reshapes = []trace.CatalogChange{
	trace.Split, trace.Merge, trace.AutoMerge, trace.JumboCleared,
}

// permissions are changes of that kind of which the shards' primaries are told, and only they.
var permissions = []trace.CatalogChange{trace.ForbidsMigrations, trace.AllowsMigrations}

// followReshape follows from which major version on each shard has had the same ranges.
func (o *Oracle) followReshape(w *model.Write) {
	before := o.same[w.NS]
	o.same[w.NS] = map[string]model.Same{}
	reshaped := slices.ContainsFunc(reshapes, w.Is)
	permitted := slices.ContainsFunc(permissions, w.Is)
	for _, c := range w.After {
		major := majorOf(w.After, c.Shard)
		same := model.Same{Primary: major, Secondaries: major}
		if old, known := before[c.Shard]; known {
			kept := reshaped || major == majorOf(w.Before, c.Shard)
			if kept {
				same.Primary = old.Primary
			}
			if kept || permitted {
				same.Secondaries = old.Secondaries
			}
		}
		o.same[w.NS][c.Shard] = same
	}
}

func majorOf(t model.Table, shard string) (major uint32) {
	for _, c := range t {
		if c.Shard == shard {
			major = max(major, c.Major)
		}
	}
	return major
}

// SameSince are the major versions, by shard, from which on it has had the same ranges.
func (o *Oracle) SameSince(ns string) map[string]model.Same { return o.same[ns] }
