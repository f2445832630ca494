package shardstore

import (
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/harness/shardstore/logs"
	"github.com/shardproof/shardproof/harness/target"
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

// NewSurvey makes the node one that asks every member for its state.
func (c *cluster) NewSurvey(node env.Node) target.Survey {
	return &survey{operatorConnection: c.operator(node)}
}

// survey asks every member for its state.
type survey struct {
	operatorConnection
	// cleared is set when orphans were cleaned up, which is done once.
	cleared bool
}

// auditEvery is how often an operator repeats what was refused.
const auditEvery = 200 * time.Millisecond

// Copies asks every member for its state of every collection.
func (s *survey) Copies(t env.Task) (all []endstate.Audit) {
	for _, c := range s.scenario.Collections {
		all = append(all, s.auditOf(t, c.NS, c.Keys).Audit)
	}
	return all
}

// Repair does what an operator of 4.2 has to do after failures: he has orphans deleted, once, and
// drops the stale copies of moves of a primary, whenever there are any.
func (s *survey) Repair(t env.Task) (repaired []string) {
	if p := protocolOf(s.scenario); !s.cleared && !p.PersistsRangeDeletions() {
		repaired = s.clearOrphans(t)
	}
	s.cleared = true
	if p := protocolOf(s.scenario); !p.CoordinatesMovePrimary() {
		repaired = append(repaired, s.dropStale(t)...)
	}
	s.leaked = s.leaked || len(repaired) > 0
	return repaired
}

// Statistics adds up the counters of all members of all shards, and has them judged, and so what
// the config server has recorded.
func (s *survey) Statistics(t env.Task) map[string]int64 {
	s.readLogs()
	sum := make(map[string]int64)
	for _, name := range s.Topology().ShardNames() {
		for _, id := range s.Members(name) {
			reply, err := rpc.Call[command.ShardingStatisticsReply](t, s.ep, id,
				&command.ShardingStatistics{}, s.settings.CommandTimeout)
			if err != nil {
				continue
			}
			own := make(map[string]int64, len(reply.Values))
			for _, v := range reply.Values {
				own[v.Name] = v.Count
				sum[v.Name] += v.Count
			}
			s.oracle.Statistics(string(id), own)
		}
	}
	return sum
}

// readLogs has what the config server keeps for operators to read judged.
func (s *survey) readLogs() {
	m := s.Member(s.Primary(configsvr.Name))
	if m == nil {
		return
	}
	most, limited := 0, true
	for _, v := range s.valuesOfSettings() {
		most, limited = max(most, v.ActionRecords), limited && v.ActionRecords > 0
	}
	if !limited {
		most = 0
	}
	s.oracle.Changelog(logs.Changelog(m.Store()), logs.Actions(m.Store()), most)
}

// audited is the state of the cluster for one collection.
type audited struct {
	endstate.Audit
	key key.Pattern
}

// auditOf asks every member for its state of one collection.
func (o operatorConnection) auditOf(t env.Task, ns string, keys int) audited {
	a := audited{Audit: endstate.Audit{
		NS: ns, Keys: keys, SameSince: o.oracle.SameSince(ns),
		Show: func(of string) string { return key.Key(of).String() },
	}}
	table, err := o.Catalog(ns)
	if err != nil {
		return a // without a table the audit fails
	}
	a.key, a.UUID, a.Table = table.Collection().Key, table.Collection().UUID, chunkRows(table)
	a.Options, a.Described = o.chosenOptions(), described()
	a.Unsharded, a.Index = table.Collection().Unsharded, indexName
	a.Copied = o.oracle.Copied(ns)
	for _, id := range o.Members(configsvr.Name) {
		m := o.configMember(id)
		if coll := table.Collection(); m.Primary && !coll.Unsharded && !coll.AllowMigrations {
			m.Leftovers = append(m.Leftovers, "forbidden the migrations of "+ns)
		}
		a.Members = append(a.Members, m)
	}
	for _, name := range o.Topology().ShardNames() {
		for _, id := range o.Members(name) {
			reply, err := rpc.Call[command.AuditReply](t, o.ep, id, &command.Audit{NS: ns},
				o.settings.CommandTimeout)
			if err != nil {
				a.Members = append(a.Members,
					endstate.Member{Shard: name, Node: string(id), Unreachable: true})
				continue
			}
			m := a.member(reply)
			if data := o.Member(id); data != nil {
				options, _ := data.Store().Options(ns)
				m.Options = store.ChosenOptions(options).String()
			}
			m.Outside = o.oracle.Cluster().Knows() && !o.oracle.Cluster().Has(name)
			a.Members = append(a.Members, m)
		}
	}
	return a
}

// chosenOptions are those with which the scenario's collections begin, by their UUID.
func (c *cluster) chosenOptions() map[string]string {
	of := map[string]string{}
	for _, one := range collections(c.scenario) {
		of[one.UUID()] = one.Options.String()
	}
	return of
}

func (c *cluster) configMember(id env.NodeID) endstate.Member {
	m := c.Member(id)
	if m == nil {
		return endstate.Member{Shard: configsvr.Name, Node: string(id), Unreachable: true}
	}
	return endstate.Member{
		Shard:     configsvr.Name,
		Node:      string(id),
		Primary:   m.IsPrimary(),
		Applied:   m.Applied().String(),
		Checksum:  m.Store().Checksum(store.Latest),
		Leftovers: configLeftovers(m.Store()),
	}
}

// configLeftovers are the records of a config member by which a later primary would go on with
// something: nothing is under way that needs one.
func configLeftovers(data *store.Store) (left []string) {
	for _, of := range []struct{ ns, what string }{
		{configsvr.Operations, "operation on a collection"},
		{configsvr.Migrations, "migration"},
		{configsvr.Locks, "lock"},
	} {
		data.Scan(of.ns, store.Latest, func(_ string, doc bson.Raw) bool {
			left = append(left, of.what+" "+doc.String())
			return true
		})
	}
	return left
}

// member is a shard member's answer in the checkers' terms.
func (a *audited) member(reply *command.AuditReply) endstate.Member {
	m := endstate.Member{
		Shard:    reply.Shard,
		Node:     reply.Node,
		Primary:  reply.Writable,
		Applied:  reply.Applied.String(),
		Checksum: reply.Checksum,
		Known:    reply.Known,
		Major:    reply.Version.Major,
		Epoch:    reply.Version.Epoch,
		Sections: reply.CriticalSections,
		Cursors:  reply.OpenCursors,
		UUID:     reply.UUID,
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
			panic(fmt.Sprintf("shardstore: a range deletion cannot be read: %s: %v", doc, err))
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
		panic(fmt.Sprintf("shardstore: a stored document has no shard key: %s: %v", doc, err))
	}
	r := found(doc)
	return endstate.Document{Shard: string(k), Key: numberOf(doc), Value: r.Value, List: r.List}
}

func chunkRows(table *catalog.Table) []trace.Chunk {
	var rows []trace.Chunk
	for c := range table.Chunks() {
		row := trace.Chunk{
			Min:   string(c.Min),
			Max:   string(c.Max),
			Shard: c.Shard,
			Major: c.Version.Major,
			Minor: c.Version.Minor,
			Epoch: c.Version.Epoch,
		}
		for _, h := range c.History {
			row.History = append(row.History,
				trace.Placement{ValidAfter: uint64(h.ValidAfter), Shard: h.Shard})
		}
		rows = append(rows, row)
	}
	return rows
}

// dropStale is what an operator does after moves of a primary in 4.2 that ended half way
// (invariants 20.1): shards that are not the primary of the database drop what they still have of
// its unsharded collections. It returns a sentence for each copy that was dropped.
func (o operatorConnection) dropStale(t env.Task) (repaired []string) {
	for i := range o.scenario.Collections {
		c := &o.scenario.Collections[i]
		if !o.unsharded(c) {
			continue
		}
		table, err := o.Catalog(c.NS)
		if err != nil {
			continue // the audit finds that, too
		}
		for _, name := range o.Topology().ShardNames() {
			if table.Shards()[0] != name && o.hasUnsharded(name, c.NS) && o.dropOn(t, name, c.NS) {
				repaired = append(repaired,
					fmt.Sprintf("a stale copy of %s was dropped on %s", c.NS, name))
			}
		}
	}
	return repaired
}

// hasUnsharded reports whether a shard has the collection, and not as a sharded one.
func (o operatorConnection) hasUnsharded(name, ns string) bool {
	member := o.Member(o.Primary(name))
	if member == nil {
		return false
	}
	pattern, exists := member.Store().Pattern(ns, store.Latest)
	return exists && pattern.Unsharded
}

// dropOn drops a collection on one shard; what is left then, the audit finds.
func (o operatorConnection) dropOn(t env.Task, name, ns string) bool {
	primary := o.Primary(name)
	member := o.Member(primary)
	if member == nil {
		return false
	}
	options, exists := member.Store().Options(ns)
	if !exists {
		return false
	}
	drop := &command.DropClonedData{
		Lsid:        operatorSession,
		Txn:         1,
		Collections: []command.UnshardedCollection{{NS: ns, Options: options}},
	}
	_, err := rpc.Call[command.Done](t, o.ep, primary, drop, o.settings.CommandTimeout)
	return err == nil
}

// operatorSession is the session in which operators drop stale copies.
const operatorSession = "auditor.0"
