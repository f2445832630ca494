package oracle

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// zonesLost is the signature of zones that do not follow their collection.
const zonesLost verdict.Signature = "zones-lost-by-rename"

// renamedZones is the memory of fieldsRule about zones. An entry that renames a collection says so
// in several events, in whatever order.
type renamedZones struct {
	*Oracle
	// term and index are the newest entry of the config server, before is what was known of the
	// cluster when it came.
	term, index uint64
	before      *model.Cluster
	// from and to are the names if that entry renames a collection, at a step.
	from, to string
	step     uint64
}

// judge takes the entries of the config server's leader one after the other.
func (z *renamedZones) judge(e *trace.Event) {
	config := z.world.Set(model.Config)
	switch e.Kind {
	case trace.Elected:
		if e.Shard == config.Name {
			z.from, z.index = "", 0 // whether the new one has the entry is open
		}
		return
	case trace.Majority:
		if e.Shard == config.Name && e.Index >= z.index {
			z.judgeEntry()
		}
		return
	case trace.CatalogWritten, trace.ClusterChanged:
	default:
		return
	}
	if !config.Leads(e) {
		return
	}
	if e.Term != z.term || e.Index != z.index {
		z.judgeEntry()
		z.term, z.index, z.before = e.Term, e.Index, z.world.LatestCluster()
	}
	if from := e.FormerName(); from != "" {
		z.from, z.to, z.step = from, e.NS, e.Step
	}
}

// judgeEntry judges the entry that is complete now.
func (z *renamedZones) judgeEntry() {
	if z.from == "" {
		return
	}
	from, to := z.from, z.to
	z.from = ""
	lo, hi, zone := z.world.LatestCluster().LostZone(to, z.before, from)
	if zone == "" {
		return
	}
	z.reportOf(fieldsRule, verdict.Violation{
		Signature: zonesLost,
		NS:        to,
		Broke: fmt.Sprintf("%s was renamed to %s, where %s is not of zone %s",
			from, to, z.span(lo, hi), zone),
		Because: []string{"it was under the former name, and no operator has taken it out"},
	}, z.step)
}
