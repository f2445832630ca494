package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/checkers/zoning"
	"github.com/shardproof/shardproof/histories/trace"
)

// entriesRule is entry-fields (protocol 2.1): what chunk-fields judges of chunks, this judges of
// the other documents of the catalog.
var entriesRule = verdict.Checker{
	Name: "entry-fields",
	Promise: "A change to the document of a collection, a shard or a database in the catalog " +
		"changes the fields that it is meant to change, and no others. A zone that has ranges has a " +
		"shard that may own them and is not draining. At least one shard of the cluster is not " +
		"draining. Nothing is given to a shard that is draining or is not in the cluster. Unless its " +
		"collection is dropped or renamed, a range enters or leaves a zone only by a command that " +
		"names exactly that range.",
	Signatures: verdict.Meanings{
		givenToClosed:  "a range or a database was given to a shard that was draining, or not there",
		lastDrains:     "every shard of the cluster was draining",
		homelessZone:   "no shard may own the ranges of a zone",
		otherField:     "a change of the catalog touched a field that it should have left alone",
		fieldKept:      "a change of the catalog did not change a field that it must change",
		zoning.Unasked: "a range entered or left a zone without a command that names it",
	},
}

var _ = declare(26, entriesRule, func(o *Oracle) hooks {
	return hooks{event: o.judgeEntry, commit: o.judgeGiven, administered: o.judgeZones}
})

// followZones has the ranges of zones followed, for this rule and for incarnationRule: a change
// that a command asks for is judged here, one that comes with a drop or a rename there.
func (o *Oracle) followZones() *zoning.Zones {
	return zoning.New(o.world, o.span, func(v verdict.Violation, step uint64) {
		rule := incarnationRule
		if v.Signature == zoning.Unasked {
			rule = entriesRule
		}
		o.reportOf(rule, v, step)
	})
}

// The signatures of documents that do not follow.
const (
	otherField   verdict.Signature = "entry-field-unexpected"
	fieldKept    verdict.Signature = "entry-field-kept"
	homelessZone verdict.Signature = "zone-without-shards"
	lastDrains   verdict.Signature = "cluster-without-shards"
	// givenToClosed is the signature of what a shard gets after its removal has begun.
	givenToClosed verdict.Signature = "given-to-closed-shard"
)

// judgeGiven: a shard that is draining gets nothing by a commit after its removal began, as both
// are decided under one lock (protocol 14.2). 4.2 only checks that the shard exists. A collection
// that is being created may go to a shard whose removal began after the shards were chosen.
func (o *Oracle) judgeGiven(w *model.Write) {
	c := o.world.Cluster()
	if !c.Knows() || w.Drops() {
		return
	}
	for _, one := range w.Chunks {
		founds := len(w.Before) == 0 && !strings.Contains(w.NS, ".")
		given := founds || w.Migration() != "" && w.Before.Owner(one.Min) != one.Shard
		drains := c.Draining(one.Shard) && (founds || !o.older())
		if given && (drains || !c.Has(one.Shard)) {
			o.report(entriesRule, verdict.Violation{
				Signature: givenToClosed, NS: w.NS,
				Ranges: []verdict.KeyRange{{Min: one.Min, Max: one.Max}},
				Broke: fmt.Sprintf("the config server gave %s of %s to %s, which is draining or "+
					"does not exist",
					o.span(one.Min, one.Max), w.NS, one.Shard),
				Because: []string{"in its log the removal of the shard comes before the write"},
			}, w.Step)
		}
	}
}

// judgeZones follows every change of the cluster: what is in a zone must have somewhere to go
// (protocol 13.6).
func (o *Oracle) judgeZones(e *trace.Event) {
	c := o.world.Cluster().With(e)
	if e.Kind != trace.ClusterChanged || !c.Knows() {
		return
	}
	if !c.Stays("", "") {
		o.report(entriesRule, verdict.Violation{
			Signature: lastDrains,
			Broke:     "every shard of the cluster is draining, most recently " + e.Peer,
			Because:   []string{"their data has nowhere to go"},
		})
	}
	if zone := c.Homeless(); zone != "" {
		o.report(entriesRule, verdict.Violation{
			Signature: homelessZone, NS: e.NS,
			Broke: fmt.Sprintf("zone %s has ranges, and no shard that stays may own them", zone),
			Because: []string{
				"each of its shards drains or is gone, so that what lies in its ranges cannot leave",
			},
		})
	}
}

// entryChange says which fields a change may have changed, and which it must have.
type entryChange struct{ may, must []string }

var (
	balancingFields = []string{
		"noBalance", "maxChunkSizeBytes", "defragmentCollection", "enableAutoMerge",
	}
	migrationsFields = []string{"allowMigrations"}
)

// collectionChanges are the purposes for which a collection is written that was there before.
// Operators set several fields at a time; what they asked for is judged by acknowledged.
var collectionChanges = map[string]entryChange{
	trace.ForbidsMigrations.String(): {must: migrationsFields},
	trace.AllowsMigrations.String():  {must: migrationsFields},
	trace.RenamedFrom.String(): {
		may: migrationsFields, must: []string{"_id", "lastmodEpoch", "timestamp"},
	},
	trace.BalancingOn.String():     {may: balancingFields, must: []string{"noBalance"}},
	trace.BalancingOff.String():    {may: balancingFields, must: []string{"noBalance"}},
	"configureCollectionBalancing": {may: balancingFields},
	"defragmented":                 {must: []string{"defragmentCollection"}},
}

var shardChanges = map[string]entryChange{
	trace.ShardZones.String():    {may: []string{"tags", "maxSize"}},
	trace.ShardDraining.String(): {must: []string{"draining"}},
}

var databaseChanges = map[string]entryChange{
	trace.PrimaryMoved.String(): {may: []string{"primary"}, must: []string{"version"}},
}

// judgeEntry compares the fields that a write has changed with those that its purpose allows. A
// purpose that no table has may change nothing.
func (o *Oracle) judgeEntry(e *trace.Event) {
	if e.Kind != trace.EntryChanged || !o.world.Set(e.Shard).Leads(e) {
		return
	}
	purpose, _, _ := strings.Cut(e.Why(), " ")
	entry, changes := "the shard "+e.Peer, shardChanges
	switch {
	case strings.Contains(e.NS, "."):
		entry, changes = "the collection "+e.NS, collectionChanges
	case e.NS != "":
		entry, changes = "the database "+e.NS, databaseChanges
	}
	allowed := changes[purpose]
	for _, field := range e.Fields() {
		if !slices.Contains(allowed.may, field) && !slices.Contains(allowed.must, field) {
			o.wrongEntry(e, otherField, fmt.Sprintf("%s of %s changed", field, entry),
				"a change of this kind must not touch "+field)
		}
	}
	for _, field := range allowed.must {
		if !slices.Contains(e.Fields(), field) {
			o.wrongEntry(e, fieldKept, fmt.Sprintf("%s of %s stayed as it was", field, entry),
				"a change of this kind must change "+field)
		}
	}
}

func (o *Oracle) wrongEntry(e *trace.Event, s verdict.Signature, flaw, because string) {
	o.report(entriesRule, verdict.Violation{
		Signature: s,
		NS:        e.NS,
		Because:   []string{because},
		Broke:     fmt.Sprintf("the config server wrote %q to the catalog: %s", e.Why(), flaw),
	})
}
