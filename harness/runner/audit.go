package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/store"
)

// auditor is the node that asks every member for its state at the end.
const auditor env.NodeID = "auditor.0"

// audited is the state of the cluster for one collection.
type audited struct {
	endstate.Audit
	key key.Pattern
}

// audit collects the state at the end, when all is at rest or the time is up.
func (r *run) audit() {
	if r.world.Err() != nil {
		return
	}
	r.unfinished = append(r.unfinished, r.undone()...)
	if len(r.unfinished) > 0 {
		r.waiting = slices.DeleteFunc(r.world.Waiting(), resting)
	}
	done := false
	r.world.AddNode(auditor, func(t env.Task) {
		ep, sets := r.cluster.Operator(t.Node())
		if !protocolOf(r.scenario).PersistsRangeDeletions() {
			r.leaked = r.clearOrphans(t, ep, sets)
		}
		for r.audits = r.auditAll(t, ep); !r.clean() && t.Sleep(auditEvery) == nil; {
			r.audits = r.auditAll(t, ep)
		}
		r.countStatistics(t, ep)
		done = true
	})
	r.world.Run(func() bool { return done }, max(r.deadline, r.world.Now()).Add(readyLimit))
	if !done && r.world.Err() == nil {
		r.unfinished = append(r.unfinished, "the final audit got no answer")
	}
}

// undone names everything that should have ended by now.
func (r *run) undone() []string {
	var undone []string
	for i := range r.record.ops {
		if op := &r.record.ops[i]; op.Return == 0 {
			undone = append(undone, fmt.Sprintf("operation %d of client %d (%s %s k=%d), called at %s",
				op.ID, op.Client, op.Kind, op.NS, op.Key, time.Duration(op.CallAt)))
		}
	}
	if r.world.Steps() >= stepBudget {
		undone = append(undone, fmt.Sprintf("the run, within %d steps", stepBudget))
	}
	undone = append(undone, slices.Sorted(maps.Keys(r.busy))...)
	return append(undone, r.cluster.Outstanding()...)
}

// resting says of a task that it waits for as long as its node lives.
func resting(task string) bool { return strings.Contains(task, ": journal is parked") }

// auditEvery is how often the audit is repeated while something is left over, such as a cursor that a lost scan left open.
const auditEvery = 200 * time.Millisecond

func (r *run) auditAll(t env.Task, ep *rpc.Endpoint) (all []audited) {
	if !protocolOf(r.scenario).CoordinatesMovePrimary() && r.dropStale(t, ep) {
		r.leaked = true
	}
	for _, c := range r.scenario.Collections {
		all = append(all, r.auditOf(t, ep, c.NS, c.Keys))
	}
	return all
}

// clean is true when nothing is left that could go with time, or the time is up.
func (r *run) clean() bool {
	if r.world.Now() >= r.deadline {
		return true
	}
	for _, a := range r.audits {
		applied := make(map[string]string)
		for _, m := range a.Members {
			// The members are asked one after the other, and a server may still write to its log for itself.
			lags := applied[m.Shard] != "" && applied[m.Shard] != m.Applied
			if m.Unreachable || lags || m.Cursors+len(m.Leftovers)+len(m.Sections) > 0 {
				return false
			}
			applied[m.Shard] = m.Applied
		}
	}
	return true
}

func (r *run) auditOf(t env.Task, ep *rpc.Endpoint, ns string, keys int) audited {
	a := audited{Audit: endstate.Audit{
		NS: ns, Keys: keys, Final: r.finalOf(ns), Whole: r.wholeOf(ns), Reshaped: r.raises(),
	}}
	table, err := r.cluster.Catalog(ns)
	if err != nil {
		return a // without a table the audit fails
	}
	a.key, a.UUID, a.Table = table.Collection().Key, table.Collection().UUID, ChunkRows(table)
	for _, id := range r.cluster.Topology().MembersOf(configsvr.Name) {
		a.Members = append(a.Members, r.configMember(id))
	}
	for _, name := range r.cluster.Topology().ShardNames() {
		for _, id := range r.cluster.Topology().MembersOf(name) {
			reply, err := rpc.Call[command.AuditReply](t, ep, id, &command.Audit{NS: ns}, r.settings.CommandTimeout)
			if err != nil {
				a.Members = append(a.Members, endstate.Member{Shard: name, Node: string(id), Unreachable: true})
				continue
			}
			a.Members = append(a.Members, a.member(reply))
		}
	}
	return a
}

// finalOf are the operations of the last pass on a collection.
func (r *run) finalOf(ns string) (ops []histories.Op) {
	if len(r.scenario.Collections) == 1 {
		return r.final
	}
	for _, op := range r.final {
		if op.NS == ns {
			ops = append(ops, op)
		}
	}
	return ops
}

// wholeOf are the operations on a collection as a whole.
func (r *run) wholeOf(ns string) (ops []histories.Op) {
	for _, op := range r.record.ops {
		if (op.NS == ns || op.Into == ns) && op.Kind.Whole() {
			ops = append(ops, op)
		}
	}
	return ops
}

func (r *run) configMember(id env.NodeID) endstate.Member {
	m := r.cluster.Member(id)
	if m == nil {
		return endstate.Member{Shard: configsvr.Name, Node: string(id), Unreachable: true}
	}
	return endstate.Member{
		Shard: configsvr.Name, Node: string(id), Primary: m.IsPrimary(), Applied: m.Applied().String(),
		Checksum: m.Store().Checksum(store.Latest),
	}
}

// member is a shard member's answer in the checkers' terms.
func (a *audited) member(reply *command.AuditReply) endstate.Member {
	m := endstate.Member{
		Shard: reply.Shard, Node: reply.Node, Primary: reply.Writable, Applied: reply.Applied.String(), Checksum: reply.Checksum,
		Known: reply.Known, Major: reply.Version.Major, Epoch: reply.Version.Epoch, Sections: reply.CriticalSections,
		Cursors: reply.OpenCursors, UUID: reply.UUID,
	}
	for _, i := range reply.Indexes {
		m.Indexes = append(m.Indexes, i.Name+" "+i.Doc.String())
	}
	for _, o := range reply.Owned {
		m.Owned = append(m.Owned, endstate.Range{Min: string(o.Min), Max: string(o.Max)})
	}
	m.Tasks = a.tasks(reply.RangeDeletions)
	for _, doc := range reply.Documents {
		m.Documents = append(m.Documents, a.document(doc))
	}
	leave := func(what string, docs []bson.Raw) {
		for _, doc := range docs {
			m.Leftovers = append(m.Leftovers, what+" "+doc.String())
		}
	}
	leave("migration coordinator", reply.Coordinators)
	leave("range deletion", reply.RangeDeletions)
	leave("migration recipient", reply.Recipients)
	for _, id := range reply.ActiveMigrations {
		m.Leftovers = append(m.Leftovers, "active migration "+id)
	}
	for _, task := range reply.OutstandingTasks {
		m.Leftovers = append(m.Leftovers, "task "+task)
	}
	return m
}

// tasks are the range deletions of the collection that wait for nothing but their turn.
func (a *audited) tasks(docs []bson.Raw) (all []endstate.Task) {
	for _, doc := range docs {
		k, err := rangedel.Decode(doc)
		if err != nil {
			panic(fmt.Sprintf("harness: a range deletion cannot be read: %s: %v", doc, err))
		}
		if k.NS == a.NS && !k.Pending {
			r := endstate.Range{Min: string(k.Min), Max: string(k.Max)}
			all = append(all, endstate.Task{ID: k.Migration, Range: r, Orphans: k.Orphans})
		}
	}
	return all
}

func (a *audited) document(doc bson.Raw) endstate.Document {
	k, err := a.key.Of(doc)
	if err != nil {
		panic(fmt.Sprintf("harness: a stored document has no shard key: %s: %v", doc, err))
	}
	r := found(doc)
	return endstate.Document{Shard: string(k), Key: numberOf(doc), Value: r.Value, List: r.List}
}

// ChunkRows is a routing table as events write it.
func ChunkRows(table *catalog.Table) []trace.Chunk {
	var rows []trace.Chunk
	for c := range table.Chunks() {
		row := trace.Chunk{
			Min: string(c.Min), Max: string(c.Max), Shard: c.Shard, Major: c.Version.Major, Minor: c.Version.Minor, Epoch: c.Version.Epoch,
		}
		for _, h := range c.History {
			row.History = append(row.History, trace.Placement{ValidAfter: uint64(h.ValidAfter), Shard: h.Shard})
		}
		rows = append(rows, row)
	}
	return rows
}
