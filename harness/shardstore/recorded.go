package shardstore

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/facts"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// setFields are the fields that operators set in a document of the config server, by their text.
// One that is null, false or zero is not there.
type setFields map[string]string

// recorded is that a document of the config server has what a command sets, and all else as before
// (protocol 2.1, 14.3). There is a fact for each field and one for the whole document: of commands
// at the same time that set different fields, nobody knows the whole.
func (c *cluster) recorded(req env.Message) []*facts.Fact {
	switch r := req.(type) {
	case *command.PutSetting:
		return expectDocument(configsvr.Settings, r.ID, r.Doc, c.settingOf)
	case *command.ConfigureCollectionBalancing:
		return expectDocument(configsvr.Collections, r.NS, changesOf(r), c.balancingOf)
	}
	return nil
}

// expectDocument: a member that lags may have been the one to carry the command out, so what any
// member says counts. Of a document that no member has nothing is expected, nor while too few run:
// it may be on one that does not.
func expectDocument(
	ns, id string, set bson.Raw, read func(id string) []setFields,
) (all []*facts.Fact) {
	var wanted []setFields
	for _, before := range read(id) {
		wanted = append(wanted, before.with(set))
	}
	expect := func(what, record string, same func(got, want setFields) bool) {
		all = append(all, facts.Recorded(what, record, func() bool {
			now := read(id)
			return len(wanted) == 0 || len(now) == 0 || slices.ContainsFunc(now,
				func(got setFields) bool {
					return slices.ContainsFunc(wanted,
						func(want setFields) bool { return same(got, want) })
				})
		}))
	}
	document := fmt.Sprintf("the document %s of %s", id, ns)
	named := setFields{}.named(set)
	whole := fmt.Sprintf("%s has %v, and all else as before", document, named)
	switch {
	case len(set) == 0:
		whole = document + " is gone"
	case len(named) == 0:
		whole = document + " has everything as before but its mode"
	}
	expect(whole, ns+" "+id, func(got, want setFields) bool {
		return got.equal(want) || !slices.ContainsFunc(wanted, got.sameIncarnation)
	})
	for _, field := range slices.Sorted(maps.Keys(named)) {
		expect(fmt.Sprintf("%s has %v", document, setFields{field: named[field]}),
			ns+" "+id+" "+field,
			func(got, want setFields) bool { return got.has(field, want[field]) })
	}
	return all
}

// ownFields mean the mode, which is judged otherwise, or are the balancer's own.
var ownFields = []string{"_id", "mode", "stopped", "closed"}

// with is the document after some of its fields were set; with none, it is gone.
func (s setFields) with(doc bson.Raw) setFields {
	named := setFields{}.named(doc)
	if len(doc) == 0 {
		return named
	}
	next := maps.Clone(s)
	maps.Copy(next, named)
	maps.DeleteFunc(next, func(_, text string) bool { return text == "" })
	return next
}

// named are the fields that a document sets, with "" for those that it removes.
func (s setFields) named(doc bson.Raw) setFields {
	elements, err := doc.Elements()
	if len(doc) == 0 || err != nil {
		return s
	}
	for _, e := range elements {
		if !slices.Contains(ownFields, e.Key()) {
			s[e.Key()] = textOf(e.Value())
		}
	}
	return s
}

// String is like "chunkBytes=100, no defragment".
func (s setFields) String() string {
	var all []string
	for _, field := range slices.Sorted(maps.Keys(s)) {
		if s[field] == "" {
			all = append(all, "no "+field)
		} else {
			all = append(all, field+"="+s[field])
		}
	}
	return strings.Join(all, ", ")
}

// textOf is a value's text, whatever the order of its fields; "" for nothing.
func textOf(v bson.RawValue) string {
	on, isBool := v.BooleanOK()
	n, isNumber := v.AsInt64OK()
	switch {
	case v.Type == bson.TypeNull || isBool && !on || isNumber && n == 0:
		return ""
	case isNumber:
		return strconv.FormatInt(n, 10)
	}
	doc, isDocument := v.DocumentOK()
	if !isDocument {
		return v.String()
	}
	elements, _ := doc.Elements()
	var all []string
	for _, e := range elements {
		all = append(all, e.Key()+"="+e.Value().String())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// has reports whether a field has a text. Defragmentation ends by itself.
func (s setFields) has(field, want string) bool {
	return s[field] == want || field == defragments && s[field] == ""
}

// sameIncarnation reports whether two documents are of one collection: one that was renamed to the
// name meanwhile has what was set of it under its former name.
func (s setFields) sameIncarnation(as setFields) bool { return s[incarnation] == as[incarnation] }

func (s setFields) equal(want setFields) bool {
	for _, of := range []setFields{s, want} {
		for _, field := range slices.Sorted(maps.Keys(of)) {
			if !s.has(field, want[field]) {
				return false
			}
		}
	}
	return true
}

// configCopies are the documents of a namespace on each member of the config server that runs; none
// if these are no majority.
func (c *cluster) configCopies(ns string) (all [][]bson.Raw) {
	copies := c.ConfigDocuments(ns)
	for i, id := range c.Members(configsvr.Name) {
		if c.Member(id) != nil {
			all = append(all, copies[i])
		}
	}
	if 2*len(all) <= len(copies) {
		return nil
	}
	return all
}

// settingOf is a document of config.settings as each running member has it.
func (c *cluster) settingOf(id string) (all []setFields) {
	for _, docs := range c.configCopies(configsvr.Settings) {
		s := setFields{}
		for _, doc := range docs {
			if name, _ := doc.Lookup("_id").StringValueOK(); name == id {
				s = s.with(doc)
			}
		}
		all = append(all, s)
	}
	return all
}

// balancingOf is what operators have set of a collection, as each member has it that knows it.
func (c *cluster) balancingOf(ns string) (all []setFields) {
	for _, docs := range c.configCopies(configsvr.Collections) {
		for _, doc := range docs {
			coll, err := catalog.DecodeCollection(doc)
			if err == nil && coll.NS == ns {
				b := coll.Balancing
				s := setFields{incarnation: coll.UUID}
				all = append(all, s.with(balancingDoc(
					&b.NoBalance, &b.ChunkBytes, &b.Defragment, &b.NoAutoMerge)))
			}
		}
	}
	return all
}

const (
	// defragments is a field that servers may reset.
	defragments = "defragment"
	incarnation = "uuid"
)

// changesOf is what a command sets.
func changesOf(r *command.ConfigureCollectionBalancing) bson.Raw {
	return balancingDoc(negated(r.Enabled), r.ChunkBytes, r.Defragment, negated(r.AutoMerge))
}

func negated(b *bool) *bool {
	if b == nil {
		return nil
	}
	n := !*b
	return &n
}

// balancingDoc has a field for each part that is not nil.
func balancingDoc(noBalance *bool, chunkBytes *int64, defragment, noAutoMerge *bool) bson.Raw {
	doc := bson.D{}
	add := func(name string, set bool, value func() any) {
		if set {
			doc = append(doc, bson.E{Key: name, Value: value()})
		}
	}
	add("noBalance", noBalance != nil, func() any { return *noBalance })
	add("chunkBytes", chunkBytes != nil, func() any { return *chunkBytes })
	add(defragments, defragment != nil, func() any { return *defragment })
	add("noAutoMerge", noAutoMerge != nil, func() any { return *noAutoMerge })
	return raw(doc)
}

// knowsTime has the oracle judge as of which config time a primary would read the catalog, by what
// it says in a request or an answer of its own.
func (c *cluster) knowsTime(node env.NodeID, said *rpc.Envelope) {
	c.notBefore(node, uint64(said.Clock.Config))
}

// tookOver has the oracle judge as of which config time a new primary would read the catalog when
// it begins to serve: nobody who asks it may have to tell it what its set has on record.
func (c *cluster) tookOver(e *trace.Event) {
	node := env.NodeID(e.Node)
	m := c.Member(node)
	if e.Kind != trace.Writable || m == nil || isConfig(node) {
		return
	}
	c.notBefore(node, uint64(c.ConfigTime(node)))
	if doc := minOpTime(m, store.Latest); doc != nil {
		c.oracle.TakesOver(e.Node, e.Shard, timeIn(doc, "minOpTime"), countsCommits(doc))
	}
}

// commitsOnRecord is what the next primary would find of commits on record, by what the member
// knows of the majority. That a commit is counted puts the judgement off.
func (c *cluster) commitsOnRecord(node string) (known uint64, counted bool) {
	m := c.Member(env.NodeID(node))
	if m == nil || !m.IsPrimary() { // a member that has restarted knows of no majority
		return 0, true
	}
	doc := minOpTime(m, m.Committed().Index)
	return timeIn(doc, "minOpTime"), doc != nil && countsCommits(doc)
}

func countsCommits(minOpTime bson.Raw) bool {
	counted, _ := minOpTime.Lookup("minOpTimeUpdaters").AsInt64OK()
	return counted > 0
}

func (c *cluster) notBefore(node env.NodeID, known uint64) {
	m := c.Member(node)
	if m == nil || isConfig(node) || !m.IsPrimary() {
		return
	}
	kept := max(c.keptTime(string(node)), timeIn(minOpTime(m, m.Committed().Index), "minOpTime"))
	if known < kept {
		c.oracle.KnowsLess(string(node), known, kept)
	}
}

// vectorClock is the document by which a shard keeps the config time.
const vectorClock = "vectorClockState"

// keptTime is the config time that a majority of a member's shard has on record, as far as the
// member knows.
func (c *cluster) keptTime(node string) uint64 {
	m := c.Member(env.NodeID(node))
	if m == nil {
		return 0
	}
	doc := m.Store().Get(shard.ClockNS, string(key.String(vectorClock)), m.Committed().Index)
	return timeIn(doc, "configTime")
}

// minOpTime is the document by which a shard of 4.2 keeps the config time, as of an index of its
// log; nil when it was never written.
func minOpTime(m *replset.Member, at uint64) bson.Raw {
	return m.Store().Get(shard.VersionNS, string(key.String("minOpTimeRecovery")), at)
}

// timeIn is a time in a document, 0 without one.
func timeIn(doc bson.Raw, field string) uint64 {
	if doc == nil {
		return 0
	}
	at, _ := doc.Lookup(field).AsInt64OK()
	return uint64(at)
}

// receives reports whether a member remembers that it receives a range, or has received it.
func (c *cluster) receives(node, ns, lo, hi string) bool {
	return c.Receiving(env.NodeID(node), ns, key.Range{Min: key.Key(lo), Max: key.Key(hi)})
}

// commits has records judged as a majority has them.
func (c *cluster) commits(e *trace.Event) {
	if m := c.Member(env.NodeID(e.Node)); e.Kind == trace.Majority && m != nil {
		for _, id := range c.committed.Committed(m.Name(), m.Committed().Index, e.Step, m) {
			c.oracle.ReceiptCommitted(m.Name(), id)
		}
	}
}

// cutOff are the sessions, and their transactions, of which a member's log does not reach back to
// the first statement.
func (c *cluster) cutOff(node string) map[string]uint64 {
	m, all := c.Member(env.NodeID(node)), map[string]uint64{}
	if m == nil {
		return all
	}
	m.Store().Scan(shard.SessionsNS, store.Latest, func(_ string, row bson.Raw) bool {
		term, _ := row.Lookup("lastOp", "t").Int64OK()
		index, _ := row.Lookup("lastOp", "i").Int64OK()
		id := row.Lookup("_id").StringValue()
		last := oplog.Time{Term: uint64(term), Index: uint64(index)}
		if last.Index != 0 && !reachesBack(m, id, last) {
			all[id] = uint64(row.Lookup("txn").Int64())
		}
		return true
	})
	return all
}

// reachesBack reports whether a member's log has all statements of a session up to the last one.
func reachesBack(m *replset.Member, session string, last oplog.Time) bool {
	for last.Index != 0 {
		e, term, known := m.Entry(last.Index)
		if !known || term != last.Term {
			return false
		}
		i := slices.IndexFunc(e.Ops, func(op oplog.Op) bool {
			return op.Stmt != nil && op.Stmt.Session == session
		})
		if i < 0 {
			return false
		}
		last = e.Ops[i].Stmt.Prev
	}
	return true
}
