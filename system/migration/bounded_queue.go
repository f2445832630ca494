package migration

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// boundedQueue carries batches, in order, from the task that fetches them to the one that applies
// them, and holds at most so much: a recipient that writes slower than its donor reads makes the
// donor wait instead of filling its own memory (protocol 5.2 steps 4 and 5).
type boundedQueue struct {
	most    int // by weigh; one batch always fits, and with 0 any number
	weigh   func(*command.Mods) int
	batches []*command.Mods
	load    int
	ended   bool
	err     error
	changed env.Cond
}

// fetch puts batches into the queue until the last one, which it leaves out.
func (c *boundedQueue) fetch(
	t env.Task, next func(env.Task) (*command.Mods, error), last func(*command.Mods) bool,
) {
	for {
		m, err := next(t)
		if err == nil && last(m) {
			c.end(nil)
			return
		}
		if err == nil {
			err = c.put(t, m)
		}
		if err != nil {
			c.end(err)
			return
		}
	}
}

// put waits until there is room.
func (c *boundedQueue) put(t env.Task, m *command.Mods) error {
	w := c.weigh(m)
	err := c.changed.WaitFor(t, 0, func() bool {
		return c.most == 0 || c.load == 0 || c.load+w <= c.most
	})
	if err != nil {
		return err
	}
	c.batches = append(c.batches, m)
	c.load += w
	c.changed.Broadcast()
	return nil
}

func (c *boundedQueue) end(err error) {
	c.ended, c.err = true, err
	c.changed.Broadcast()
}

// take waits for the next batch; nil means that the last was taken.
func (c *boundedQueue) take(t env.Task) (*command.Mods, error) {
	if err := c.changed.WaitFor(t, 0, func() bool {
		return len(c.batches) > 0 ||
			c.ended
	}); err != nil {
		return nil, err
	}
	if len(c.batches) == 0 {
		return nil, c.err
	}
	m := c.batches[0]
	c.batches = c.batches[1:]
	c.load -= c.weigh(m)
	c.changed.Broadcast()
	return m, nil
}

// bytesOf is what a batch takes in memory.
func bytesOf(m *command.Mods) (n int) {
	for _, id := range m.Deletes {
		n += len(id)
	}
	for _, doc := range m.Reloads {
		n += len(doc)
	}
	return n
}
