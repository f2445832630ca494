package router

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/rpc"
)

func (r *Router) find(t env.Task, _ env.NodeID, req *command.Find) (*command.Batch, error) {
	r.cursors.expire(t)
	scan, err := r.open(t, req)
	if err != nil {
		return nil, err
	}
	return r.answer(t, scan, req.BatchSize)
}

func (r *Router) getMore(t env.Task, _ env.NodeID, req *command.GetMore) (*command.Batch, error) {
	scan, err := r.cursors.take(req.Cursor)
	if err != nil {
		return nil, err
	}
	r.cursors.expire(t)
	if err := t.Point(failpoint.RouterGetMore, env.Note{ID: req.Cursor}); err != nil {
		scan.kill(t)
		return nil, err
	}
	return r.answer(t, scan, req.BatchSize)
}

func (r *Router) killCursors(
	t env.Task, _ env.NodeID, req *command.KillCursors,
) (*command.Done, error) {
	for _, id := range req.Cursors {
		if scan, err := r.cursors.take(id); err == nil {
			scan.kill(t)
		}
	}
	return &command.Done{}, nil
}

// answer returns the next documents and keeps the scan if there may be more. A scan that fails is
// over.
func (r *Router) answer(t env.Task, scan *mergedScan, size int) (*command.Batch, error) {
	docs, err := scan.next(t, size)
	if err != nil {
		scan.kill(t)
		return nil, err
	}
	batch := &command.Batch{Docs: docs, Time: scan.time(), Since: scan.since()}
	if !scan.exhausted() {
		batch.Cursor = r.cursors.keep(scan)
	}
	return batch, nil
}

// open establishes the scan on every shard that owns a part of what the filter asks for, all by one
// table. If one refuses, the cursors already open are closed and everything begins again.
func (r *Router) open(t env.Task, req *command.Find) (*mergedScan, error) {
	own := *req
	for e := r.newRetryBudget(req.NS); ; {
		table, scan, err := r.establish(t, e, &own)
		if err == nil {
			return scan, nil
		}
		if !isRetryableRead(err) || !e.again(t, table, err) {
			return nil, err
		}
	}
}

func (r *Router) establish(
	t env.Task, e *retryBudget, req *command.Find,
) (*Table, *mergedScan, error) {
	if err := t.Point(failpoint.RouterTarget, env.Note{ID: req.NS, N: e.done}); err != nil {
		return nil, nil, err
	}
	table, err := e.known.get(t)
	if err != nil {
		return nil, nil, err
	}
	rng, err := filterRange(table.Collection().Key, req.Filter)
	if err != nil {
		return table, nil, err
	}
	targets, err := r.targets(t, table, rng, req)
	if err != nil {
		return table, nil, err
	}
	pattern := table.Collection().Key
	s := &mergedScan{}
	for _, owner := range targets {
		set, err := r.shard(owner)
		if err != nil {
			return table, nil, err
		}
		placed := *req
		placed.Place = command.PlacementBy(table, owner)
		s.parts = append(s.parts,
			&shardCursor{router: r, set: set, pattern: pattern, opens: &placed})
	}
	return table, s, s.establish(t)
}

// targets returns the shards to ask. A snapshot read asks those that owned a part of the range at
// its time, regardless of who owns it now: the shards' versions still report whether the table
// knows of every move until then (protocol 11). The time is picked once, from the times that this
// router has seen and the one that the request is to come after; it keeps it over all attempts.
func (r *Router) targets(
	t env.Task, table *Table, rng key.Range, req *command.Find,
) ([]string, error) {
	if req.Concern != command.Snapshot {
		return ownersOf(table, rng), nil
	}
	if req.At == 0 {
		if err := t.Point(failpoint.RouterPickTime, env.Note{ID: req.NS}); err != nil {
			return nil, err
		}
		req.At = max(r.ep.Clock().Now().Cluster, req.After)
	}
	if table.Collection().Unsharded {
		return ownersOf(table, rng), nil
	}
	return ownersAt(table, rng, req.At)
}

// ownersAt is owners at a time; errcode.StaleChunkHistory when that is not known any more.
func ownersAt(table *Table, rng key.Range, at hlc.Timestamp) ([]string, error) {
	if rng.Empty() {
		return ownersOf(table, rng), nil
	}
	var shards []string
	for c := range table.Overlapping(rng) {
		shard, err := c.ShardAt(at)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(shards, shard) {
			shards = append(shards, shard)
		}
	}
	return shards, nil
}

// filterRange is the range of shard keys that a filter can match.
func filterRange(p key.Pattern, filter bson.Raw) (key.Range, error) {
	if !p.Hashed {
		return query.Bounds(filter, p.Field)
	}
	v, fixed := query.Equality(filter, p.Field)
	if !fixed {
		return key.Everything, nil
	}
	k, err := p.OfValue(v)
	return key.Range{Min: k, Max: key.After(k)}, err
}

// ownersOf returns the shards that own a part of the range, each once, in the order of the range.
// An empty range is asked of the shard at its beginning, so that even then a shard checks the
// version.
func ownersOf(table *Table, rng key.Range) []string {
	if rng.Empty() {
		return []string{table.Owner(key.Min).Shard}
	}
	return table.Owning(rng)
}

// establish opens the cursors of all parts at the same time. Of several errors one that reports a
// stale table counts most (H-49).
func (s *mergedScan) establish(t env.Task) error {
	if len(s.parts) == 1 {
		return s.parts[0].open(t)
	}
	var all cursorOpening
	for _, p := range s.parts {
		all.left++
		t.Spawn("router.cursorEstablish "+p.set.Name(), func(own env.Task) {
			all.ended(p.open(own))
			if all.abandoned {
				p.kill(own)
			}
		})
	}
	if err := all.done.WaitFor(t, 0, func() bool { return all.left == 0 }); err != nil {
		all.abandoned = true
		all.ended(err)
	}
	if all.err != nil {
		s.kill(t)
	}
	return all.err
}

// cursorOpening collects the results of tasks that open cursors.
type cursorOpening struct {
	left      int
	err       error
	abandoned bool
	done      env.Cond
}

func (o *cursorOpening) ended(err error) {
	o.left--
	if err != nil && (o.err == nil || isStale(err) && !isStale(o.err)) {
		o.err = err
	}
	o.done.Broadcast()
}

// open sends the find to one shard.
func (p *shardCursor) open(t env.Task) error {
	if err := t.Point(
		failpoint.RouterCursorEstablish, env.Note{Peer: p.set.Name(), ID: p.opens.NS},
	); err != nil {
		return err
	}
	if err := t.Yield(failpoint.RouterSend); err != nil {
		return err
	}
	call := rpc.CallPrimaryAt[command.Batch]
	if p.opens.Secondary {
		call = rpc.CallSecondaryAt[command.Batch]
	}
	batch, member, err := call(t, p.set, p.opens, p.timeout())
	if err != nil {
		return err
	}
	p.member, p.since = member, batch.Since
	return p.take(batch)
}

// expiredCursorError is the answer to a client that comes back for a cursor that is not here.
func expiredCursorError(id string) error {
	return errcode.New(errcode.CursorNotFound, "cursor %s does not exist here, or not any more", id)
}
