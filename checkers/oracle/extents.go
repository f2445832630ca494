package oracle

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// openExtents is a question how a collection lies on the shards.
type openExtents struct {
	ns        string
	step      uint64
	disturbed bool
}

// AsksExtents is called when an operator asks how a collection lies on the shards, and what it
// returns when there is an answer. It is judged only when nothing of the collection was written
// meanwhile, and before the first fault: a primary that has been deposed and does not know counts
// what it has.
func (o *Oracle) AsksExtents(ns string) (told func(answer, right string)) {
	x := &openExtents{ns: ns, step: o.step}
	o.extents = append(o.extents, x)
	return func(answer, right string) {
		o.extents = slices.DeleteFunc(o.extents,
			func(other *openExtents) bool { return other == x })
		if x.disturbed || o.faulty || answer == "" || right == "" || answer == right {
			return
		}
		o.report(toldRule, verdict.Violation{
			Signature: toldWrong, NS: ns,
			Broke: fmt.Sprintf("an operator who asked how %s lies on the shards was told %q", ns,
				answer),
			Because: []string{fmt.Sprintf("nothing of it was written meanwhile, and it is %q", right)},
		}, x.step)
	}
}

// followExtents takes notice of what makes an answer depend on when a shard was asked.
func (o *Oracle) followExtents(e *trace.Event) {
	o.faulty = o.faulty || e.Kind == trace.Fault
	for _, x := range o.extents {
		switch e.Kind {
		case trace.Applied:
			x.disturbed = x.disturbed || e.NS == x.ns
		case trace.CatalogWritten, trace.Elected:
			x.disturbed = true
		}
	}
}

// ExtentLine is a shard in the answer to how a collection lies on the shards.
func ExtentLine(shard string, chunks int, documents, bytes int64) string {
	return fmt.Sprintf("%s has %d chunks, %d documents and %d bytes", shard, chunks, documents,
		bytes)
}
