package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

// What was asked and answered decides most of what nodes do, and a recorded run has it. A story
// tells the requests that its decisive events were made for, those of its operations, and the
// answers that brought its documents from one shard to another.

// followExchanges adds what was said where it decided.
func (s *slice) followExchanges() {
	for _, i := range s.positions() {
		e := &s.events[i]
		switch {
		case changesCatalog(e):
			if s.chosen[i] == Must && len(s.docs) == 0 ||
				s.chosen[i] == Close && movedBy(e) == "" {
				s.command(i)
			}
		case s.chosen[i] == Must && e.Kind == trace.CursorAnswered:
			s.queried(i)
		case s.chosen[i] == Must:
			s.served(i)
			if e.Kind == trace.DonorAdvanced || e.Kind == trace.DecisionMade {
				s.calls(i)
			}
			if e.Kind == trace.PrimaryMoving {
				s.moveCalls(i)
			}
		case e.Decision() == trace.Aborted:
			s.calls(i)
		}
	}
	for _, op := range s.ops {
		s.attempts(op)
		s.causalRead(op)
	}
	s.carriers()
	for n := range s.turns {
		s.fetches(&s.turns[n])
	}
	if strings.Contains(s.about.Text, "session") {
		s.handovers()
	}
	if len(s.docs) == 0 {
		s.named()
		s.moveRequests()
	}
	if strings.Contains(s.about.Text, "statement ") {
		s.fates()
	}
}

// moveRequests follows the requests for a move that the contradiction says was answered, and those
// to donors: one may be answered by the migration that was begun for another.
func (s *slice) moveRequests() {
	if !strings.Contains(s.about.Text, "the request to move") {
		return
	}
	told := map[string]int{}
	for i := range s.events {
		x := &s.events[i]
		to, _ := x.Argument("To")
		if (x.Asked() == "MoveRange" || x.Asked() == "ShardsvrMoveRange") && x.Arrived() <= s.to &&
			strings.Contains(s.about.Text, " to "+to+",") && told[x.Asked()] < attemptsTold {
			s.choose(i, Must)
			told[x.Asked()]++
		}
	}
}

// named follows the last request of each kind that the contradiction names, and what a shard that
// cuts chunks had last been told about whether it may.
func (s *slice) named() {
	last := map[string]int{}
	var names []string
	open := strings.Contains(s.about.Text, "not finished")
	for i := range s.events {
		x := &s.events[i]
		if x.Kind != trace.Exchanged || x.At > s.to && !open {
			continue
		}
		if _, known := last[x.Asked()]; !known {
			names = append(names, x.Asked())
		}
		last[x.Asked()] = i
	}
	for _, name := range names {
		if len(name) > len("GetMore") && namesIt(s.about.Text, name) {
			s.choose(last[name], Close)
		}
	}
	for _, i := range s.positions() {
		if e := &s.events[i]; e.Kind == trace.SplitMade && s.chosen[i] == Must {
			s.chooseLast(i, Close, func(x *trace.Event) bool {
				return x.Kind == trace.Exchanged && x.Peer == e.Peer && x.NS == e.NS &&
					x.Asked() == "GetSplitPolicy"
			})
		}
	}
}

// changesCatalog says whether an event is a write of the catalog.
func changesCatalog(e *trace.Event) bool {
	return e.Kind == trace.CatalogWritten || e.Kind == trace.EntryChanged || model.Administers(e)
}

// command finds the request for which the config server has changed the catalog: its sentence is
// told with that of the event.
func (s *slice) command(i int) {
	if requests, _ := s.requests(i); len(requests) > 0 {
		s.commands[i] = requests[0]
	}
}

// queried follows the request by which a cursor was opened whose answer is the contradiction: what
// it named, and what its node knew.
func (s *slice) queried(i int) {
	e := &s.events[i]
	s.chooseLast(i+2, Close, func(x *trace.Event) bool {
		_, answer := x.Said()
		return x.Kind == trace.Exchanged && x.Node == e.Node && x.At <= e.At && x.NS == e.NS &&
			(e.Cursor() == "" && x.At == e.At || namesIt(answer, e.Cursor())) &&
			x.Asked() != "GetMore"
	})
}

// servedTold is how many requests are told that an event may have been made for.
const servedTold = 2

// served follows the requests that a node was at when an event happened there, or else the last one
// that a recipient had dealt with.
func (s *slice) served(i int) {
	e := &s.events[i]
	requests, before := s.requests(i)
	if len(requests) == 0 && before >= 0 && e.Kind == trace.RecipientAdvanced {
		requests = []int{before}
	}
	for _, j := range requests[:min(servedTold, len(requests))] {
		s.choose(j, Close)
		if e.Migration() != "" {
			s.during[j] = e.Migration()
		}
		if e.Kind == trace.Applied && e.Actor == trace.User {
			s.ways[j] = true
		}
	}
}

// requests are those that have to do with an event and that its node was at when it happened, the
// newest first, and the last one before, -1 for none.
func (s *slice) requests(i int) (during []int, before int) {
	e := &s.events[i]
	before = -1
	for j := range s.events {
		x := &s.events[j]
		switch {
		case x.Kind != trace.Exchanged || x.Node != e.Node || x.Arrived() > e.At || !concern(x, e):
		case x.At >= e.At:
			during = append(during, j)
		default:
			before = j
		}
	}
	slices.SortStableFunc(during, func(a, b int) int {
		return cmp.Compare(s.events[b].Arrived(), s.events[a].Arrived())
	})
	return during, before
}

// calls follows what a party to a migration had asked last when an event happened there: what it
// was answered, and what it took for a failure.
func (s *slice) calls(i int) {
	e := &s.events[i]
	if e.Migration() == "" {
		return
	}
	answered := s.last(i, func(x *trace.Event) bool {
		return x.Peer == e.Node && ofMigration(x) == e.Migration() && !polls(x) && !pulls(x)
	})
	failed := s.last(i, func(x *trace.Event) bool {
		return x.Kind == trace.CallEnded && x.Node == e.Node && x.NS != "" && x.NS == s.nsOf(e) &&
			x.At >= e.At-causeTime && x.Code() != "" && x.Asked() != "GetRoutingTable"
	})
	if answered >= 0 {
		s.choose(answered, Close)
	}
	if failed < 0 {
		return
	}
	if answered >= 0 {
		_, answer := s.events[answered].Said()
		if s.events[answered].Arrived() >= s.events[failed].Sent() &&
			strings.HasPrefix(answer, s.events[failed].Code()) {
			return // it is what was answered
		}
	}
	s.choose(failed, Close)
}

// moveCalls follows what the donor of a movePrimary had asked its recipient last.
func (s *slice) moveCalls(i int) {
	e := &s.events[i]
	s.chooseLast(i, Close, func(x *trace.Event) bool {
		database, _ := x.Argument("Database")
		move, _ := x.Argument("Move")
		return x.Kind == trace.Exchanged && x.Peer == e.Node && setOf(x.Node) == e.Peer &&
			(database == e.NS || move == e.Migration())
	})
}

// nsOf is the collection of an event, or that of its migration.
func (s *slice) nsOf(e *trace.Event) string {
	for i := range s.events {
		if m := &s.events[i]; e.NS == "" && m.Kind == trace.MigrationRequested &&
			m.Migration() == e.Migration() {
			return m.NS
		}
	}
	return e.NS
}

// namesStatement says whether the contradiction names the transaction of a statement.
func (s *slice) namesStatement(e *trace.Event) bool {
	return namesIt(s.about.Text, fmt.Sprintf("transaction %d of session %s", e.Txn(), e.Session()))
}

// concern says whether what happens in an event may be done for the request of an exchange.
func concern(x, e *trace.Event) bool {
	asked, _ := x.Said()
	switch {
	case e.Kind == trace.Applied && e.Actor == trace.User, e.Kind == trace.Executed:
		return e.Session() != "" && namesIt(asked, e.Session())
	case e.Migration() != "" && e.Kind != trace.CatalogWritten:
		return ofMigration(x) != "" && !polls(x) && !pulls(x)
	case e.Kind == trace.CatalogWritten && movedBy(e) != "":
		return namesIt(asked, movedBy(e))
	case e.Kind == trace.BalancerState:
		return strings.HasPrefix(x.Asked(), "Balancer") || x.Asked() == "PutSetting"
	case changesCatalog(e) && ofMigration(x) != "":
		return false // it writes what the migration does, and nothing else
	case changesCatalog(e):
		return e.NS != "" && (e.NS == x.NS || namesIt(asked, e.NS)) ||
			e.Peer != "" && namesIt(asked, e.Peer)
	}
	return false
}

// pulls says whether a request has a number: then it fetches the next part of something.
func pulls(x *trace.Event) bool {
	_, numbered := x.Argument("Number")
	return numbered
}

// polls says whether a request only asks how things are.
func polls(x *trace.Event) bool { return strings.HasSuffix(x.Asked(), "Status") }

// ofMigration is the migration that a request names, by itself or by its session; empty for none.
func ofMigration(x *trace.Event) string {
	if id, named := x.Argument("Migration"); named {
		return id
	}
	session, _ := x.Argument("Session")
	return session[strings.LastIndexByte(session, '_')+1:]
}

// attemptsTold is how many requests of one operation are told.
const attemptsTold = 4

// attempts follows the requests by which a client's write reached shards.
func (s *slice) attempts(op *histories.Op) {
	if op.Client < 0 || op.Client == histories.PreloadClient || !writesKind(op.Kind) {
		return
	}
	told := 0
	for i := range s.events {
		x := &s.events[i]
		if x.Kind != trace.Exchanged || x.NS != op.NS || x.Arrived() < op.CallAt ||
			x.Arrived() > op.ReturnAt {
			continue
		}
		session, _ := x.Argument("session")
		if strings.HasPrefix(session, fmt.Sprintf("client.%d/", op.Client)) &&
			told < attemptsTold && !s.plain(i) {
			s.choose(i, Close)
			told++
		}
	}
}

// causalRead follows the request by which a read reached a shard that was to answer no older state
// than its session had seen, where that is in question: what state it named, and what it got.
func (s *slice) causalRead(op *histories.Op) {
	if !op.Kind.Of().Reads() || !strings.Contains(s.about.Text, "session had seen") {
		return
	}
	for i := range s.events {
		x := &s.events[i]
		after, named := x.Argument("After")
		if x.Kind == trace.Exchanged && x.Asked() == "Find" && x.NS == op.NS && named &&
			op.CallAt <= x.Arrived() && x.Arrived() <= op.ReturnAt && namesIt(s.about.Text, after) {
			s.choose(i, Must)
		}
	}
}

// plain says whether a write was let in at once with the version that its shard had, as usual.
func (s *slice) plain(i int) bool {
	x := &s.events[i]
	_, answer := x.Said()
	attached, _ := x.Argument("version")
	return s.ownVersion(i) == "; the shard's own is "+attached &&
		strings.HasPrefix(answer, "n ") && !strings.Contains(answer, "before") &&
		detour(x.Passed())+s.repeated(i) == ""
}
