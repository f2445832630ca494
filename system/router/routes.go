package router

import (
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/rpc"
)

// Table is the routing table of one collection.
type Table = catalog.Table

// routingCache is what the router knows of one collection's placement.
//
// Invariant: the table answers the needs up to fresh. A request that finds the table outdated
// raises need, and only a refresh that began after that counts: one in progress may have read the
// catalog before the change (H-24).
type routingCache struct {
	router      *Router
	ns          string
	table       *Table
	need, fresh uint64
	busy        bool
	refreshed   env.Cond
}

// inconsistentRetries is how often a refresh is begun again, from nothing, when its pieces do not
// fit (protocol 3.4).
const inconsistentRetries = 3

// get returns a table that is good for every need known when it was called.
func (k *routingCache) get(t env.Task) (*Table, error) {
	for need := max(k.need, 1); k.fresh < need; {
		if !k.busy {
			if err := k.refresh(t); err != nil {
				return nil, err
			}
			continue
		}
		if err := t.Point(failpoint.RouterRefreshJoinExisting, env.Note{ID: k.ns}); err != nil {
			return nil, err
		}
		if err := k.refreshed.WaitFor(t, 0, func() bool { return !k.busy }); err != nil {
			return nil, err
		}
	}
	return k.table, nil
}

// invalidate asks for a newer table unless the one that was refused is not in use any more.
func (k *routingCache) invalidate(refused *Table) {
	if k.table == refused {
		k.need = max(k.need, k.fresh) + 1
	}
}

func (k *routingCache) refresh(t env.Task) error {
	k.busy = true
	defer func() {
		k.busy = false
		k.refreshed.Broadcast()
	}()
	serves := max(k.need, 1)
	table := k.table
	for try := 0; ; try++ {
		next, err := k.load(t, table, try)
		if err == nil {
			k.table, k.fresh = next, serves
			return nil
		}
		if again := k.recover(t, err, &table, try); again != nil {
			return again
		}
	}
}

// recover prepares another try of a refresh, or returns why there is none: once when no member of
// the config server could be reached, a few times when the increment does not fit, then without the
// table.
func (k *routingCache) recover(t env.Task, err error, table **Table, try int) error {
	switch {
	case try < inconsistentRetries &&
		errcode.Is(err, errcode.IncompatibleShardingMetadata, errcode.StaleEpoch):
		*table = nil
		return t.Point(failpoint.RouterRefreshInconsistent, env.Note{ID: k.ns, N: try})
	case try == 0 && rpc.Gone(err):
		return t.Point(failpoint.RouterRefreshRetry, env.Note{ID: k.ns, N: try})
	}
	return err
}

// load reads what the table lacks, or everything when there is none, and returns the newer table.
func (k *routingCache) load(t env.Task, table *Table, try int) (*Table, error) {
	r := k.router
	if err := t.Point(failpoint.RouterRefreshStart, env.Note{ID: k.ns, N: try}); err != nil {
		return nil, err
	}
	req := &command.GetRoutingTable{NS: k.ns, After: r.ep.Clock().Now().Config}
	if table != nil {
		req.Since = table.Version()
	}
	update, err := rpc.CallSure[command.RoutingUpdate](t, r.config, req, r.settings.CommandTimeout)
	if err != nil {
		return nil, err
	}
	if err := t.Point(
		failpoint.RouterRefreshApply, env.Note{ID: k.ns, N: len(update.Chunks)},
	); err != nil {
		return nil, err
	}
	return applyUpdate(table, update)
}

// applyUpdate is the table after an update, which costs what has changed unless the update is of
// everything.
func applyUpdate(table *Table, update *command.RoutingUpdate) (*Table, error) {
	if update.Full || table == nil {
		return catalog.NewTable(update.Collection, update.Chunks)
	}
	next, err := table.With(update.Chunks)
	if err != nil {
		return nil, err
	}
	return next.WithCollection(update.Collection), nil
}
