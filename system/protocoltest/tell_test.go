package protocoltest_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/migration"
	"github.com/shardproof/shardproof/system/moveprimary"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// topics are what can be told, each with its events.
var topics = map[string][]trace.Kind{
	"donor":     {trace.MigrationRequested, trace.DonorAdvanced},
	"recipient": {trace.RecipientAdvanced},
	"section":   {trace.CriticalSection},
	"decision":  {trace.DecisionMade, trace.MigrationEnded},
	"deletion":  {trace.RangeDeletion},
	"election":  {trace.Elected, trace.ProcessAborted},
	"rollback":  {trace.RolledBack}, // or came back from a crash
	"placement": {trace.CatalogWritten},
	"primary":   {trace.PrimaryMoving},
	"balancer":  {trace.BalancerRound, trace.BalancerChose, trace.BalancerState, trace.BalancerStopped},
	"cluster":   {trace.ClusterChanged},
	"applied":   {trace.Applied},
}

func (r *rig) tell(l line) error {
	r.topics = map[string]bool{}
	for _, w := range l.words() {
		if topics[w] == nil {
			return fmt.Errorf("there is no topic %s", w)
		}
		r.topics[w] = true
	}
	return nil
}

func (r *rig) tellAll() {
	r.topics = map[string]bool{}
	for topic := range topics {
		r.topics[topic] = true
	}
}

func (r *rig) tells(k trace.Kind) bool {
	for topic, kinds := range topics {
		if slices.Contains(kinds, k) {
			return r.topics[topic] || r.topics == nil && topic != "applied" && topic != "rollback"
		}
	}
	return false
}

// Observe tells the events that the walk is about.
func (r *rig) Observe(e *trace.Event) {
	if !r.tells(e.Kind) {
		return
	}
	switch e.Kind {
	case trace.MigrationRequested:
		r.say("%s: %s is to move to %s", e.Migration(), span(e), e.Peer)
	case trace.DonorAdvanced:
		r.say("%s: donor %s %s", e.Migration(), e.Node, e.State())
	case trace.RecipientAdvanced:
		r.say("%s: recipient %s %s", e.Migration(), e.Node, e.State())
	case trace.DecisionMade:
		r.say("%s: %s records %s", e.Migration(), e.Node, e.State())
	case trace.MigrationEnded:
		r.say("%s: %s has completed it: %s%s", e.Migration(), e.Node, e.State(), byRecovery(e))
	case trace.RangeDeletion:
		r.say("%s: deletion on %s %s", e.Migration(), e.Node, e.State())
	case trace.CriticalSection:
		r.tellSection(e)
	case trace.BalancerRound, trace.BalancerChose, trace.BalancerState, trace.BalancerStopped:
		r.tellBalancer(e)
	case trace.PrimaryMoving:
		r.say("%s: %s %s", e.Migration(), e.Node, e.State())
	default:
		r.tellServers(e)
	}
}

func byRecovery(e *trace.Event) string {
	if e.Recovered() {
		return ", by recovery"
	}
	return ""
}

// span is a range of which the donor may have to decide where it ends.
func span(e *trace.Event) string { return shown(key.Range{Min: key.Key(e.Min), Max: key.Key(e.Max)}) }

// tellSection leaves out what followers hold.
func (r *rig) tellSection(e *trace.Event) {
	if r.cluster == nil || string(r.cluster.Primary(e.Shard)) != e.Node {
		return
	}
	does := map[trace.SectionState]string{
		trace.WritesBlocked: "blocks writes", trace.ReadsBlocked: "blocks reads",
		trace.SectionReleased: "leaves its critical section",
	}[e.SectionState()]
	if e.NS != sharded {
		does += " of " + e.NS
	}
	r.say("%s: %s %s %s", e.Migration(), e.Actor, e.Node, does)
}

func (r *rig) tellServers(e *trace.Event) {
	switch e.Kind {
	case trace.Elected:
		if e.Term > 1 {
			r.say("%s is elected in term %d", e.Node, e.Term)
		}
	case trace.RolledBack:
		r.say("%s rolls back", e.Node)
	case trace.ProcessAborted:
		r.down[env.NodeID(e.Node)] = true
		r.say("%s ends itself: %s", e.Node, e.Why())
	case trace.CatalogWritten:
		r.tellPlacement(e)
	case trace.ClusterChanged:
		r.tellChange(e)
	case trace.Applied:
		r.say("%d %s applied %s %v %v term %d index %d hash %x id %s", e.At, e.Node, e.Actor, key.Key(e.Key), e.NS, e.Term, e.Index, e.Hash&0xffff, e.For())
	}
}

func (r *rig) tellPlacement(e *trace.Event) {
	var chunks []string
	for _, c := range e.Chunks {
		where := fmt.Sprintf("%v on %s %d|%d", key.Range{Min: key.Key(c.Min), Max: key.Key(c.Max)}, c.Shard, c.Major, c.Minor)
		if e.NS != sharded {
			where = fmt.Sprintf("%s on %s, version %d", e.NS, c.Shard, c.Major)
		}
		chunks = append(chunks, where)
	}
	r.say("%s writes: %s", e.Node, strings.Join(chunks, ", "))
}

func (r *rig) chunks(line) error {
	table, err := r.cluster.Catalog(sharded)
	if err != nil {
		return err
	}
	for c := range table.Chunks() {
		var history []string
		for _, p := range c.History {
			history = append(history, p.Shard)
		}
		r.say("%v %s %d|%d, before %s", c.Range, c.Shard, c.Version.Major, c.Version.Minor, strings.Join(history, " "))
	}
	return nil
}

// records shows the durable records of migrations, by shard, as its primary has them.
func (r *rig) records(line) error {
	for _, name := range r.cluster.Topology().ShardNames() {
		m := r.cluster.Member(r.cluster.Primary(name))
		if m == nil {
			continue
		}
		for _, ns := range []string{migration.CoordinatorsNS, migration.RecipientsNS, rangedel.Namespace, shard.SectionsNS, moveprimary.Namespace} {
			m.Store().Scan(ns, store.Latest, func(_ string, d bson.Raw) bool {
				r.say("%s %s: %s%s", name, ns, d.Lookup("_id").StringValue(), particulars(d))
				return true
			})
		}
	}
	return nil
}

// particulars are the fields that say how far a record has come.
func particulars(d bson.Raw) (text string) {
	for _, name := range []string{"decision", "pending", "processing", "whenToClean", "numOrphanDocs", "phase"} {
		switch v, err := d.LookupErr(name); {
		case err != nil:
		case v.Type == bson.TypeString:
			text += fmt.Sprintf(" %s=%s", name, v.StringValue())
		case v.Type == bson.TypeInt64:
			text += fmt.Sprintf(" %s=%d", name, v.Int64())
		default:
			text += " " + name
		}
	}
	return text
}

func (r *rig) outstanding(line) error {
	for _, what := range r.cluster.Outstanding() {
		r.say("%s", what)
	}
	return nil
}

// took is the time of a step, which is the world's business.
var took = regexp.MustCompile(`: [0-9.]+(ns|µs|ms|s)`)

func (r *rig) changelog(line) error {
	m := r.cluster.Member(r.cluster.Primary("config"))
	var lines []string
	m.Store().Scan("config.changelog", store.Latest, func(_ string, doc bson.Raw) bool {
		lines = append(lines, fmt.Sprintf("%s %s", doc.Lookup("what").StringValue(), took.ReplaceAllString(doc.Lookup("details").StringValue(), "")))
		return true
	})
	slices.Sort(lines)
	for _, line := range lines {
		r.say("%s", line)
	}
	return nil
}

// show prints who owns and holds what, and fails when a shard holds a document that it does not own or lacks one that was
// acknowledged.
func (r *rig) show() error {
	table, err := r.cluster.Catalog(sharded)
	if err != nil {
		return err
	}
	now := map[int64]string{}
	for _, name := range r.cluster.Topology().ShardNames() {
		data := r.cluster.Member(r.cluster.Primary(name)).Store()
		for _, ns := range data.Collections(store.Latest) {
			if !strings.HasPrefix(ns, "test.") {
				continue
			}
			var held runs
			data.ScanKey(ns, key.Everything, store.Latest, store.Place{}, func(k key.Key, _ string, d bson.Raw) bool {
				v := d.Lookup("v")
				held.add(d.Lookup("k").Int64(), strings.Trim(v.String(), `"`))
				if ns == sharded {
					if !table.OwnsKey(name, k) {
						err = fmt.Errorf("%s holds the orphan %v", name, k)
					}
					now[d.Lookup("k").Int64()], _ = v.StringValueOK()
				}
				return true
			})
			r.say("%s: %s", strings.TrimSpace(name+" "+strings.TrimPrefix(ns, sharded)), held)
		}
	}
	for k, v := range r.wrote {
		if now[k] != v {
			err = fmt.Errorf("document %d is %q, but %q was acknowledged", k, now[k], v)
		}
	}
	return err
}

// runs are documents in the order of their keys, those with equal values and no key between them in one: 0..9=old.
type runs []run

type run struct {
	first, last int64
	value       string
}

func (r *runs) add(k int64, value string) {
	if n := len(*r); n > 0 && (*r)[n-1].last+1 == k && (*r)[n-1].value == value {
		(*r)[n-1].last = k
		return
	}
	*r = append(*r, run{k, k, value})
}

// String is what a walk shows.
func (r runs) String() string {
	var text []string
	for _, one := range r {
		keys := fmt.Sprint(one.first)
		if one.first != one.last {
			keys = fmt.Sprintf("%d..%d", one.first, one.last)
		}
		text = append(text, keys+"="+one.value)
	}
	if len(text) == 0 {
		return "nothing"
	}
	return strings.Join(text, " ")
}
