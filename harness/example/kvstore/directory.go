package kvstore

import (
	"encoding/json"
	"fmt"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// directory is one incarnation of the node that knows who owns what.
type directory struct {
	node  env.Node
	ns    string
	table Table
	lock  lock
}

// tableFile is where the directory keeps its table.
const tableFile = "table"

// BootDirectory starts the directory.
func (c *Config) BootDirectory(t env.Task) {
	d := &directory{node: t.Node(), ns: c.NS, table: Table{Version: 1, Ranges: c.Table}}
	stored, err := d.node.Disk().Read(t, tableFile)
	if err != nil {
		return
	}
	if stored != nil {
		if err := json.Unmarshal(stored, &d.table); err != nil {
			panic("kvstore: the stored table cannot be read: " + err.Error())
		}
	}
	term := uint64(d.node.Incarnation())
	d.node.Emit(&trace.Event{Kind: trace.Elected, Shard: "config", Term: term, Index: uint64(d.table.Version)})
	d.announce("begin")
	d.node.Serve(func(t env.Task, _ env.NodeID, m env.Message) (env.Message, error) {
		switch req := m.(type) {
		case *Fetch:
			return d.fetch(t, req)
		case *Assign:
			return d.assign(t, req)
		}
		return nil, errcode.New(Refused, "the directory does not know %T", m)
	})
	d.node.Emit(&trace.Event{Kind: trace.Writable, Shard: "config", Term: term})
}

func (d *directory) fetch(t env.Task, req *Fetch) (*Table, error) {
	if !req.Fence {
		copied := d.table
		return &copied, nil
	}
	if err := d.lock.take(t); err != nil {
		return nil, err
	}
	defer d.lock.release()
	return d.write(t, d.table.Ranges)
}

func (d *directory) assign(t env.Task, req *Assign) (*Table, error) {
	if err := d.lock.take(t); err != nil {
		return nil, err
	}
	defer d.lock.release()
	if err := t.Point(SiteTable, env.Note{ID: req.Move}); err != nil {
		return nil, err
	}
	if req.Version != d.table.Version {
		return nil, errcode.New(Refused, "movement %s began with version %d, and the table has %d", req.Move, req.Version, d.table.Version)
	}
	next, err := d.write(t, d.table.with(req.Given))
	if err == nil {
		d.announce("move " + req.Move)
	}
	return next, err
}

// write makes a new version of the table durable.
func (d *directory) write(t env.Task, ranges []Owned) (*Table, error) {
	next := Table{Version: d.table.Version + 1, Ranges: ranges}
	text, err := json.Marshal(next)
	if err != nil {
		panic(fmt.Sprintf("kvstore: the table %v cannot be written: %v", next, err))
	}
	if err := d.node.Disk().Replace(t, tableFile, text); err != nil {
		d.node.Abort("nobody knows whether the table was written: " + err.Error())
		return nil, err
	}
	d.table = next
	return &next, nil
}

// announce tells whoever follows the run what counts from now on.
func (d *directory) announce(why string) {
	term, index := uint64(d.node.Incarnation()), uint64(d.table.Version)
	d.node.Emit(trace.CatalogWrittenEvent{
		Shard: "config", Term: term, Index: index, NS: d.ns, Why: why, Chunks: d.table.Chunks(),
	}.Event())
	d.node.Emit(trace.MajorityEvent{Shard: "config", Term: term, Index: index}.Event())
}

// lock lets one task at a time through. The zero lock is free.
type lock struct {
	taken bool
	free  env.Cond
}

func (l *lock) take(t env.Task) error {
	if err := l.free.WaitFor(t, 0, func() bool { return !l.taken }); err != nil {
		return err
	}
	l.taken = true
	return nil
}

func (l *lock) release() {
	l.taken = false
	l.free.Signal()
}
