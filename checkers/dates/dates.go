// Package dates judges the times from which placements count. A read at a time in the past is sent
// to the shard that had the range at that time, and must find all that was written there by then.
//
// Promise: a placement that is dated before a client's write under the previous placement is found
// as soon as the catalog has the placement, whether or not anybody reads at a time between the two.
//
// Refusal: of a migration, the only writes that count are those of the term in which its donor
// blocked writes. What a later primary, which does not know of the migration, lets in is for others
// to judge. What a primary writes after the election of its successor does not count.
package dates

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

// rule is dates (protocol 2.1, 13.6).
var rule = verdict.Checker{
	Name: "dates",
	Promise: "A placement is not dated before any client's write under the previous placement: of " +
		"a range that moves, it counts from when its donor blocked writes; of a collection that is " +
		"sharded or renamed, from when all shards blocked its names.",
	Signatures: verdict.Meanings{
		dated: "a placement counts from a time before a write under the previous one: a read at a " +
			"time between them misses the write",
	},
}

const dated verdict.Signature = "placed-before-a-write"

// Catalog is the only checker of this package.
func Catalog() []verdict.Checker { return []verdict.Checker{rule} }

// Log is the log of a node.
type Log interface {
	// Term is the term in which the node leads its set, 0 when it does not.
	Term() uint64
	// At is the cluster time of an entry; false when the log has no such entry of that term.
	At(term, index uint64) (time uint64, known bool)
}

// write is a client's write of a document by a node that led its set.
type write struct {
	ns, key, shard    string
	term, index, step uint64
}

// donor is the node that blocked writes for a migration, in a term, and the shard that receives.
type donor struct {
	node, to string
	term     uint64
}

// incarnation is a collection under one of its epochs.
type incarnation struct{ ns, epoch string }

// most is how many of a node's newest writes are kept at least; once there are twice as many, the
// older half is dropped. What is judged is younger than the newest placement.
const most = 256

// Judge follows what clients write and the catalog. Make it with New.
type Judge struct {
	log     func(node string) Log
	written map[string][]write
	nodes   []string
	donors  map[string]donor
	// terms are the newest in which sets have elected a primary: what earlier ones write, which do
	// not know that they are deposed, will be rolled back.
	terms map[string]uint64
	// epochs are all under which collections were ever written to the catalog: one that is not the
	// newest comes back when the write of a later one is rolled back.
	epochs  map[incarnation]bool
	verdict verdict.Verdict
}

// New returns a Judge that looks at the logs of nodes; log may return nil for a node that is down.
func New(log func(node string) Log) *Judge {
	return &Judge{
		log: log, written: map[string][]write{}, donors: map[string]donor{},
		terms:  map[string]uint64{},
		epochs: map[incarnation]bool{}, verdict: rule.Begin(),
	}
}

// Verdict is the conclusion so far.
func (j *Judge) Verdict() verdict.Verdict { return j.verdict }

// Observe takes the next event.
func (j *Judge) Observe(e *trace.Event) {
	switch e.Kind {
	case trace.Elected:
		j.terms[e.Shard] = max(j.terms[e.Shard], e.Term)
	case trace.Applied:
		if e.Actor == trace.User && e.Key != "" && j.leads(e.Node, e.Term) {
			j.note(e)
		}
	case trace.DonorAdvanced:
		if e.DonorState() == trace.DonorCriticalSection {
			if log := j.log(e.Node); log != nil {
				j.donors[e.Migration()] = donor{e.Node, e.Peer, log.Term()}
			}
		}
	case trace.MigrationEnded: // a commit that comes later rests on nothing that its donor has done
		delete(j.donors, e.Migration())
	case trace.CatalogWritten:
		if len(e.Chunks) > 0 {
			j.follow(e)
		}
	}
}

// follow judges what the newest primary of the config server writes. What others apply counts as
// known, too.
func (j *Judge) follow(e *trace.Event) {
	of := incarnation{e.NS, e.Chunks[0].Epoch}
	began := !j.epochs[of]
	if j.epochs[of] = true; j.leads(e.Node, e.Term) && e.Term >= j.terms[e.Shard] {
		j.judge(e, began)
	}
}

func (j *Judge) leads(node string, term uint64) bool {
	log := j.log(node)
	return log != nil && log.Term() == term && term != 0
}

func (j *Judge) note(e *trace.Event) {
	all, known := j.written[e.Node]
	if !known {
		j.nodes = append(j.nodes, e.Node)
		slices.Sort(j.nodes)
	}
	if len(all) >= 2*most {
		all = all[:copy(all, all[most:])]
	}
	j.written[e.Node] = append(all, write{e.NS, e.Key, e.Shard, e.Term, e.Index, e.Step})
}

// judge judges what the catalog newly places: a range that was moved, or a collection that has
// begun, or has got another name.
func (j *Judge) judge(e *trace.Event, began bool) {
	for i := range e.Chunks {
		if began {
			j.judgeBegun(e, &e.Chunks[i])
		} else if d, moves := j.donors[e.Migration()]; moves && d.to == e.Chunks[i].Shard {
			j.judgeMoved(e, &e.Chunks[i], d)
		}
	}
}

// judgeMoved looks at the donor, unless it has been deposed.
func (j *Judge) judgeMoved(e *trace.Event, c *trace.Chunk, d donor) {
	if j.leads(d.node, d.term) {
		j.judgeChunk(e, c, d.node, func(w write) bool {
			return w.term == d.term && w.ns == e.NS && c.Min <= w.key && w.key < c.Max
		})
	}
}

// judgeBegun looks at all shards, and for what was there under the collection's names.
func (j *Judge) judgeBegun(e *trace.Event, c *trace.Chunk) {
	for _, node := range j.nodes {
		if log := j.log(node); log != nil && log.Term() != 0 {
			j.judgeChunk(e, c, node, func(w write) bool {
				return (w.ns == e.NS || w.ns == e.FormerName()) && w.term >= j.terms[w.shard]
			})
		}
	}
}

// judgeChunk looks for the newest write of a node under the placement before a chunk's.
func (j *Judge) judgeChunk(e *trace.Event, c *trace.Chunk, node string, under func(write) bool) {
	log := j.log(node)
	j.verdict.Checked++
	for _, w := range slices.Backward(j.written[node]) {
		at, known := log.At(w.term, w.index)
		if known && at <= c.Since {
			return
		}
		if !known || !under(w) {
			continue
		}
		j.verdict.Add(verdict.Violation{
			Signature: dated, NS: e.NS,
			Broke: fmt.Sprintf("the catalog has a part of %s on %s from time %s on",
				e.NS, c.Shard, histories.ClusterTime(c.Since)),
			Because: []string{fmt.Sprintf("%s let a client write at time %s, in entry %d of its log: a "+
				"read at a time between them is sent to %s, and misses the write",
				node, histories.ClusterTime(at), w.index, c.Shard)},
			Events: []uint64{w.step, e.Step},
		})
		return
	}
}
