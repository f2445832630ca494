package router

import (
	"fmt"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/settings"
)

// cursors are the scans that clients may come back for. A scan is in the registry only while nobody works on it, so two
// requests never advance one cursor.
type cursors struct {
	node     env.Node
	settings *settings.Settings
	opened   int
	idle     map[string]*scan
	queue    []idle // in the order of their deadline
}

type idle struct {
	id   string
	ends env.Time
}

func newCursors(node env.Node, s *settings.Settings) *cursors {
	return &cursors{node: node, settings: s, idle: make(map[string]*scan)}
}

// keep registers a scan under an identity that is unique over the whole run, and new every time.
func (c *cursors) keep(s *scan) string {
	c.opened++
	id := fmt.Sprintf("%s/%d/%d", c.node.ID(), c.node.Incarnation(), c.opened)
	c.idle[id] = s
	c.queue = append(c.queue, idle{id, c.node.Mono().Add(c.settings.CursorTimeout)})
	return id
}

// take hands the scan over to one request.
func (c *cursors) take(id string) (*scan, error) {
	s := c.idle[id]
	if s == nil {
		return nil, expired(id)
	}
	delete(c.idle, id)
	return s, nil
}

// expire closes the scans that nobody came back for.
func (c *cursors) expire(t env.Task) {
	for len(c.queue) > 0 && c.queue[0].ends < c.node.Mono() {
		if s, err := c.take(c.queue[0].id); err == nil {
			s.kill(t)
		}
		c.queue = c.queue[1:]
	}
}
