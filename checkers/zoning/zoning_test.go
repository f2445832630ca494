package zoning

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// change is what an entry of the config server does.
type change struct {
	index uint64
	does  interface{ Event() *trace.Event }
}

// judged are the signatures of what is wrong with entries that a majority has.
func judged(asked []Command, all ...change) (found []verdict.Signature) {
	w := model.New()
	z := New(w, func(lo, hi string) string { return lo + ".." + hi },
		func(v verdict.Violation, step uint64) {
			if step == 0 {
				panic("a violation without a proof")
			}
			found = append(found, v.Signature)
		})
	for i := range asked {
		z.Asked(&asked[i])
	}
	step, last := uint64(0), uint64(0)
	observe := func(e *trace.Event) {
		step++
		e.Step, e.Node = step, "config.0"
		z.Observe(e)
		w.Observe(e)
	}
	observe(trace.ElectedEvent{Shard: model.Config, Term: 1}.Event())
	observe(trace.ClusterChangedEvent{
		Shard: model.Config, Term: 1, Index: 1, Peer: "a", Change: trace.ShardZones, Zones: "east",
	}.Event())
	for _, c := range all {
		observe(c.does.Event())
		last = c.index
	}
	observe(trace.MajorityEvent{Shard: model.Config, Term: 1, Index: last}.Event())
	return found
}

// zone is that a range of a collection is of a zone from an entry on, of none for no name.
func zone(index uint64, ns, lo, hi, name string) change {
	if name == "" {
		hi = ""
	}
	return change{index, trace.ClusterChangedEvent{
		Shard: model.Config, Term: 1, Index: index, NS: ns, Change: trace.ZoneRange,
		Min: lo, Max: hi, Zones: name,
	}}
}

func written(index uint64, ns, why string) change {
	return change{index, trace.CatalogWrittenEvent{
		Shard: model.Config, Term: 1, Index: index, NS: ns, Why: why,
	}}
}

func ask(ns, lo, hi, name string) Command {
	return Command{ns, model.ZoneRange{Min: lo, Max: hi, Name: name}}
}

// A range is given to a zone, or taken out of it, only if a command has named it, be it long ago.
// A collection that gets another name takes its zones along, and one that is dropped has none.
func TestZones(t *testing.T) {
	const ns, to = "test.docs", "test.other"
	enter, leave := ask(ns, "d", "m", "east"), ask(ns, "d", "m", "")
	entered, left := zone(2, ns, "d", "m", "east"), zone(3, ns, "d", "m", "")
	other, taken := ask(to, "t", "x", "west"), zone(2, to, "t", "x", "west")
	renamed := written(3, to, trace.RenamedFrom.String()+" "+ns)
	dropped := written(3, ns, trace.Dropped.String())
	for name, c := range map[string]struct {
		asked []Command
		log   []change
		want  []verdict.Signature
	}{
		"as requested":          {[]Command{enter, leave}, []change{entered, left}, nil},
		"another bound entered": {[]Command{ask(ns, "d", "k", "east")}, []change{entered}, wrong(Unasked)},
		"another zone entered":  {[]Command{ask(ns, "d", "m", "west")}, []change{entered}, wrong(Unasked)},
		"another name entered":  {[]Command{ask(to, "d", "m", "east")}, []change{entered}, wrong(Unasked)},
		"another range left": {
			[]Command{enter, ask(ns, "d", "k", "")}, []change{entered, left}, wrong(Unasked),
		},
		"nothing was to leave": {[]Command{enter}, []change{entered, left}, wrong(Unasked)},
		"a rename":             {[]Command{enter}, []change{entered, renamed, left, zone(3, to, "d", "m", "east")}, nil},
		"a rename, told of last": {
			[]Command{enter}, []change{entered, left, zone(3, to, "d", "m", "east"), renamed}, nil,
		},
		"a rename that loses": {[]Command{enter}, []change{entered, renamed, left}, wrong(Lost)},
		"a rename that copies": {
			[]Command{enter}, []change{entered, renamed, zone(3, to, "d", "m", "east")}, wrong(Left),
		},
		"a rename to a name with zones": {
			[]Command{enter, other}, []change{
				taken, zone(3, ns, "d", "m", "east"), written(4, to, trace.RenamedFrom.String()+" "+ns),
				zone(4, ns, "d", "m", ""), zone(4, to, "d", "m", "east"), zone(4, to, "t", "x", ""),
			}, nil,
		},
		"a rename that keeps those of the name": {
			[]Command{enter, other}, []change{
				taken, zone(3, ns, "d", "m", "east"), written(4, to, trace.RenamedFrom.String()+" "+ns),
				zone(4, ns, "d", "m", ""), zone(4, to, "d", "m", "east"),
			}, wrong(Kept),
		},
		"a rename that does nothing": {[]Command{enter}, []change{entered, renamed}, wrong(Left, Lost)},
		"a drop":                     {[]Command{enter}, []change{entered, dropped, left}, nil},
		"a drop that leaves":         {[]Command{enter}, []change{entered, dropped}, wrong(Left)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judged(c.asked, c.log...); !slices.Equal(got, c.want) {
				t.Errorf("%q, not %q", got, c.want)
			}
		})
	}
}

func wrong(all ...verdict.Signature) []verdict.Signature { return all }
