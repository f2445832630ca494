package shardstore

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/harness/debugger/timeline"
	"github.com/shardproof/shardproof/harness/shardstore/logs"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/replset"
)

var _ timeline.Source = (*cluster)(nil)

// Frame is the state of the cluster now.
func (c *cluster) Frame() *timeline.Frame {
	f := &timeline.Frame{}
	for _, coll := range c.scenario.Collections {
		f.Catalog = append(f.Catalog, c.placement(coll))
	}
	for _, set := range c.Sets() {
		for _, id := range c.Members(set) {
			f.Nodes = append(f.Nodes, c.memberAt(set, id))
		}
	}
	for _, id := range c.Topology().RouterNodes() {
		f.Nodes = append(f.Nodes, c.routerAt(id))
	}
	return f
}

func (c *cluster) placement(coll scenario.Collection) timeline.Placement {
	p := timeline.Placement{NS: coll.NS, Share: coll.Share}
	table, err := c.Catalog(coll.NS)
	if err != nil {
		p.Wrong = err.Error()
		return p
	}
	p.Hashed = table.Collection().Key.Hashed
	p.Chunks = chunkRows(table)
	return p
}

func (c *cluster) memberAt(set string, id env.NodeID) timeline.Node {
	n := timeline.Node{Name: string(id), Set: set}
	m := c.Member(id)
	if m == nil {
		return n
	}
	n.Up, n.Leading, n.Writable, n.Term = true, m.Leading(), m.IsPrimary(), m.Term()
	n.Applied, n.Committed = m.Applied().String(), m.Committed().String()
	if set == configsvr.Name {
		return n
	}
	for i, coll := range c.scenario.Collections {
		a := c.Look(id, coll.NS)
		if a == nil {
			continue
		}
		n.Knows = append(n.Knows, belief(set, coll.NS, a))
		if i == 0 { // the rest is about all collections
			n.Doing = append(a.ActiveMigrations, a.OutstandingTasks...)
			n.Records, n.Cursors = onRecord(a), a.OpenCursors
		}
	}
	return n
}

func belief(set, ns string, a *command.AuditReply) timeline.Belief {
	b := timeline.Belief{
		NS:        ns,
		Known:     a.Known,
		Owned:     timeline.Chunks(set, a.Owned),
		Sections:  a.CriticalSections,
		Documents: a.Documents,
	}
	if a.Known {
		b.Version = a.Version.String()
	}
	return b
}

// onRecord are a member's durable documents of migrations and range deletions.
func onRecord(a *command.AuditReply) (all []string) {
	for _, doc := range a.RangeDeletions {
		k, err := rangedel.Decode(doc)
		if err != nil {
			panic(fmt.Sprintf("shardstore: a range deletion cannot be read: %s: %v", doc, err))
		}
		state := "ready"
		switch {
		case k.Pending:
			state = "pending"
		case k.Processing:
			state = "processing"
		}
		all = append(all, fmt.Sprintf("range deletion %s %s %s: %s, %d orphans",
			k.Migration, k.NS, k.Range(), state, k.Orphans))
	}
	for _, of := range []struct {
		what string
		docs []bson.Raw
	}{{"coordinator of", a.Coordinators}, {"recipient of", a.Recipients}} {
		for _, doc := range of.docs {
			all = append(all, recorded(of.what, doc))
		}
	}
	return all
}

func recorded(what string, doc bson.Raw) string {
	id, _ := doc.Lookup("_id").StringValueOK()
	text := what + " " + id
	if decision, ok := doc.Lookup("decision").StringValueOK(); ok {
		text += ", decision " + decision
	}
	return text
}

func (c *cluster) routerAt(id env.NodeID) timeline.Node {
	n := timeline.Node{Name: string(id), Set: timeline.Router}
	at := c.Router(id)
	if at == nil {
		return n
	}
	n.Up = true
	for _, coll := range c.scenario.Collections {
		b := timeline.Belief{NS: coll.NS}
		if table := at.Table(coll.NS); table != nil {
			b.Known, b.Version, b.Owned = true, table.Version().String(), chunkRows(table)
		}
		n.Knows = append(n.Knows, b)
	}
	return n
}

// parts are what a member does for migrations.
func (c *cluster) parts(node string) (all []oracle.Part) {
	look := c.Look(env.NodeID(node), "")
	if look == nil {
		return nil
	}
	for _, what := range slices.Concat(look.ActiveMigrations, look.OutstandingTasks) {
		role, rest, _ := strings.Cut(what, " of ")
		switch role {
		case oracle.Donates, oracle.Receives, oracle.Recovers:
			migration, _, _ := strings.Cut(rest, " ")
			all = append(all, oracle.Part{Role: role, Migration: migration})
		}
	}
	return all
}

// takesPart are the migrations of which a member is the donor or the recipient, in words.
func (c *cluster) takesPart(node string) (in []string) {
	for _, p := range c.parts(node) {
		if p.Role != oracle.Recovers {
			in = append(in, p.Role+" of "+p.Migration)
		}
	}
	return in
}

// lastOf is the index of the newest entry in the log of a node, 0 while it is down.
func (c *cluster) lastOf(node string) uint64 {
	if m := c.Member(env.NodeID(node)); m != nil {
		return m.Applied().Index
	}
	return 0
}

// startsToReceive has the range judged that a donor tells its recipient to receive.
func (c *cluster) startsToReceive(m *replset.Member, req *command.RecvChunkStart) {
	if req.Throttle.W > 1 {
		c.oracle.Throttled(req.Migration)
	}
	after, told, limited := c.admission.Cloning(req.Migration)
	if !limited {
		return
	}
	documents, smallest, known := logs.Untouched(
		m, req.NS, key.Range{Min: req.Min, Max: req.Max}, after)
	if known {
		c.admission.HandsOver(req.From, req.Migration, req.NS, documents,
			c.mostDocuments(told, smallest))
	}
}

// mostDocuments is how many documents a chunk has room for at most, by any of the settings, if no
// document of the collection is much smaller than the smallest (errata E9). Told is the size of
// chunks that the request names, 0 for none.
func (c *cluster) mostDocuments(told int64, smallest int) (most int64) {
	for _, s := range c.valuesOfSettings() {
		bytes := told
		if told == 0 {
			bytes = int64(s.MaxChunkBytes)
		}
		full := max(1, bytes/max(1, int64(smallest)*4/5))
		most = max(most, full*int64(protocolOf(c.scenario).JumboSlack())/100)
	}
	return most
}
