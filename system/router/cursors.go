package router

import (
	"fmt"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/settings"
)

// cursors are the scans, or the change streams, that clients may come back for. One is in the
// registry only while nobody works on it, so two requests never advance one cursor.
type cursors[T cursor] struct {
	node     env.Node
	settings *settings.Settings
	opened   int
	idle     map[string]T
	queue    []idle // in the order of their deadline
}

// cursor is something open: kill lets go of what it holds elsewhere, without waiting.
type cursor interface{ kill(t env.Task) }

type idle struct {
	id   string
	ends env.Time
}

func newCursors[T cursor](node env.Node, s *settings.Settings) *cursors[T] {
	return &cursors[T]{node: node, settings: s, idle: make(map[string]T)}
}

// keep registers a cursor under an identity that is unique among its kind over the whole run, and
// new every time.
func (c *cursors[T]) keep(s T) string {
	c.opened++
	id := fmt.Sprintf("%s/%d/%d", c.node.ID(), c.node.Incarnation(), c.opened)
	c.idle[id] = s
	c.queue = append(c.queue, idle{id, c.node.Mono().Add(c.settings.CursorTimeout)})
	return id
}

// take hands the cursor over to one request.
func (c *cursors[T]) take(id string) (T, error) {
	s, open := c.idle[id]
	if !open {
		return s, expired(id)
	}
	delete(c.idle, id)
	return s, nil
}

// expire closes the cursors that nobody came back for.
func (c *cursors[T]) expire(t env.Task) {
	for len(c.queue) > 0 && c.queue[0].ends < c.node.Mono() {
		if s, err := c.take(c.queue[0].id); err == nil {
			s.kill(t)
		}
		c.queue = c.queue[1:]
	}
}
