package shardstore

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
)

// Excuse turns failures that the version of the protocol is documented to show into documented
// ones, and names what the run has shown.
func (c *cluster) Excuse(
	history []histories.Op, verdicts []checkers.Verdict,
) (anomalies []string) {
	older := !protocolOf(c.scenario).CoordinatesMigrations()
	x := excuser{c, history}
	var excuses []verdict.Excuse
	if older {
		excuses = append(excuses, verdict.Excuse{Anomaly: verdict.UnfencedCommit,
			Explains: x.underAnyName(x.unfenced)},
			verdict.Excuse{Anomaly: verdict.LeftBehind, Explains: x.underAnyName(x.leftBehind)})
	}
	excuses = append(excuses, verdict.Excuse{Anomaly: verdict.ExecutedTwice,
		Explains: x.underAnyName(x.executedTwice)},
		verdict.Excuse{Anomaly: verdict.UndeliveredWrite,
			Explains: x.underAnyName(x.undelivered)})
	anomalies = verdict.Apply(excuses, verdicts)
	if older && c.leaked {
		anomalies = append(anomalies, verdict.LeakedOrphans.Name)
	}
	return anomalies
}

// excuser knows what a run has shown.
type excuser struct {
	*cluster
	history []histories.Op
}

// underAnyName: a violation about a collection that was renamed names it as one of its names, and
// what explains it may have happened under another.
func (x excuser) underAnyName(
	explains func(*checkers.Violation) bool,
) func(*checkers.Violation) bool {
	return func(v *checkers.Violation) bool {
		return slices.ContainsFunc(x.namesOf(v.NS), func(ns string) bool {
			named := *v
			named.NS = ns
			return explains(&named)
		})
	}
}

// namesOf are the names that the collection of that name may have had, itself among them.
func (x excuser) namesOf(ns string) []string {
	names := []string{ns}
	for n := 0; n < len(names); n++ {
		for i := range x.history {
			op := &x.history[i]
			if !op.Kind.Of().Renames || op.Outcome == histories.Failed {
				continue
			}
			for _, pair := range [][2]string{{op.NS, op.Into}, {op.Into, op.NS}} {
				if pair[0] == names[n] && !slices.Contains(names, pair[1]) {
					names = append(names, pair[1])
				}
			}
		}
	}
	return names
}

func (x excuser) unfenced(v *checkers.Violation) bool {
	damaged, places := x.damaged(), x.placesCompared(v)
	explains := func(d verdict.Damage) bool { return d.Explains(x.evidence(v), places, x.ended) }
	return verdict.Covers(damaged, v) || stuck(damaged, v) ||
		slices.ContainsFunc(damaged, explains) ||
		lacksChange(v) && slices.ContainsFunc(x.oracle.Unannounced(), explains)
}

// lacksChange: a stream that does not know of a shard misses what is written there, and what it
// delivers later of the same document does not follow from what it delivered before.
func lacksChange(v *checkers.Violation) bool {
	return v.Signature == checkers.ChangeMissed || v.Signature == checkers.ChangeWrong
}

// leftBehind explains a violation about a document that a movePrimary has left behind, or whose
// proof contains an operation on one.
func (x excuser) leftBehind(v *checkers.Violation) bool {
	places := x.placesOfProof(v)
	return slices.ContainsFunc(append(x.oracle.LeftBehind(), x.repeated()...),
		func(d verdict.Damage) bool { return d.Explains(x.evidence(v), places, x.ended) })
}

// placesCompared are those of which the violation may be the fault: one about the order of changes
// compares two.
func (x excuser) placesCompared(v *checkers.Violation) []string {
	if v.Signature == checkers.ChangeTimes {
		return x.placesOfProof(v)
	}
	return x.places(v)
}

// placesOfProof are those of the violation and of the operations that prove it: change streams
// compare the order of a client's operations on two keys.
func (x excuser) placesOfProof(v *checkers.Violation) []string {
	places := x.places(v)
	for _, op := range x.history {
		if slices.Contains(v.Ops, op.ID) && op.Kind.Of().Shape == opkind.Keyed {
			named := *v
			named.Key = strconv.FormatInt(op.Key, 10)
			places = append(places, x.places(&named)...)
		}
	}
	return places
}

// repeated is what may have been damaged by statements that a movePrimary has not taken along, and
// whose clients had no answer when it was committed.
func (x excuser) repeated() (all []verdict.Damage) {
	as := x.sendings()
	for _, u := range x.oracle.Unmoved() {
		if x.ended(sender(x.history, as, u.Twice)) >= u.Committed {
			all = append(all, u.Damage)
		}
	}
	return all
}

// stuck: the shard that a commit has taken a range from behind its back goes on to own it, and a
// stream that opens asks it in vain whether it has read the table that says otherwise.
func stuck(damaged []verdict.Damage, v *checkers.Violation) bool {
	return v.Signature == endstate.NotFinished && slices.ContainsFunc(damaged,
		func(d verdict.Damage) bool { return v.NS == d.NS })
}

// damaged is what unfenced commits may have damaged; that of a database, in each of its unsharded
// collections.
func (x excuser) damaged() []verdict.Damage {
	all := x.oracle.Unfenced()
	for _, d := range all {
		for _, c := range x.scenario.Collections {
			if c.Unsharded && catalog.DatabaseOf(c.NS) == d.NS {
				in := d
				in.NS = c.NS
				all = append(all, in)
			}
		}
	}
	return all
}

// evidence is the violation with the operations that prove it; none where all of a key do, of which
// it lists the first.
func (x excuser) evidence(v *checkers.Violation) *checkers.Violation {
	if v.Signature != checkers.NotLinearizable {
		return v
	}
	all := *v
	all.Ops = nil
	return &all
}

// ended is when an operation returned.
func (x excuser) ended(id int) int64 {
	if op := x.operation(id); op != nil {
		return op.ReturnAt
	}
	return 0
}

// operation is that of a number, nil if there is none.
func (x excuser) operation(id int) *histories.Op {
	i := slices.IndexFunc(x.history, func(op histories.Op) bool { return op.ID == id })
	if i < 0 {
		return nil
	}
	return &x.history[i]
}

// executedTwice explains a violation about the key of a statement that was executed twice, if the
// operation that sent the statement is part of the proof, or the proof is all that happened to the
// key. If the statement found nothing the second time, only its answer shows that: the client must
// have waited for it.
func (x excuser) executedTwice(v *checkers.Violation) bool {
	as := x.sendings()
	return slices.ContainsFunc(x.oracle.ExecutedTwice(), func(twice oracle.Twice) bool {
		return x.explains(twice, v, x.placesCompared(v), func() int {
			return sender(x.history, as, twice)
		})
	})
}

// undelivered explains a change that does not follow from the one before it, on the key of a write
// that no stream delivers and that was copied before.
func (x excuser) undelivered(v *checkers.Violation) bool {
	return slices.ContainsFunc(x.oracle.Undelivered(),
		func(w oracle.Undelivered) bool { return x.hides(w, v) })
}

func (x excuser) hides(w oracle.Undelivered, v *checkers.Violation) bool {
	return v.Signature == checkers.ChangeWrong && v.NS == w.NS &&
		slices.Contains(x.places(v), w.Key) &&
		slices.ContainsFunc(v.Ops, func(op int) bool { return x.ended(op) >= w.Since })
}

// concerned are the operations that prove a violation. If two of them replaced one value, so is the
// one that wrote it: a write that takes effect twice can be replaced twice.
func (x excuser) concerned(v *checkers.Violation) []int {
	if v.Signature != checkers.LostWrite || len(v.Ops) != 2 {
		return v.Ops
	}
	one, other := x.operation(v.Ops[0]), x.operation(v.Ops[1])
	if one == nil || other == nil || !one.Result.Found || !other.Result.Found ||
		one.Result.Value != other.Result.Value {
		return v.Ops
	}
	all := slices.Clone(v.Ops)
	for i := range x.history {
		if x.history[i].Value == one.Result.Value {
			all = append(all, x.history[i].ID)
		}
	}
	return all
}

// explains reports whether a second execution of a statement, sent by the operation of that number,
// explains a violation about the places of its key.
func (x excuser) explains(
	twice oracle.Twice, v *checkers.Violation, places []string, sender func() int,
) bool {
	return v.NS == twice.NS && slices.Contains(places, twice.Key) &&
		(v.Signature == checkers.NotLinearizable || slices.Contains(x.concerned(v), sender())) &&
		(twice.Found == 0 || x.ended(sender()) >= twice.Found)
}

// sending is how an operation is sent that is not one transaction of its own.
type sending int

const (
	_ sending = iota
	// batched: with a write before.
	batched
	// prepared: after another transaction, which makes what it needs.
	prepared
)

// sender is the number of the operation that sent a statement; the result is no operation's when
// there is none. Each operation of a client that does not read is the next transaction of its
// session, with one more before if it is prepared, or, if it goes into a batch with a write before,
// the next statement of that one.
func sender(history []histories.Op, as map[int]sending, s oracle.Twice) int {
	var txn int64
	statements := 0
	for _, op := range sent(history, s.Session) {
		if op.Kind.Whole() || as[op.ID] != batched || statements == 0 {
			txn, statements = txn+1, 0
		}
		if as[op.ID] == prepared {
			txn++
		}
		if txn == s.Txn && statements == s.Statement {
			return op.ID
		}
		if !op.Kind.Whole() {
			statements++
		}
	}
	return math.MinInt
}

// sent are the operations of a session's client that do not read, in the order of their calls.
func sent(history []histories.Op, session string) (ops []*histories.Op) {
	for i := range history {
		op := &history[i]
		kind := op.Kind.Of()
		if strings.HasPrefix(session, fmt.Sprintf("client.%d/", op.Client)) && !kind.Reads() &&
			kind.Shape != opkind.Streams {
			ops = append(ops, op)
		}
	}
	slices.SortFunc(ops, func(a, b *histories.Op) int { return cmp.Compare(a.Call, b.Call) })
	return ops
}

// sendings are how the operations of the scenario are sent that are not one transaction each.
func (c *cluster) sendings() map[int]sending {
	all := map[int]sending{}
	for i := range c.scenario.Ops {
		switch op := &c.scenario.Ops[i]; {
		case op.Batched || op.Together:
			all[op.ID] = batched
		case op.Kind == scenario.Shard && c.needsIndex(op.NS):
			all[op.ID] = prepared
		}
	}
	return all
}

// needsIndex reports whether a collection gets an index before it is sharded.
func (c *cluster) needsIndex(ns string) bool {
	i := slices.IndexFunc(c.scenario.Collections, func(one scenario.Collection) bool {
		return one.NS == ns
	})
	if i < 0 {
		return false
	}
	_, spec := indexFor(shardedBy(c.scenario.Collections[i]))
	return spec != nil
}

// places are the encoded shard keys that a violation's key may stand for: of a hashed collection,
// history checkers name the value and oracles the hash, also of one that was made unsharded and has
// got its key since.
func (c *cluster) places(v *checkers.Violation) []string {
	k, err := strconv.ParseInt(v.Key, 10, 64)
	if err != nil {
		return nil
	}
	places := []string{string(key.Int(k))}
	for _, coll := range c.scenario.Collections {
		by := shardKey(coll)
		if coll.Unsharded {
			by = shardedBy(coll)
		}
		at, err := by.Of(documentOf(nameOfKey(coll, k), ""))
		if coll.NS == v.NS && err == nil && !slices.Contains(places, string(at)) {
			places = append(places, string(at))
		}
	}
	return places
}
