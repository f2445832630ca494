package explain

import (
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// turn is a moment at which what clients can see of a document changes although none of them wrote
// it there.
type turn struct {
	at   int // position of the event
	doc  document
	text string
	// migration is the one that did it, if one did; lacks is the state that its recipient should
	// have brought, 0 for none.
	migration string
	lacks     uint64
}

// view is what clients can see of a document from an event on: the shard that owns it, and its
// state there.
type view struct {
	at    int
	owner string
	hash  uint64
}

// watching follows the documents through a run.
type watching struct {
	world *model.World
	s     *slice
	// moving is the migration of the commit that is being taken into account; dropping says that it
	// drops the collection.
	moving   string
	dropping bool
	views    map[document][]view
	turns    []turn
}

// watch finds all turns, and what could be seen when.
func (s *slice) watch() {
	w := &watching{world: model.New(), s: s, views: map[document][]view{}}
	w.world.Committed = func(c *model.Write) { w.moving, w.dropping = c.Migration(), c.Drops() }
	for i := range s.events {
		e := &s.events[i]
		if e.Kind == trace.Executed {
			continue // what is on record of sessions is not what documents are
		}
		w.moving, w.dropping = "", false
		w.world.Observe(e)
		if canChangeView(e) {
			for _, d := range s.docs {
				w.look(i, e, d)
			}
		}
	}
	s.views, s.turns = w.views, w.turns
}

// canChangeView says whether the event can change what is seen of a document.
func canChangeView(e *trace.Event) bool {
	switch e.Kind {
	case trace.Applied, trace.Elected, trace.Majority:
		return true
	}
	return false
}

// look compares what is seen of a document with what was.
func (w *watching) look(i int, e *trace.Event, d document) {
	wrote := d.written(e) && w.world.Set(e.Shard).Leads(e)
	if e.Kind == trace.Applied && !wrote || e.Kind == trace.Majority && e.Shard != model.Config {
		return
	}
	owner := w.world.Table(d.ns).Owner(d.key)
	now := view{i, owner, w.world.Set(owner).Document(d.ns, d.id).Hash}
	seen := w.views[d]
	if wrote && e.Actor == trace.User && e.Shard != owner && owner != "" {
		w.turn(i, d, fmt.Sprintf("%s applies a client's write of %s, which %s owns",
			e.Node, documentName(d), owner))
	}
	if len(seen) > 0 && seen[len(seen)-1].same(now) {
		return
	}
	w.views[d] = append(seen, now)
	if len(seen) == 0 || w.dropping || e.Actor == trace.User ||
		e.Actor == trace.System && e.Kind == trace.Applied {
		return
	}
	if before := seen[len(seen)-1]; before.owner != "" && before.hash != now.hash {
		w.turn(i, d, w.tell(e, d, before, now))
		if e.Kind == trace.Majority && before.owner != now.owner {
			w.turns[len(w.turns)-1].lacks = before.hash
		}
	}
}

func (v view) same(u view) bool { return v.owner == u.owner && v.hash == u.hash }

func (w *watching) turn(i int, d document, text string) {
	id := w.moving
	if e := &w.s.events[i]; e.Kind == trace.Applied && e.Actor != trace.User {
		id = e.Migration()
	}
	w.turns = append(w.turns, turn{at: i, doc: d, text: text, migration: id})
}

// tell says how the view of a document turned.
func (w *watching) tell(e *trace.Event, d document, before, now view) string {
	was, is := w.s.state(d, before.hash), w.s.state(d, now.hash)
	switch {
	case e.Kind == trace.Majority && now.owner == "":
		return fmt.Sprintf("from now on nobody owns %s, since %s is not in the catalog; %s had %s",
			documentName(d), d.ns, before.owner, was)
	case e.Kind == trace.Majority:
		return fmt.Sprintf("from now on %s is owned by %s, which has %s; %s had %s",
			documentName(d), now.owner, is, before.owner, was)
	case e.Kind == trace.Elected:
		return fmt.Sprintf(
			"%s becomes primary of %s, term %d, and has %s of %s; the previous primary had %s",
			e.Node, e.Shard, e.Term, is, documentName(d), was,
		)
	case e.Actor == trace.RangeDeleter:
		return fmt.Sprintf("%s deletes %s (%s) as an orphan for task %s, although it owns it",
			e.Node, documentName(d), was, e.For())
	}
	return fmt.Sprintf("%s, which owns %s, makes %s out of %s, as %s of %s",
		e.Node, documentName(d), is, was, e.Actor, e.For())
}

// documentName is the document's name for people.
func documentName(d document) string {
	if !strings.Contains(d.ns, ".") || d.id == "" {
		return d.ns
	}
	return "k=" + key.Key(d.number()).String()
}

// seenAt is the last view of a document at a time.
func (s *slice) seenAt(d document, at int64) (last view, ok bool) {
	for _, v := range s.views[d] {
		if s.events[v.at].At <= at {
			last, ok = v, true
		}
	}
	return last, ok
}
