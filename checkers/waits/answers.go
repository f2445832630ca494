package waits

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
)

// entry is one of a primary's log, and when it was written by the clocks of the primary and of
// everybody.
type entry struct {
	index, term uint64
	own         time.Duration
	at          int64
}

// mostEntries is how many entries of a log are remembered at least.
const mostEntries = 512

func (j *Judge) noteEntry(e *trace.Event) {
	all := j.entries[e.Node]
	// Of one index there is another entry once the first was rolled back.
	if n := len(all); n > 0 && all[n-1].index == e.Index && all[n-1].term == e.Term {
		return
	}
	if len(all) == 2*mostEntries {
		all = append(all[:0], all[mostEntries:]...)
	}
	j.entries[e.Node] = append(all, entry{e.Index, e.Term, j.clock(e.Node), e.At})
}

// Wrote is called when a primary answers a request to write one document, for which it has written
// an entry: then it has waited for nothing but the write concern, for at most the time that it
// names, 0 for the cluster's.
func (j *Judge) Wrote(node, request string, index uint64, most time.Duration) {
	var of *entry
	for i := range j.entries[node] {
		if one := &j.entries[node][i]; one.index == index {
			of = one
		}
	}
	if of == nil || !j.quiet.Node(node, of.at) {
		return
	}
	if most == 0 {
		most = j.limits().Concern
	}
	took := j.clock(node) - of.own
	if j.verdict.Checked++; took <= most+slack {
		return
	}
	j.broken(concernLate, "",
		fmt.Sprintf("%s answers %s %v after it has written entry %d for it", node, request, took,
			index),
		fmt.Sprintf("all that it waits for is the write concern, for at most %v", most),
		fmt.Sprintf("nothing has held up %s", node))
}

// cursor is a query that waits for its next request, as its client knows it.
type cursor struct {
	node string
	// used is when the newest batch was answered, by the clock of the node.
	used time.Duration
	// asked counts the requests that are being answered; late is for how long it had not been used
	// when the only one of them came, 0 unless that is too long.
	asked int
	late  time.Duration
}

// CursorAsked is called when a node is asked for the next batch of a cursor; the result is to be
// called when it has answered, with whether it has given one, and whether the cursor lives on.
func (j *Judge) CursorAsked(node, id string) (answered func(given, lives bool)) {
	c := j.cursors[id]
	if c == nil || c.node != node {
		return func(bool, bool) {}
	}
	c.asked++
	idle := j.clock(node) - c.used
	if c.late = 0; c.asked == 1 && idle > j.limits().Cursor+slack {
		c.late = idle
	}
	return func(given, lives bool) {
		c.asked--
		if given && c.late > 0 {
			j.broken(cursorLate, "",
				fmt.Sprintf("%s gives the next batch of cursor %s", node, id),
				fmt.Sprintf("by the server's clock the cursor had been idle for %v, and times out "+
					"after %v", c.late, j.limits().Cursor))
		}
		c.late, c.used = 0, j.clock(node)
		if !lives {
			delete(j.cursors, id)
		}
	}
}

// CursorOpened is called when a node has answered a query and keeps a cursor of it.
func (j *Judge) CursorOpened(node, id string) {
	j.verdict.Checked++
	j.cursors[id] = &cursor{node: node, used: j.clock(node)}
}
