package router

import (
	"slices"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
)

func (r *Router) watch(t env.Task, _ env.NodeID, req *command.Watch) (*command.ChangeBatch, error) {
	r.streams.expire(t)
	site := failpoint.ChangesOpen
	if req.Resume {
		site = failpoint.ChangesResume
	}
	if err := t.Point(site, env.Note{ID: req.NS}); err != nil {
		return nil, err
	}
	for e := r.newRetryBudget(req.NS); ; {
		table, s, err := r.openStream(t, e, req)
		if err == nil {
			return &command.ChangeBatch{Upto: s.after, Stream: r.streams.keep(s)}, nil
		}
		if !isRetryableRead(err) || !e.again(t, table, err) {
			return nil, err
		}
	}
}

func (r *Router) nextChanges(
	t env.Task, _ env.NodeID, req *command.NextChanges,
) (*command.ChangeBatch, error) {
	s, err := r.streams.take(req.Stream)
	if err != nil {
		return nil, err
	}
	r.streams.expire(t)
	if err := t.Point(failpoint.ChangesMerge, env.Note{ID: req.Stream}); err != nil {
		return nil, err
	}
	err = s.read(t, r.ep.Clock().Now().Cluster)
	switch {
	case s.pinned && isStale(err):
		err = s.stillThere(t)
	case rpc.Gone(err):
		err = s.forgetLeft(t)
	}
	if isFatal(t, err) {
		return nil, err
	}
	return r.tell(t, s, req.BatchSize), nil
}

// stillThere finds out whether an unsharded collection is where it was when the stream began: if it
// is not, that is an errcode.StaleDbVersion. A shard that refreshes what it has refuses every
// version, too.
func (s *changeStream) stillThere(t env.Task) error {
	known, only := s.router.routesOf(s.ns), s.tails[0]
	known.invalidate(known.table)
	table, err := known.get(t)
	if err != nil || table.Collection().Unsharded &&
		table.ShardVersion(only.set.Name()) == only.opens.Shard {
		return err
	}
	return errcode.New(errcode.StaleDbVersion,
		"%s is not what it was when the stream began: it was sharded, or is on another shard", s.ns)
}

// forgetLeft ends the reading of shards that have left the cluster and do not answer: nobody would
// ever answer for them, and nothing would be certain any more. What one of them has not told since
// it last owned a range is lost. An unsharded collection is somewhere else by then.
func (s *changeStream) forgetLeft(t env.Task) error {
	for _, l := range slices.Clone(s.tails) {
		if !l.silent || len(s.tails) == 1 && !s.pinned {
			continue
		}
		ask := &command.FindShard{Name: l.set.Name(), After: s.router.ep.Clock().Now().Config}
		_, err := rpc.CallAny[command.FoundShard](t, s.router.config, ask,
			s.router.settings.CommandTimeout)
		if !errcode.Is(err, errcode.ShardNotFound) {
			continue
		}
		if s.pinned {
			return s.stillThere(t)
		}
		table, err := s.ownedNothing(t, l)
		if err != nil {
			return err
		}
		expected, err := s.mayStillReceive(t, table, l)
		if err != nil {
			return err
		}
		if expected {
			continue
		}
		t.Node().Sometimes("a change stream goes on without a shard that has left the cluster")
		s.tails = slices.DeleteFunc(s.tails, func(other *shardTail) bool { return other == l })
	}
	return nil
}

// ownedNothing fails unless the shard of a tail has owned no range since the tail was last read. It
// returns the table that says so.
func (s *changeStream) ownedNothing(t env.Task, l *shardTail) (*Table, error) {
	routes := s.router.routesOf(s.ns)
	routes.invalidate(routes.table)
	table, err := routes.get(t)
	if err != nil && !errcode.Is(err, errcode.NamespaceNotFound) {
		return nil, err
	}
	if err == nil && !table.Collection().Unsharded {
		owners, known := table.OwnersSince(l.high)
		if known && !slices.Contains(owners, l.set.Name()) {
			return table, nil
		}
	}
	return nil, errcode.New(errcode.ChangeStreamHistoryLost,
		"shard %s has left the cluster, and nobody knows what happened to %s there after %s",
		l.set.Name(), s.ns, l.high)
}

// mayStillReceive reports whether an owner of the collection has announced a migration to the shard
// of a tail, and has not ended it. The shard may come back into the cluster and receive the range,
// and that will not be announced again.
func (s *changeStream) mayStillReceive(t env.Task, table *Table, l *shardTail) (bool, error) {
	for _, other := range s.tails {
		name := other.set.Name()
		if other == l || table.ShardVersion(name).OwnsNothing() {
			continue
		}
		opens := command.PlacementBy(table, name)
		other.opens = &opens
		err := other.read(t, s, other.high)
		other.opens = nil
		if err != nil {
			return false, err
		}
		if slices.Contains(other.receivers, l.set.Name()) {
			return true, nil
		}
	}
	return false, nil
}

// isFatal reports whether a stream cannot go on: other failures only leave it where it is.
func isFatal(t env.Task, err error) bool {
	return t.Err() != nil ||
		errcode.Is(err, errcode.ChangeStreamHistoryLost, errcode.StaleDbVersion)
}

// tell answers with the changes that are final by now.
func (r *Router) tell(t env.Task, s *changeStream, size int) *command.ChangeBatch {
	changes := s.next(t, size)
	if s.ended {
		return &command.ChangeBatch{Changes: changes, Upto: s.after}
	}
	return &command.ChangeBatch{Stream: r.streams.keep(s), Changes: changes, Upto: s.after}
}

// openStream reads from every shard that has owned a part of the collection since the stream's
// beginning, and from those that are about to. The shards confirm that by the version of the table:
// a migration that was announced before the beginning, where nobody reads, is on a shard's list of
// receivers if the table does not show its commit.
func (r *Router) openStream(
	t env.Task, e *retryBudget, req *command.Watch,
) (*Table, *changeStream, error) {
	read := func() (*Table, error) { return e.known.get(t) }
	table, err := e.judged(read, func(table *Table) error {
		if req.Unsharded || !table.Collection().Unsharded {
			return nil
		}
		return errcode.New(errcode.NamespaceNotFound,
			"there is no sharded collection %s to watch", req.NS)
	})
	if err != nil {
		return table, nil, err
	}
	now := r.ep.Clock().Now().Cluster
	s := &changeStream{router: r, ns: req.NS, limit: req.BatchSize, after: command.Mark(now)}
	if req.Resume {
		s.after = req.After
	}
	// Other shards may have changes of the token's time. If that has not come yet, the stream
	// begins now: moves that are announced until then are not announced again.
	from := min(s.after.TS-min(s.after.TS, 1), now)
	owners, known := table.OwnersSince(from)
	if s.pinned = table.Collection().Unsharded; s.pinned {
		owners, known = []string{table.Owner(key.Min).Shard}, true
	}
	if !known {
		return table, nil, errcode.New(errcode.ChangeStreamHistoryLost,
			"the owners of %s at %s are not on record any more", req.NS, from)
	}
	for _, owner := range owners {
		tail, err := s.add(owner, from)
		if err != nil {
			return table, nil, err
		}
		opens := command.PlacementBy(table, owner)
		tail.opens = &opens
	}
	return table, s, s.begin(t, now)
}

// begin opens the tails, and those of the receivers they name. The stream has begun when everything
// until now is known: everything that is written from then on comes after it.
func (s *changeStream) begin(t env.Task, now hlc.Timestamp) error {
	from := s.low()
	if err := s.read(t, now); err != nil {
		return err
	}
	for _, tail := range slices.Clone(s.tails) {
		for _, to := range tail.receivers {
			if _, err := s.add(to, from); err != nil {
				return err
			}
		}
	}
	if s.low() >= now {
		return nil
	}
	if err := s.read(t, now); err != nil {
		return err
	}
	for _, l := range s.tails {
		if l.high < now && len(l.changes) == 0 {
			return errcode.New(errcode.ReadConcernMajorityNotAvailableYet,
				"%s has a majority up to %s only, not %s", l.set.Name(), l.high, now)
		}
	}
	return nil
}

// request is what is asked of a shard next.
func (l *shardTail) request(s *changeStream, reach hlc.Timestamp) *command.ReadChanges {
	req := &command.ReadChanges{
		NS: s.ns, After: l.high, Reach: reach, Limit: s.limit, Unsharded: s.pinned,
	}
	if l.opens != nil {
		req.Open, req.Place = true, *l.opens
	}
	return req
}

// read asks the shard once.
func (l *shardTail) read(t env.Task, s *changeStream, reach hlc.Timestamp) error {
	if err := t.Yield(failpoint.RouterSend); err != nil {
		return err
	}
	got, err := rpc.CallPrimary[command.ChangesRead](t, l.set, l.request(s, reach),
		s.router.settings.ShardTimeout)
	if l.silent = rpc.Gone(err); err != nil {
		return err
	}
	if l.receivers = got.Receivers; !s.pinned {
		l.opens = nil
	}
	l.changes = append(l.changes, got.Changes...)
	l.high = max(l.high, got.Upto)
	return nil
}
