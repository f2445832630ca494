package protocoltest

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/store"
)

// stateDocuments are the collections in which shards keep how far a protocol has come.
var stateDocuments = []string{
	"config.migrationCoordinators", "config.migrationRecipients", "config.rangeDeletions",
	"config.collection_critical_sections", "config.movePrimaryCoordinators",
}

func (r *Rig) showChunks(Line) error {
	table, err := r.Cluster.Catalog(Sharded)
	if err != nil {
		return err
	}
	for c := range table.Chunks() {
		var history []string
		for _, p := range c.History {
			history = append(history, p.Shard)
		}
		before := strings.Join(history, " ")
		r.Say("%v %s %d|%d, before %s", c.Range, c.Shard, c.Version.Major, c.Version.Minor, before)
	}
	return nil
}

// showRecords shows the state documents of every shard, as its primary has them.
func (r *Rig) showRecords(Line) error {
	for _, name := range r.Cluster.Topology().ShardNames() {
		m := r.Member(r.Primary(name))
		if m == nil {
			continue
		}
		for _, ns := range stateDocuments {
			m.Store().Scan(ns, store.Latest, func(_ string, d bson.Raw) bool {
				r.Say("%s %s: %s%s", name, ns, d.Lookup("_id").StringValue(), progress(d))
				return true
			})
		}
	}
	return nil
}

// progress is the fields of a state document that say how far it has come.
func progress(d bson.Raw) (text string) {
	for _, name := range []string{
		"decision", "pending", "processing", "whenToClean", "numOrphanDocs", "phase",
	} {
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

func (r *Rig) showOutstanding(Line) error {
	for _, what := range r.Cluster.Outstanding() {
		r.Say("%s", what)
	}
	return nil
}

// changeText are the details of an entry in the changelog, without how long steps took, which
// changes with every seed.
func changeText(details bson.RawValue) string {
	elements, err := details.Document().Elements()
	if err != nil {
		return err.Error()
	}
	var words []string
	for _, e := range elements {
		switch text, isText := e.Value().StringValueOK(); {
		case strings.HasPrefix(e.Key(), "step "):
			words = append(words, e.Key())
		case isText:
			words = append(words, e.Key()+"="+text)
		default:
			words = append(words, e.Key()+"="+e.Value().String())
		}
	}
	return strings.Join(words, ", ")
}

func (r *Rig) showChangelog(Line) error {
	m := r.Member(r.Primary(configsvr.Name))
	var lines []string
	m.Store().Scan("config.changelog", store.Latest, func(_ string, doc bson.Raw) bool {
		lines = append(lines, doc.Lookup("what").StringValue()+" "+changeText(doc.Lookup("details")))
		return true
	})
	slices.Sort(lines)
	for _, line := range lines {
		r.Say("%s", line)
	}
	return nil
}

// showDocuments shows who holds what, and fails when a shard holds a document that it does not own
// or none has one that was acknowledged.
func (r *Rig) showDocuments() error {
	held := map[int64]string{} // in the sharded collection
	for _, name := range r.Cluster.Topology().ShardNames() {
		data := r.Member(r.Primary(name))
		for _, ns := range data.Store().Collections(store.Latest) {
			if !strings.HasPrefix(ns, "test.") {
				continue
			}
			if err := r.showCollection(name, data, ns, held); err != nil {
				return err
			}
		}
	}
	for _, k := range sortedKeys(r.wrote) {
		if held[k] != r.wrote[k] {
			return fmt.Errorf("document %d is %q, but %q was acknowledged", k, held[k], r.wrote[k])
		}
	}
	return nil
}

func (r *Rig) showCollection(
	shard string, m *replset.Member, ns string, held map[int64]string,
) error {
	table, err := r.Cluster.Catalog(Sharded)
	if err != nil {
		return err
	}
	var got runs
	show := func(k key.Key, _ string, d bson.Raw) bool {
		v := d.Lookup("v")
		got.add(d.Lookup("k").Int64(), strings.Trim(v.String(), `"`))
		if ns == Sharded {
			if !table.OwnsKey(shard, k) {
				err = fmt.Errorf("%s holds the orphan %v", shard, k)
			}
			held[d.Lookup("k").Int64()], _ = v.StringValueOK()
		}
		return true
	}
	m.Store().ScanKey(ns, key.Everything, store.Latest, store.Place{}, show)
	r.Say("%s: %s", strings.TrimSpace(shard+" "+strings.TrimPrefix(ns, Sharded)), got)
	return err
}

func sortedKeys(of map[int64]string) (keys []int64) {
	for k := range of {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
