package shard

import (
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/store"
)

// refreshTries is how often a refresh reads the catalog before it gives up on tables that do not
// fit together (protocol 3.4 step 4) or a config server that does not answer.
const refreshTries = 3

// refreshCount counts the refreshes of a collection: number started has begun, number ended is over
// with err. They run one after the other.
type refreshCount struct {
	started, ended uint64
	err            error
	over           env.Cond
}

// Refresh reads the catalog and installs what it says, even while the critical section is held:
// that is for migrations. It joins a refresh in progress only if that one began after the call
// (SERVER-36232): an older one may have read the catalog before the change that the caller must
// see. The error is that of the refresh; errcode.Interrupted when the metadata was cleared or a
// recovery begun meanwhile, so that nothing was installed.
func (c *Collection) Refresh(t env.Task) error {
	r := &c.refreshing
	need := r.started
	for r.ended <= need {
		if r.started == r.ended {
			r.started++
			c.server.node.Spawn(nil, "refresh "+c.ns, c.runRefresh)
		}
		if err := r.over.Wait(t, 0); err != nil {
			return err
		}
	}
	return r.err
}

func (c *Collection) runRefresh(t env.Task) {
	err := c.refresh(t)
	c.refreshing.ended++
	c.refreshing.err = err
	c.refreshing.over.Broadcast()
}

func (c *Collection) refresh(t env.Task) error {
	clears, learn := c.clears, c.Fetch
	leads := c.server.cfg.Member.Leading()
	if !leads {
		learn = c.fetchViaPrimary
	}
	table, err := learn(t)
	if err != nil {
		return err
	}
	if err := t.Point(failpoint.RequestRefreshInstall, env.Note{ID: c.ns}); err != nil {
		return err
	}
	if leads {
		// A primary of the past would take a range for its own that the next one has received, and
		// answer majority reads as of a time at which it was elsewhere (protocol 3.4 step 3).
		if err := c.server.cfg.Member.Confirm(t); err != nil {
			return err
		}
	}
	if c.clears != clears {
		return errcode.New(errcode.Interrupted,
			"the metadata of %s was cleared while it was refreshed", c.ns)
	}
	if c.undecided() { // what was read may be about to change
		return errcode.New(errcode.Interrupted,
			"the outcome of migrations of %s is being recovered: %v", c.ns, c.Recovering())
	}
	if err := c.fits(table.Collection()); err != nil {
		return err
	}
	c.Install(table)
	if leads {
		c.signalRefreshed(t)
	}
	return nil
}

// fits refuses a table that is not about the collection whose data is here: one from before a drop,
// or from before the collection of a namespace that was free until then was made known.
func (c *Collection) fits(told catalog.Collection) error {
	here, exists := c.server.cfg.Member.Store().Options(c.ns)
	if !exists {
		return nil
	}
	uuid, pattern, err := store.DecodeOptions(here)
	if err != nil || told.Unsharded == pattern.Unsharded &&
		(told.Unsharded || told.UUID == uuid) {
		return err
	}
	return errcode.New(errcode.StaleEpoch,
		"the catalog has told of %s as %q, which is not the %q that is here",
		c.ns, told.UUID, uuid)
}

// Fetch reads the catalog at or after everything this node has learned of and returns the table
// without installing it. Status.NamespaceNotFound means that the collection does not exist.
func (c *Collection) Fetch(t env.Task) (*catalog.Table, error) {
	var last error
	for try := range refreshTries {
		if err := t.Point(failpoint.RequestRefreshFetch, env.Note{ID: c.ns, N: try}); err != nil {
			return nil, err
		}
		base := c.cache
		if try > 0 {
			base = nil // the increment did not fit, or nothing was answered: ask for everything
		}
		table, err := c.fetchFrom(t, base)
		if err == nil || errcode.Is(err, errcode.NamespaceNotFound) || t.Err() != nil {
			return table, err
		}
		last = err
	}
	return nil, last
}

func (c *Collection) fetchFrom(t env.Task, base *catalog.Table) (*catalog.Table, error) {
	req := &command.GetRoutingTable{NS: c.ns, After: c.server.Clock().Now().Config}
	if base != nil {
		req.Since = base.Version()
	}
	update, err := rpc.CallAny[command.RoutingUpdate](t, c.server.Set(ConfigSet), req,
		c.server.cfg.Settings.CommandTimeout)
	if err != nil {
		return nil, err
	}
	return applyUpdate(base, update)
}

func applyUpdate(base *catalog.Table, update *command.RoutingUpdate) (*catalog.Table, error) {
	if update.Full || base == nil {
		return catalog.NewTable(update.Collection, update.Chunks)
	}
	if !base.Version().SameIncarnation(update.Collection.Version()) {
		return nil, errcode.New(errcode.StaleEpoch,
			"an increment of epoch %s does not fit the table of epoch %s",
			update.Collection.Epoch, base.Collection().Epoch)
	}
	return base.WithCollection(update.Collection).With(update.Chunks)
}

// settleAndRefresh is the refresh on behalf of requests: behind the critical section and recoveries
// (protocol 8).
func (c *Collection) settleAndRefresh(t env.Task) error {
	if err := c.awaitSettled(t); err != nil {
		return err
	}
	return c.Refresh(t)
}

// awaitDatabase waits behind the critical section of the database unless the collection is known to
// be sharded: one that its primary shard does not have yet has no section of its own.
func (c *Collection) awaitDatabase(t env.Task) error {
	if c.known != nil && !c.unsharded() {
		return nil
	}
	return c.server.Collection(catalog.DatabaseOf(c.ns)).awaitSettled(t)
}

func (s *Server) flush(
	t env.Task, _ env.NodeID, req *command.FlushRoutingTableCacheUpdates,
) (*command.Flushed, error) {
	if err := s.cfg.Member.NeedPrimary(); err != nil {
		return nil, err
	}
	c := s.Collection(req.NS)
	if err := c.awaitDatabase(t); err != nil {
		return nil, err
	}
	if err := c.settleAndRefresh(t); err != nil {
		return nil, err
	}
	clears := c.clears
	if err := c.Flush(t); err != nil {
		return nil, err
	}
	if c.known == nil || c.clears != clears {
		return nil, c.clearedError()
	}
	return &command.Flushed{At: s.cfg.Member.Applied()}, s.cfg.Member.NeedPrimary()
}
