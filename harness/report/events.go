package report

import (
	"github.com/shardproof/shardproof/harness/debugger"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/histories/trace"
)

// event is one thing that happened.
type event struct {
	Step uint64 `json:"s"`
	At   int64  `json:"t"`
	Kind string `json:"k"`
	Text string `json:"x"`
	// Lane is that of the node, or of what the event is about; -1 for none.
	Lane int `json:"l"`
	// Key is a position in Keys, or -1; From and To are the places of a range, equal for none.
	Key  int `json:"d"`
	From int `json:"a,omitempty"`
	To   int `json:"b,omitempty"`
	// Migration is one that the event is of.
	Migration string `json:"m,omitempty"`
	// Code is where it was emitted: the place of file and line in Code, and those of the callers.
	Code []int `json:"c,omitempty"`
	// Told is 1 for those of the story, 2 for those that prove the failure.
	Told    int `json:"o,omitempty"`
	routine bool
}

// op is an operation of a client, a bar from its call to its return.
type op struct {
	ID      int    `json:"id"`
	Lane    int    `json:"l"`
	From    int64  `json:"f"`
	To      int64  `json:"t"`
	Outcome string `json:"o"`
	Kind    string `json:"k"`
	Text    string `json:"x"`
	Key     int    `json:"d"`
	Proof   bool   `json:"p,omitempty"`
}

// message is a message between two lanes, which crossed the picture in a time.
type message struct {
	From int    `json:"f"`
	To   int    `json:"o"`
	Sent int64  `json:"s"`
	At   int64  `json:"t"`
	Text string `json:"x"`
	Step uint64 `json:"n"`
	Lost bool   `json:"z,omitempty"`
}

func (b *builder) events() (all []event) {
	for i := range b.run.Events {
		e := &b.run.Events[i]
		if e.Kind == trace.Exchanged {
			continue // the page has the messages
		}
		one := event{
			Step: e.Step, At: e.At, Kind: e.Kind.String(), Text: explain.Sentence(e),
			Lane: b.laneOf(e), Key: b.keys.document(e), Migration: b.migrationOf(e),
			routine: b.routine(e),
		}
		for _, place := range b.run.Places[e.Step] {
			one.Code = append(one.Code, b.code.number(place))
		}
		if e.Min < e.Max {
			one.From, one.To = b.keys.place(e.Min), b.keys.place(e.Max)
		}
		if b.told[e.Step] {
			one.Told = 1
		}
		if b.proof[e.Step] {
			one.Told = 2
		}
		all = append(all, one)
	}
	return all
}

// laneOf is where an event is drawn: at its node, or at what a fault is done to.
func (b *builder) laneOf(e *trace.Event) int {
	if l := b.lanes.of(e.Node); l >= 0 {
		return l
	}
	return b.lanes.of(e.Peer)
}

// migrationOf is the migration or movePrimary that an event is of, empty for none.
func (b *builder) migrationOf(e *trace.Event) string {
	switch e.Kind {
	case trace.MigrationRequested, trace.DonorAdvanced, trace.RecipientAdvanced,
		trace.DecisionMade, trace.MigrationEnded, trace.CriticalSection, trace.RangeDeletion,
		trace.PrimaryMoving, trace.Executed, trace.PointHit:
		return e.Migration()
	case trace.Applied:
		if e.Actor != trace.User && e.Actor != trace.System {
			return e.For()
		}
	case trace.CatalogWritten:
		if c, subject := trace.ParseCatalogChange(e.Why()); c.HasSubject() {
			return subject
		}
	}
	return ""
}

// mostMessages is how many messages a view has.
const mostMessages = 1500

// messages are those of the causal slice: what the parties to its migrations and the config server
// sent to each other meanwhile, and what was sent while an operation of the contradiction was in
// progress. Messages within a replica set are left out.
func (b *builder) messages(all []debugger.Message) (kept []message) {
	windows := b.windows()
	for _, m := range all {
		from, to := b.lanes.of(m.From), b.lanes.of(m.To)
		if from < 0 || to < 0 || b.lanes.all[from].Set == b.lanes.all[to].Set || m.Step == 0 {
			continue
		}
		for _, w := range windows {
			if m.Sent < w.from || m.Sent > w.to || !w.of[b.partyOf(from)] || !w.of[b.partyOf(to)] {
				continue
			}
			kept = append(kept, message{
				From: from, To: to, Sent: m.Sent, At: m.Arrived, Text: m.Class, Step: m.Step,
				Lost: m.Lost,
			})
			break
		}
		if len(kept) == mostMessages {
			break
		}
	}
	return kept
}

// partyOf is the replica set of a lane's node, or the node itself.
func (b *builder) partyOf(l int) string {
	if one := b.lanes.all[l]; one.Kind == "member" {
		return one.Set
	}
	return b.lanes.all[l].Name
}

// window is a time and the parties whose messages matter in it.
type window struct {
	from, to int64
	of       map[string]bool
}

func (b *builder) windows() (all []window) {
	moves, order := b.moves()
	for _, id := range order {
		m := moves[id]
		if b.tale != nil && !m.told {
			continue
		}
		all = append(all, window{m.from, m.to, map[string]bool{
			m.donor: true, m.recipient: true, "config": true,
		}})
	}
	for i := range b.run.History {
		op := &b.run.History[i]
		if !b.proven[op.ID] || op.Client < 0 {
			continue
		}
		of := map[string]bool{clientName(op.Client): true}
		for _, l := range b.lanes.all {
			if l.Kind == "router" || l.Kind == "set" {
				of[l.Name] = true
			}
		}
		all = append(all, window{op.CallAt, op.ReturnAt, of})
	}
	return all
}

// move is what is known of a migration: its parties, and from when to when it was in progress.
type move struct {
	donor, recipient string
	from, to         int64
	told             bool
}

func (b *builder) moves() (all map[string]*move, order []string) {
	all = map[string]*move{}
	for i := range b.run.Events {
		e := &b.run.Events[i]
		id := b.migrationOf(e)
		if id == "" {
			continue
		}
		m := all[id]
		if m == nil {
			m = &move{from: e.At}
			all[id] = m
			order = append(order, id)
		}
		m.to = max(m.to, e.At)
		m.told = m.told || b.told[e.Step]
		switch e.Kind {
		case trace.MigrationRequested, trace.DonorAdvanced, trace.PrimaryMoving:
			m.donor, m.recipient = e.Shard, e.Peer
		case trace.RecipientAdvanced:
			m.donor, m.recipient = e.Peer, e.Shard
		}
	}
	return all, order
}
