package shard

import (
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
)

// placementVerdict is what the shard thinks of a request's placement.
type placementVerdict uint8

const (
	placementCurrent     placementVerdict = iota
	placementBlocked                      // by the critical section
	placementRouterOlder                  // only the router can do something about it
	placementShardOlder                   // or the shard knows nothing: it must refresh
)

func (c *Collection) judge(place command.Placement, write bool) placementVerdict {
	switch {
	case !place.Versioned:
		return placementCurrent
	case c.blockedBy(place, write) != nil:
		return placementBlocked
	case c.known == nil:
		return placementShardOlder
	}
	return c.known.judge(place.Shard)
}

// blockedBy is the collection whose critical section holds such a request up, nil when none does. A
// request for an unsharded collection is also held up by the section of its database: what is no
// collection yet has no section of its own, and may be made on the next primary meanwhile.
func (c *Collection) blockedBy(place command.Placement, write bool) *Collection {
	if c.Phase().blocks(write) {
		return c
	}
	if !place.Database {
		return nil
	}
	if d := c.server.Collection(catalog.DatabaseOf(c.ns)); d.Phase().blocks(write) {
		return d
	}
	return nil
}

// judge compares majors only: minors differ by splits and control chunks of the same ownership
// (protocol 3.2). A router that names a version this shard does not have, but no newer than the
// newest of the whole collection known here, comes from a time before the shard lost its chunks. A
// newer one may have the major that is known here, when a split has given it to chunks that had not
// moved for long.
func (m *Metadata) judge(got catalog.Version) placementVerdict {
	own, all := m.Version(), m.Table.Version()
	switch {
	case !got.SameIncarnation(own) && got.Timestamp > own.Timestamp:
		return placementShardOlder
	case !got.SameIncarnation(own):
		return placementRouterOlder
	case got.Major == own.Major:
		return placementCurrent
	case all.Older(got):
		return placementShardOlder
	}
	return placementRouterOlder
}

// Check compares a request's placement with what the shard knows, without waiting: nil, or an
// errcode.StaleConfig or errcode.StaleDbVersion; a write may also be refused with
// errcode.MovePrimaryInProgress.
func (c *Collection) Check(place command.Placement, write bool) error {
	if err := c.refused(place, write); err != nil {
		return err
	}
	if v := c.judge(place, write); v != placementCurrent {
		return c.stale(place, v)
	}
	return nil
}

func (c *Collection) stale(place command.Placement, v placementVerdict) error {
	info := &command.StaleInfo{NS: c.ns, Shard: c.server.name, Received: place.Shard}
	if c.known != nil {
		info.Known, info.Wanted = true, c.known.Version()
	}
	why := [...]string{
		"current", "the critical section is held", "the router is older",
		"the shard is older or knows nothing",
	}[v]
	code := errcode.StaleConfig
	if place.Database {
		code = errcode.StaleDbVersion
	} else {
		c.server.statistics.StaleConfig++
	}
	return errcode.With(code, info, "%s: shard %s has version %s, the request %s: %s",
		c.ns, info.Shard, info.Wanted, place.Shard, why)
}

// admit waits until a request may be let in as protocol 3.4 says, or answers it with
// errcode.StaleConfig: at once when the router is older; after the wait when the critical section
// blocks it; after a refresh when the shard is older and the refresh has not helped, regardless of
// its own error. An error of the wait does not replace the stale error (SERVER-84623), but for the
// end of the task.
func (c *Collection) admit(t env.Task, place command.Placement, write bool) error {
	v := c.judge(place, write)
	if v == placementShardOlder {
		if c.settleAndRefresh(t); t.Err() != nil {
			return t.Err()
		}
		v = c.judge(place, write)
	}
	if v == placementBlocked {
		stale := c.stale(place, v)
		if err := c.blockedBy(place, write).awaitUnblocked(t, write); err != nil {
			return err
		}
		return stale
	}
	if v != placementCurrent {
		return c.stale(place, v)
	}
	return nil
}

// AdmitRead waits until a read by the placement may be let in, or answers it as admit does. It is
// for readers of the log, which take no Filter: what follows without a wait sees the state that the
// version was found good for.
func (c *Collection) AdmitRead(t env.Task, place command.Placement) error {
	for {
		if err := c.admit(t, place, false); err != nil {
			return err
		}
		if err := t.Point(failpoint.ChangesAdmit, env.Note{ID: c.ns}); err != nil {
			return err
		}
		if c.judge(place, false) == placementCurrent {
			return c.server.cfg.Member.NeedPrimary()
		}
	}
}

// Serves reports whether what was admitted by a placement would be admitted still.
func (c *Collection) Serves(place command.Placement) bool {
	return c.judge(place, false) == placementCurrent
}

// awaitUnblocked waits behind the critical section before a stale answer: answering at once would
// have the router ask again and again.
func (c *Collection) awaitUnblocked(t env.Task, write bool) error {
	if err := t.Point(failpoint.RequestWaitCritSec, env.Note{ID: c.ns}); err != nil {
		return err
	}
	if err := c.awaitOpen(t, write); err != nil && t.Err() != nil {
		return err
	}
	return nil
}
