package endstate

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Wait is what a task that has not ended waits for.
type Wait struct {
	Node, Task string
	// Doing says what it does and where, Told what keeps its answer away or what it was last
	// answered: clauses for people. Since is from when on, in virtual time.
	Doing, Told string
	Since       time.Duration
	// Serves says that the task answers a request of another one, Idle that it waits for as long as
	// its node lives.
	Serves, Idle bool
	// About is the work that it does, such as a migration; may be empty.
	About string
	// On is the position of the task that serves its request, -1 for none.
	On int
}

// brief is the wait without what only its own story needs.
func (w *Wait) brief() string { return w.Node + ": " + w.Task + " " + w.Doing }

// String is the wait in one line.
func (w *Wait) String() string {
	text := fmt.Sprintf("%s, since %s", w.brief(), w.Since.Round(10*time.Microsecond))
	if w.About != "" && !mentions(w.Task, w.About) {
		text += ", for " + w.About
	}
	if w.Told != "" {
		text += "; " + w.Told
	}
	return text
}

// rests says whether the task sleeps between two looks at something, at nobody's request: nothing
// has to come to an end for it.
func (w *Wait) rests() bool {
	return strings.HasPrefix(w.Doing, "is sleeping") && !w.Serves && w.About == ""
}

// toldIn says whether a line of a chain tells the wait.
func (w *Wait) toldIn(line string) bool { return strings.TrimLeft(line, arrow) == w.String() }

// worksFor says whether the task does the work of an identifier.
func (w *Wait) worksFor(id string) bool { return w.About == id || mentions(w.Task, id) }

// chain is who waits for whom, from the tasks that are to carry something out down to the one that
// does not answer: a line each. A task that waits for no answer is waited for by the task that does
// the same work, or works in the background of its node.
func (p *Progress) chain(u *Unfinished) []string {
	c := chain{waits: p.Waiting, told: map[int]bool{}}
	for i := range p.Waiting {
		if w := &p.Waiting[i]; u.Task != "" && w.Task == u.Task ||
			u.Node != "" && w.Node == u.Node {
			c.follow(i, 0)
		}
	}
	if u.Task+u.Node == "" {
		for _, id := range identifiers(u.What) {
			c.work(id, 0)
		}
	}
	return c.lines
}

// chain is a chain of waits, growing.
type chain struct {
	waits []Wait
	told  map[int]bool
	lines []string
}

// arrow is what begins a line for what the line above it waits for, as often as it is deep.
const arrow = "→ "

func (c *chain) follow(i, depth int) {
	w := &c.waits[i]
	if c.told[i] || w.Idle {
		return
	}
	c.told[i] = true
	c.lines = append(c.lines, strings.Repeat(arrow, min(depth, 1))+w.String())
	switch {
	case w.On >= 0:
		c.follow(w.On, depth+1)
	case w.Serves:
		c.background(w.Node, depth+1)
	case w.About != "":
		c.work(w.About, depth+1)
	}
}

// work follows the tasks that do the work of an identifier, on any node.
func (c *chain) work(id string, depth int) {
	any := false
	for i := range c.waits {
		if c.waits[i].worksFor(id) {
			any = true
			c.follow(i, depth)
		}
	}
	if !any {
		c.lines = append(c.lines, "no task on any node works for "+id)
	}
}

// background follows the tasks of a node that serve no request.
func (c *chain) background(node string, depth int) {
	for i := range c.waits {
		if w := &c.waits[i]; w.Node == node && !w.Serves {
			c.follow(i, depth)
		}
	}
}

// identifiers are the words that name a migration or a movePrimary: those with two slashes, and in
// 4.2 a collection with a lower bound.
func identifiers(text string) []string {
	words := strings.FieldsFunc(text,
		func(r rune) bool { return strings.ContainsRune(" ,;:()", r) })
	return slices.DeleteFunc(words, func(w string) bool {
		return strings.Count(w, "/") < 2 && !strings.Contains(w, "-min_")
	})
}

// mentions says whether an identifier is one of the words of a text.
func mentions(text, id string) bool { return slices.Contains(strings.Fields(text), id) }
