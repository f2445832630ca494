package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// span is something that lasts: a phase of a migration, a critical section, a fault, the time in
// which a node is down or leads.
type span struct {
	// Class is donor, recipient, primary-move, deletion, section, fault, down or leads.
	Class string `json:"c"`
	// Lane is -1 for a fault that is of no single node.
	Lane int    `json:"l"`
	From int64  `json:"f"`
	To   int64  `json:"t"`
	Text string `json:"x"`
	// Name is the state's, Phase counts the states of a party from 1, in the order of the protocol.
	Name  string `json:"n,omitempty"`
	Phase int    `json:"h,omitempty"`
	// Step is that of the event it begins with.
	Step      uint64 `json:"s"`
	Migration string `json:"m,omitempty"`
	Low       int    `json:"a,omitempty"`
	High      int    `json:"b,omitempty"`
}

// owned is who owns a range of a collection, over time, as a majority of the config server has it.
type owned struct {
	NS   string `json:"ns"`
	Text string `json:"text"`
	Low  int    `json:"a"`
	High int    `json:"b"`
	// Owners are the lanes of shards, each from a time until the next one.
	Owners []ownedFrom `json:"owners"`
}

type ownedFrom struct {
	Lane int    `json:"l"`
	From int64  `json:"f"`
	Step uint64 `json:"s"`
}

// spanning finds what lasts, by what it is and whose.
type spanning struct {
	*builder
	open map[string]int
	all  []span
}

func (b *builder) spans() []span {
	s := &spanning{builder: b, open: map[string]int{}}
	for i := range b.run.Events {
		s.take(&b.run.Events[i])
	}
	end := b.end()
	for i := range s.all {
		if s.all[i].To < 0 {
			s.all[i].To = end
		}
	}
	return slices.DeleteFunc(s.all, func(one span) bool {
		return one.Lane < 0 && one.Class != "fault"
	})
}

func (s *spanning) take(e *trace.Event) {
	node, set := s.lanes.of(e.Node), s.lanes.of(e.Shard)
	switch e.Kind {
	case trace.Fault:
		fault := span{Class: "fault", Lane: s.lanes.of(e.Peer), Text: explain.Sentence(e)}
		s.begin(e, fault, faultName(e))
	case trace.Repair:
		s.end(faultName(e), e.At)
	case trace.NodeDown:
		s.end("leads "+e.Node, e.At)
		s.begin(e, span{Class: "down", Lane: node, Text: e.Node + " is down"}, "down "+e.Node)
	case trace.NodeUp:
		s.end("down "+e.Node, e.At)
	case trace.Elected:
		s.begin(e, span{
			Class: "leads", Lane: node, Text: fmt.Sprintf("%s leads in term %d", e.Node, e.Term),
		}, "leads "+e.Node)
	case trace.SteppedDown:
		s.end("leads "+e.Node, e.At)
	case trace.DonorAdvanced:
		s.phase(e, "donor", set, int(e.DonorState()), e.DonorState().Terminal())
	case trace.RecipientAdvanced:
		s.phase(e, "recipient", set, int(e.RecipientState()), e.RecipientState().Terminal())
	case trace.PrimaryMoving:
		s.phase(e, "primary-move", set, int(e.PrimaryMovePhase()), e.PrimaryMovePhase().Terminal())
	case trace.CriticalSection:
		s.phase(e, "section", node, int(e.SectionState()), e.SectionState().Terminal())
	case trace.RangeDeletion:
		s.phase(e, "deletion", node, int(e.DeletionState()), e.DeletionState().Terminal())
	}
}

func faultName(e *trace.Event) string { return fmt.Sprintf("fault %d", e.FaultNumber()) }

// phase ends what a party was in and begins what it is in now.
func (s *spanning) phase(e *trace.Event, class string, lane, phase int, last bool) {
	name := class + " " + e.Migration()
	if class == "section" || class == "deletion" {
		name += " " + e.Node
	}
	s.end(name, e.At)
	if last {
		return
	}
	one := span{
		Class: class, Lane: lane, Text: explain.Sentence(e), Name: e.State(), Phase: phase,
		Migration: e.Migration(),
	}
	if e.Min < e.Max {
		one.Low, one.High = s.keys.place(e.Min), s.keys.place(e.Max)
	}
	s.begin(e, one, name)
}

func (s *spanning) begin(e *trace.Event, one span, name string) {
	s.end(name, e.At)
	one.From, one.To, one.Step = e.At, -1, e.Step
	s.open[name] = len(s.all)
	s.all = append(s.all, one)
}

func (s *spanning) end(name string, at int64) {
	if i, ok := s.open[name]; ok {
		s.all[i].To = at
		delete(s.open, name)
	}
}

// mostRanges is how many ranges a view tells the owners of; a run with more splits all the time,
// and the key that matters says more about it.
const mostRanges = 80

// ranges are the owners of every range that was ever a chunk's own, over time.
func (b *builder) ranges() (all []owned) {
	bounds := map[string][]string{}
	var names []string
	for i := range b.run.Events {
		e := &b.run.Events[i]
		if e.Kind != trace.CatalogWritten {
			continue
		}
		if bounds[e.NS] == nil {
			names = append(names, e.NS)
		}
		for _, c := range e.Chunks {
			bounds[e.NS] = append(bounds[e.NS], c.Min, c.Max)
		}
	}
	slices.Sort(names)
	for _, ns := range names {
		slices.Sort(bounds[ns])
		bounds[ns] = slices.Compact(bounds[ns])
		for i := 1; i < len(bounds[ns]) && len(all) < mostRanges; i++ {
			low, high := bounds[ns][i-1], bounds[ns][i]
			all = append(all, owned{
				NS: ns, Text: key.Range{Min: key.Key(low), Max: key.Key(high)}.String(),
				Low: b.keys.place(low), High: b.keys.place(high),
			})
		}
	}
	b.own(all)
	return all
}

// own records the owners.
func (b *builder) own(all []owned) {
	world := model.New()
	for i := range b.run.Events {
		e := &b.run.Events[i]
		world.Observe(e)
		if e.Kind != trace.Majority || e.Shard != model.Config {
			continue
		}
		for n := range all {
			r := &all[n]
			now := b.lanes.of(world.Table(r.NS).Owner(b.keys.places[r.Low]))
			if last := len(r.Owners) - 1; last < 0 || r.Owners[last].Lane != now {
				r.Owners = append(r.Owners, ownedFrom{now, e.At, e.Step})
			}
		}
	}
	for n := range all {
		slices.SortStableFunc(all[n].Owners, func(a, b ownedFrom) int {
			return cmp.Compare(a.From, b.From)
		})
	}
}
