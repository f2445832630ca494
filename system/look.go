package system

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/migration"
	"github.com/shardproof/shardproof/system/moveprimary"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/router"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// Topology is the size of the cluster.
func (c *Cluster) Topology() Topology { return c.topology }

// Settings are those the cluster reads.
func (c *Cluster) Settings() *settings.Settings { return c.settings }

// SettingsOf are those of a server's newest process, nil before its first.
func (c *Cluster) SettingsOf(id env.NodeID) *settings.Settings { return c.adjusted[id] }

// Sets lists the replica sets: the config server first, then the shards.
func (c *Cluster) Sets() []string { return c.sets }

// Members are the nodes of a replica set, not to be changed.
func (c *Cluster) Members(set string) []env.NodeID { return c.nodes[set] }

// Time is the newest cluster time that a replica set has given to an entry.
func (c *Cluster) Time() (now hlc.Timestamp) {
	for _, id := range c.Servers() {
		if m := c.Member(id); m != nil {
			now = max(now, m.AppliedTS())
		}
	}
	return now
}

// Servers lists the nodes of all servers: config members, shard members, routers.
func (c *Cluster) Servers() []env.NodeID {
	var all []env.NodeID
	for _, set := range c.Sets() {
		all = append(all, c.nodes[set]...)
	}
	return append(all, c.topology.RouterNodes()...)
}

// Member is the running process of a replica set's member, nil while it is down or recovering.
func (c *Cluster) Member(id env.NodeID) *replset.Member {
	if !c.serves(id) {
		return nil
	}
	return c.members[id]
}

// serves reports whether the process of a node that booted last still runs.
func (c *Cluster) serves(id env.NodeID) bool {
	n := c.booted[id]
	return n != nil && n == c.world.Node(id)
}

// Router is the running process of a router, nil while it is down.
func (c *Cluster) Router(id env.NodeID) *router.Router {
	if !c.serves(id) {
		return nil
	}
	return c.routers[id]
}

// Primary is the member of a replica set that leads in the newest term, writable or not yet; empty
// when none does.
func (c *Cluster) Primary(set string) env.NodeID {
	var primary env.NodeID
	var term uint64
	for _, id := range c.nodes[set] {
		if m := c.Member(id); m != nil && m.Leading() && m.Term() > term {
			primary, term = id, m.Term()
		}
	}
	return primary
}

// Ready reports whether every replica set has a primary that accepts writes.
func (c *Cluster) Ready() bool {
	for _, set := range c.Sets() {
		if m := c.Member(c.Primary(set)); m == nil || !m.IsPrimary() {
			return false
		}
	}
	return true
}

// Catalog is the routing table of a collection as majority-committed on the config server's
// primary.
func (c *Cluster) Catalog(ns string) (*catalog.Table, error) {
	m := c.Member(c.Primary(configsvr.Name))
	if m == nil {
		return nil, errcode.New(errcode.NotWritablePrimary, "the config server has no primary")
	}
	return c.tables.Read(m.Store(), ns, m.Committed().Index)
}

// Tables reads the routing tables that members of the config server have on disk.
func (c *Cluster) Tables() *configsvr.TableReader { return &c.tables }

// leftoverNamespaces are the namespaces of shards that are empty when no migration, no range
// deletion and no movePrimary is in progress.
var leftoverNamespaces = []string{
	migration.CoordinatorsNS, migration.RecipientsNS, rangedel.Namespace, shard.SectionsNS,
	moveprimary.Namespace,
}

// Look is what a running member of a shard holds of a collection, in memory and on disk; nil while
// it is down or recovering.
func (c *Cluster) Look(id env.NodeID, ns string) *command.AuditReply {
	if server := c.shards[id]; server != nil && c.Member(id) != nil {
		return server.Look(ns)
	}
	return nil
}

// Counters are the counters of a running member of a shard; nil while it is down or recovering.
func (c *Cluster) Counters(id env.NodeID) *command.ShardingStatisticsReply {
	if server := c.shards[id]; server != nil && c.Member(id) != nil {
		return server.Counters()
	}
	return nil
}

// ConfigTime is the newest config time that a running member of a shard knows; 0 while it is down
// or recovering.
func (c *Cluster) ConfigTime(id env.NodeID) hlc.Timestamp {
	if server := c.shards[id]; server != nil && c.Member(id) != nil {
		return server.Clock().Now().Config
	}
	return 0
}

// Receiving reports whether a running member of a shard remembers that it receives keys of a range,
// or has received them without knowing yet that it owns the range.
func (c *Cluster) Receiving(id env.NodeID, ns string, r key.Range) bool {
	server := c.shards[id]
	return server != nil && c.Member(id) != nil && server.Collection(ns).Receiving(r)
}

// Leaving reports whether a member goes by its shard's consent to leave the cluster.
func (c *Cluster) Leaving(id env.NodeID) bool {
	server := c.shards[id]
	return server != nil && c.Member(id) != nil && server.Leaving()
}

// Outstanding says in a sentence each what the cluster still has to do before it is quiescent:
// members that are down, lag or disagree on their primary, migrations to complete, ranges to
// delete, chunks of dropped collections. It is empty for a quiescent cluster.
func (c *Cluster) Outstanding() []string {
	var left []string
	for _, set := range c.Sets() {
		left = append(left, c.unequal(set)...)
	}
	return append(left, c.Unfinished()...)
}

// Unfinished lists what is on record of migrations, range deletions, operations on collections and
// moves of primaries, and replica sets that cannot tell. It is empty when nothing is in progress.
func (c *Cluster) Unfinished() (left []string) {
	for _, set := range c.Sets() {
		if m := c.Member(c.Primary(set)); m == nil || !m.IsPrimary() {
			left = append(left, set+" has no primary that accepts writes")
		}
	}
	left = append(left, c.leftover(configsvr.Name, configsvr.Migrations, configsvr.Locks,
		configsvr.Operations)...)
	left = append(left, c.strayChunks()...)
	for _, name := range c.topology.ShardNames() {
		left = append(left, c.leftover(name, leftoverNamespaces...)...)
		left = append(left, c.unrecorded(name)...)
	}
	return left
}

// strayChunks counts the chunks in the catalog whose collection is not in it: a drop takes both out
// in one entry, and no reader of a collection's table would ever notice what stays.
func (c *Cluster) strayChunks() []string {
	primary := c.Member(c.Primary(configsvr.Name))
	if primary == nil {
		return nil
	}
	known := map[string]bool{}
	primary.Store().Scan(configsvr.Collections, store.Latest, func(_ string, doc bson.Raw) bool {
		uuid, _ := doc.Lookup("uuid").StringValueOK()
		known[uuid] = true
		return true
	})
	stray := 0
	primary.Store().Scan(configsvr.Chunks, store.Latest, func(_ string, doc bson.Raw) bool {
		if uuid, _ := doc.Lookup("uuid").StringValueOK(); !known[uuid] {
			stray++
		}
		return true
	})
	if stray == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s has chunks of no collection: %d", configsvr.Name, stray)}
}

// leftover lists the namespaces that are not empty on a replica set's primary.
func (c *Cluster) leftover(set string, namespaces ...string) (left []string) {
	primary := c.Member(c.Primary(set))
	if primary == nil {
		return nil
	}
	for _, ns := range namespaces {
		if n := primary.Store().Count(ns, store.Latest); n > 0 {
			left = append(left, fmt.Sprintf("%s has documents left in %s: %d%s",
				set, ns, n, idsIn(primary.Store(), ns)))
		}
	}
	return left
}

// idsIn names the first documents of a collection by their _id, where that is a text: of records of
// migrations it names the migration.
func idsIn(data *store.Store, ns string) string {
	const most = 3
	var ids []string
	data.Scan(ns, store.Latest, func(_ string, doc bson.Raw) bool {
		if id, ok := doc.Lookup("_id").StringValueOK(); ok {
			ids = append(ids, id)
		}
		return len(ids) < most
	})
	if len(ids) == 0 {
		return ""
	}
	return " (" + strings.Join(ids, ", ") + ")"
}

// unrecorded is what a primary has in progress and may have no documents of: in 4.2 nearly
// everything, in 8.0 what has just begun, such as a movePrimary that refuses writes already.
func (c *Cluster) unrecorded(set string) (left []string) {
	server := c.shards[c.Primary(set)]
	if server == nil {
		return nil
	}
	for _, what := range server.Busy() {
		left = append(left, set+": "+what)
	}
	return left
}

// unequal lists what keeps the members of a replica set from being equal.
func (c *Cluster) unequal(set string) []string {
	primary := c.Member(c.Primary(set))
	if primary == nil || !primary.IsPrimary() {
		return []string{set + " has no primary that accepts writes"}
	}
	var left []string
	for _, id := range c.nodes[set] {
		switch m := c.Member(id); {
		case m == nil:
			left = append(left, string(id)+" is not running")
		case m.Applied() != primary.Applied():
			left = append(left, fmt.Sprintf("%s has applied up to %v, its primary up to %v",
				id, m.Applied(), primary.Applied()))
		case m.Committed() != primary.Applied():
			left = append(left, fmt.Sprintf("%s knows the log to be committed up to %v of %v",
				id, m.Committed(), m.Applied()))
		}
	}
	return left
}

// Audit asks every member of every shard for its state, from a node of the harness.
func (c *Cluster) Audit(t env.Task, ep *rpc.Endpoint, ns string) ([]command.AuditReply, error) {
	var all []command.AuditReply
	for _, name := range c.topology.ShardNames() {
		for _, id := range c.nodes[name] {
			reply, err := rpc.Call[command.AuditReply](t, ep, id, &command.Audit{NS: ns},
				c.settings.CommandTimeout)
			if err != nil {
				return nil, errcode.New(errcode.Of(err), "the audit of %s failed: %v", id, err)
			}
			all = append(all, *reply)
		}
	}
	return all, nil
}

// ConfigDocuments are the documents of a namespace of the config server as each of its running
// members has them, in the order of the members.
func (c *Cluster) ConfigDocuments(ns string) [][]bson.Raw {
	var all [][]bson.Raw
	for _, id := range c.nodes[configsvr.Name] {
		var docs []bson.Raw
		if m := c.Member(id); m != nil {
			m.Store().Scan(ns, store.Latest, func(_ string, doc bson.Raw) bool {
				docs = append(docs, doc)
				return true
			})
		}
		all = append(all, docs)
	}
	return all
}
