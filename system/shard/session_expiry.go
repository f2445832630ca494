package shard

import (
	"strings"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
)

// sessionTimeout is for how long a shard remembers at least what a driver's session has written
// last (localLogicalSessionTimeoutMinutes). No driver sends a write again as late as that.
const sessionTimeout = 30 * time.Minute

// mostForgotten is how many sessions are forgotten in one entry.
const mostForgotten = 1000

// driverSessions are the sessions of drivers that have a row here, by when this primary has seen
// them last. What other sessions name is not forgotten: those of servers fence messages that may
// come at any time.
//
// Invariant: queue names each session once, with a time that is not later than its last use.
type driverSessions struct {
	last  map[string]env.Time
	queue []driverSession // in the order of their times
}

type driverSession struct {
	id string
	at env.Time
}

// used notes that a session has a row that is new or was changed.
func (d *driverSessions) used(id string, now env.Time) {
	if !strings.HasPrefix(id, command.DriverSession) {
		return
	}
	if _, known := d.last[id]; !known {
		d.queue = append(d.queue, driverSession{id, now})
	}
	d.last[id] = now
}

// asked notes that somebody goes on with a session, or asks what it has done.
func (d *driverSessions) asked(id string, now env.Time) {
	if _, known := d.last[id]; known {
		d.last[id] = now
	}
}

// expired takes out sessions that were not used for long. One that is in use now, or was since it
// got into the queue, goes to its end.
func (d *driverSessions) expired(now env.Time, held func(id string) bool) (ids []string) {
	old := func(at env.Time) bool { return now.Sub(at) > sessionTimeout }
	for len(d.queue) > 0 && old(d.queue[0].at) && len(ids) < mostForgotten {
		id := d.queue[0].id
		d.queue = d.queue[1:]
		if !old(d.last[id]) || held(id) {
			d.queue = append(d.queue, driverSession{id, now})
			continue
		}
		delete(d.last, id)
		ids = append(ids, id)
	}
	return ids
}

// recall begins a term: how long ago the sessions were used that have rows, nobody knows.
func (d *driverSessions) recall(rows []SessionRecord, now env.Time) {
	*d = driverSessions{last: make(map[string]env.Time)}
	for _, row := range rows {
		d.used(row.ID, now)
	}
}

// forgetSessions removes the rows of drivers' sessions that have expired. A statement of one has
// just been executed: where none is, nothing grows.
func (s *Server) forgetSessions(t env.Task) {
	held := func(id string) bool { return s.checkouts[id] != nil }
	ids := s.drivers.expired(s.node.Mono(), held)
	if len(ids) == 0 {
		return
	}
	ops := make([]oplog.Op, len(ids))
	for i, id := range ids {
		delete(s.statements, id)
		ops[i] = oplog.Op{
			Kind: oplog.Delete, NS: SessionsNS, ID: string(key.String(id)), Actor: uint8(trace.System),
		}
	}
	// Those that stay because of a failure are taken up again by the next primary.
	_, _ = s.cfg.Member.Write(t, ops...)
}
