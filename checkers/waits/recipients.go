package waits

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
)

// commits are the requests to commit that a recipient has not answered, by when they came, and when
// it began to by the clocks of its own and of everybody.
type commits struct {
	open      []int64
	migration string
	own       time.Duration
	began     int64
}

// CommitAsked is called when a recipient is asked to commit, which waits for its critical section;
// the result is to be called when it has answered.
func (j *Judge) CommitAsked(node string, at int64) (answered func()) {
	c := j.commits[node]
	if c == nil {
		c = &commits{}
		j.commits[node] = c
	}
	c.open = append(c.open, at)
	return func() {
		if i := slices.Index(c.open, at); i >= 0 {
			c.open = slices.Delete(c.open, i, i+1)
		}
	}
}

// followRecipient: a recipient that has not entered its critical section in time while its donor
// waits for that has failed (protocol 5.2).
func (j *Judge) followRecipient(e *trace.Event) {
	c := j.commits[e.Node]
	if c == nil {
		return
	}
	switch e.RecipientState() {
	case trace.RecipientCommitStart:
		c.migration, c.own, c.began = e.Migration(), j.clock(e.Node), e.At
	case trace.RecipientEnteredCritSec:
		if c.migration == e.Migration() {
			j.judgeEntry(e, c)
		}
	}
}

func (j *Judge) judgeEntry(e *trace.Event, c *commits) {
	waits := slices.ContainsFunc(c.open, func(at int64) bool {
		return at <= c.began && j.quiet.Node(e.Node, at)
	})
	took, most := j.clock(e.Node)-c.own, j.limits().Enter
	if !waits {
		return
	}
	if j.verdict.Checked++; took <= most+slack {
		return
	}
	j.broken(enteredLate, e.NS,
		fmt.Sprintf("the recipient %s enters its critical section for migration %s, and its donor "+
			"still waits for that", e.Node, e.Migration()),
		fmt.Sprintf("by its own clock it began to commit %v ago, and should have given up after %v",
			took, most),
		fmt.Sprintf("nothing has held up %s", e.Node))
}
