package model

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
)

// statementsNS is the namespace in which a Set keeps what it has on record of retryable writes: a
// document for each session and number of a statement, whose key is where it wrote and whose hash
// the transaction number, which is never zero. A rollback takes statements back like everything
// else.
const statementsNS = "statements of sessions"

func statementID(e *trace.Event) string {
	return e.Session() + "\x00" + strconv.Itoa(e.Statement())
}

// deadEnd is the number of a statement that stands for any: the history of its transaction is
// incomplete.
const deadEnd = "-1"

func documentPlace(ns, key string) string { return ns + "\x00" + key }

// History is what a replica set remembers of retryable writes, by session and statement.
type History map[string]Doc

// History is what the newest leader has on record.
func (s *Set) History() History { return s.Documents(statementsNS, "", "\xff") }

// DurableHistory is History as far as a majority has it.
func (s *Set) DurableHistory() History { return s.Durable(statementsNS, "", "\xff") }

// IsOver reports whether the session of an execution has gone on to a later transaction: its client
// will not repeat the statement.
func (h History) IsOver(e *trace.Event) bool { return h.newest(statementID(e)) > uint64(e.Txn()) }

// Refuses reports whether a majority would not execute the statement of an execution again.
func (s *Set) Refuses(e *trace.Event) bool {
	return s.DurableHistory().Refuses(statementID(e), Doc{Hash: uint64(e.Txn())})
}

// OnRecord says why the newest leader must not execute a statement, by what its own log has before;
// empty when it may. It is asked at every write, and copies nothing.
func (s *Set) OnRecord(e *trace.Event) string {
	known, txn := History(s.docs[statementsNS]), uint64(e.Txn())
	switch newest := known.newest(statementID(e)); {
	case known[statementID(e)].Hash == txn:
		return "it has the statement on record"
	case newest > txn:
		return "it has transaction " + strconv.FormatUint(newest, 10) + " of the session on record"
	case known[e.Session()+"\x00"+deadEnd].Hash == txn:
		return "it has on record that the history of the transaction is incomplete"
	}
	return ""
}

// In are the statements that touched keys of the namespace in [lo, hi), or such keys under another
// name of the same collection, of which of says whether a statement is one. Only those count of the
// newest transaction of their sessions: those that their clients may still try again. Statements of
// which adopted says so were executed before the collection had its shard key, and may be of any.
// What was done to the collection as a whole while it was unsharded has the lowest key, and does
// not move: of a sharded one it is asked for at the config server, which has a record of its own.
// The note that a history is incomplete is in no range; it counts if adopted says so.
func (h History) In(ns, lo, hi string, of, adopted func(id string, txn uint64) bool) History {
	in := History{}
	//shardproof:allow map each statement is judged by itself
	for id, d := range h {
		name, key := d.StatementPlace()
		here := lo <= key && key < hi && (name == ns || of(id, d.Hash))
		moves := key != lowestKey && (here && !endsDead(id) || adopted(id, d.Hash))
		if moves && d.Hash >= h.newest(id) {
			in[id] = d
		}
	}
	return in
}

// CutOff are the notes that the history of a transaction is incomplete.
func (h History) CutOff() History {
	notes := History{}
	//shardproof:allow map each is taken by itself
	for id, d := range h {
		if endsDead(id) {
			notes[id] = d
		}
	}
	return notes
}

// Note adds notes that the history of a transaction is incomplete, by session.
func (h History) Note(sessions map[string]uint64) {
	//shardproof:allow map each is taken by itself
	for session, txn := range sessions {
		h[session+"\x00"+deadEnd] = Doc{Hash: txn}
	}
}

// Add adds what other has, except of transactions that are not the newest of their sessions in
// known.
func (h History) Add(other, known History) {
	//shardproof:allow map each is taken by itself
	for id, d := range other {
		if d.Hash >= known.newest(id) {
			h[id] = d
		}
	}
}

// endsDead reports whether a statement is none: what was executed before it is not known.
func endsDead(id string) bool { return strings.HasSuffix(id, "\x00"+deadEnd) }

// DescribeStatement names a statement of a History.
func (d Doc) DescribeStatement(id string) string {
	session, number, _ := strings.Cut(id, "\x00")
	of := fmt.Sprintf("transaction %d of session %s", d.Hash, session)
	if endsDead(id) {
		return "the note that the history of " + of + " is incomplete"
	}
	return "statement " + number + " of " + of
}

// StatementPlace is where a statement of a History wrote: the namespace and the encoded shard key.
func (d Doc) StatementPlace() (ns, key string) {
	ns, key, _ = strings.Cut(d.Key, "\x00")
	return ns, key
}

// newest is the newest transaction number of a statement's session.
func (h History) newest(id string) (txn uint64) {
	session, _, _ := strings.Cut(id, "\x00")
	//shardproof:allow map a maximum does not depend on the order
	for other, d := range h {
		if strings.HasPrefix(other, session+"\x00") {
			txn = max(txn, d.Hash)
		}
	}
	return txn
}

// Refuses says whether a retry of the statement would not be executed: it is on record, the session
// has gone on to a newer transaction, or its history is known to be incomplete.
func (h History) Refuses(id string, d Doc) bool {
	session, _, _ := strings.Cut(id, "\x00")
	return h[id].Hash == d.Hash || h[session+"\x00"+deadEnd].Hash == d.Hash || h.newest(id) > d.Hash
}
