package router

import (
	"fmt"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/settings"
)

// cursorRegistry are the scans, or the change streams, that clients may come back for. One is in
// the registry only while nobody works on it, so two requests never advance one cursor.
type cursorRegistry[T openCursor] struct {
	node     env.Node
	settings *settings.Settings
	opened   int
	idle     map[string]T
	queue    []idleCursor // in the order of their deadline
}

// openCursor is something open: kill releases what it holds elsewhere, without waiting.
type openCursor interface{ kill(t env.Task) }

type idleCursor struct {
	id   string
	ends env.Time
}

func newCursors[T openCursor](node env.Node, s *settings.Settings) *cursorRegistry[T] {
	return &cursorRegistry[T]{node: node, settings: s, idle: make(map[string]T)}
}

// keep registers a cursor under an identity that is unique among its kind over the whole run, and
// new every time.
func (c *cursorRegistry[T]) keep(s T) string {
	c.opened++
	id := fmt.Sprintf("%s/%d/%d", c.node.ID(), c.node.Incarnation(), c.opened)
	c.idle[id] = s
	c.queue = append(c.queue, idleCursor{id, c.node.Mono().Add(c.settings.CursorTimeout)})
	return id
}

// take hands the cursor over to one request.
func (c *cursorRegistry[T]) take(id string) (T, error) {
	s, open := c.idle[id]
	if !open {
		return s, expiredCursorError(id)
	}
	delete(c.idle, id)
	return s, nil
}

// expire closes the cursors that nobody came back for. What is in the queue of those that somebody
// did come back for goes, too: each request adds an entry.
func (c *cursorRegistry[T]) expire(t env.Task) {
	for now := c.node.Mono(); len(c.queue) > 0; c.queue = c.queue[1:] {
		first := c.queue[0]
		s, open := c.idle[first.id]
		if open && first.ends >= now {
			return
		}
		if open {
			delete(c.idle, first.id)
			s.kill(t)
		}
	}
}
