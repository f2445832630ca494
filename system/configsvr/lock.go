package configsvr

import "github.com/shardproof/shardproof/system/env"

// chunkOps is the lock under which chunks are read for a change and changed. It belongs to one
// term: the next primary has its own, and the tasks of the old term cannot act any more.
type chunkOps struct {
	held bool
	free env.Cond
}

func (l *chunkOps) acquire(t env.Task) error {
	if err := l.free.WaitFor(t, 0, func() bool { return !l.held }); err != nil {
		return err
	}
	l.held = true
	return nil
}

func (l *chunkOps) release() {
	l.held = false
	l.free.Signal()
}

// Locked runs fn while it holds the chunk-operation lock of the task's term. That may have ended
// with the task's last wait: then there is no lock, or that of another term.
func (s *Server) Locked(t env.Task, fn func() error) error {
	if err := t.Err(); err != nil {
		return err
	}
	lock := s.chunkOps
	if err := lock.acquire(t); err != nil {
		return err
	}
	defer lock.release()
	return fn()
}
