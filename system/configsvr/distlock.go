package configsvr

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/statedoc"
)

// Locks holds the distributed locks of 4.2 (config.locks, protocol 2.1): one document for each
// collection or database that an operation of the config server has to itself.
const Locks = "config.locks"

// lockDoc is a document of config.locks.
type lockDoc struct {
	Name string `bson:"_id"`
	// Session is the term of the primary that holds the lock.
	Session string `bson:"ts"`
	Why     string `bson:"why"`
}

// distLocks are the locks that one term holds. The documents are for the next primary, which takes
// over or releases them; which tasks of the term have to wait is in memory only.
//
// Invariant: of every lock that its holder may act under, a majority has the document with the
// session of this term.
type distLocks struct {
	s       *Server
	session string
	docs    *statedoc.Journal[lockDoc]
	held    map[string]*distLock
	freed   env.Cond
}

// distLock is a lock in use. Operations that give the same reason share it, as all migrations of a
// collection do.
type distLock struct {
	name, why string
	holders   int
	// kept is true once the document was written; it may be written although the attempt seems to
	// have failed.
	kept bool
}

func newDistLocks(s *Server) *distLocks {
	return &distLocks{
		s:       s,
		session: fmt.Sprintf("%s/%d", Name, s.member.Term()),
		docs:    statedoc.New[lockDoc](s.member, Locks, trace.System),
		held:    make(map[string]*distLock),
	}
}

// acquire takes the lock of a name within the time, and returns when a majority knows: zero makes
// one attempt. A lock that is held for another reason is an errcode.ConflictingOperationInProgress.
func (l *distLocks) acquire(t env.Task, name, why string, within time.Duration) (*distLock, error) {
	free := func() bool { return l.held[name] == nil || l.held[name].why == why }
	if !free() && within > 0 {
		err := l.freed.WaitFor(t, within, free)
		if err != nil && !errcode.Is(err, errcode.ExceededTimeLimit) {
			return nil, err
		}
	}
	if !free() {
		return nil, conflictError("%s is locked to %s, and cannot be to %s",
			name, l.held[name].why, why)
	}
	lock := l.hold(name, why)
	err := t.Point(failpoint.ConfigDistLock, env.Note{ID: name})
	if err == nil {
		err = statedoc.Commit(t, l.s.member, l.keep(lock))
	}
	if err != nil {
		l.release(t, lock)
		return nil, err
	}
	lock.kept = true
	return lock, nil
}

// hold counts one more holder.
func (l *distLocks) hold(name, why string) *distLock {
	lock := l.held[name]
	if lock == nil {
		lock = &distLock{name: name, why: why}
		l.held[name] = lock
	}
	lock.holders++
	return lock
}

// keep returns the operation that writes the lock's document.
func (l *distLocks) keep(lock *distLock) oplog.Op {
	return l.docs.Put(lock.name, lockDoc{Name: lock.name, Session: l.session, Why: lock.why})
}

// release gives the lock up; the last holder removes its document. When the term is over, the next
// primary does.
func (l *distLocks) release(t env.Task, lock *distLock) {
	doc, stored := l.docs.Get(lock.name)
	stored = stored && doc.Session == l.session
	l.s.node.Assert(t.Err() != nil || !lock.kept || stored,
		"%s holds the lock of %s to %s, but the document is %+v",
		l.session, lock.name, lock.why, doc)
	lock.holders--
	for lock.holders == 0 && stored { // until it is gone, or another holder shares the lock again
		if _, err := l.s.member.Write(t, l.docs.Remove(lock.name)); err == nil {
			break
		}
		if t.Sleep(l.s.settings.HeartbeatInterval) != nil {
			return
		}
	}
	if lock.holders == 0 {
		delete(l.held, lock.name)
		l.freed.Broadcast()
	}
}

// retryUntil writes, however often a hand-over that then does not take place refuses it, as long as
// the term lasts.
func (s *Server) retryUntil(t env.Task, ops ...oplog.Op) error {
	for {
		_, err := s.member.Write(t, ops...)
		if err == nil {
			return nil
		}
		if err := t.Sleep(s.settings.HeartbeatInterval); err != nil {
			return err
		}
	}
}
