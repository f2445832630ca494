package scenario

import (
	"fmt"

	"github.com/shardproof/shardproof/histories/opkind"
)

func (s *Scenario) checkOps(Names) *defect {
	ids, values := map[int]bool{}, map[string]int{}
	for i := range s.Ops {
		o := &s.Ops[i]
		if by, taken := values[o.Value]; taken && o.Value != "" {
			return flaw("op", i, fmt.Sprintf("the value %s is written by operation %d already",
				quoteWord(o.Value), by),
				"a value of its own, by which the write is told from others")
		}
		values[o.Value] = o.ID
		if ids[o.ID] {
			return flaw("op", i, fmt.Sprintf("operation %d is given twice", o.ID),
				"a number of its own")
		}
		ids[o.ID] = true
		if wrong, expected := s.opFlaw(o); wrong != "" {
			return flaw("op", i, wrong, expected)
		}
	}
	return nil
}

// opFlaw looks at the place of an operation, opShape at what it carries.
func (s *Scenario) opFlaw(o *Op) (wrong, expected string) {
	c := s.collection(o.NS)
	switch {
	case o.At < 0:
		return "the start " + o.At.String() + " is negative", "a time of 0s or later"
	case o.Client < 0 || o.Client >= s.Topology.Clients:
		return fmt.Sprintf("there is no client %d", o.Client), fmt.Sprintf("a client from 0 to %d",
			s.Topology.Clients-1)
	case !o.Kind.Known():
		return "unknown operation " + quoteWord(string(o.Kind)), "one of " + opkind.List()
	case c == nil:
		return "there is no collection " + quoteWord(o.NS), "one of the collections above"
	case o.Kind.Of().Renames &&
		(o.Into == o.NS || s.collection(o.Into) == nil || !s.collection(o.Into).like(c)):
		return "the collection cannot be renamed to " +
				quoteWord(o.Into), "into= another collection above with as many keys, made in " +
				"the same way"
	case o.Kind == Shard && !c.Unsharded:
		return "the collection " + quoteWord(o.NS) + " is sharded already",
			"shard of an unsharded collection"
	case o.Key < 0 || o.Key >= int64(c.Keys):
		return fmt.Sprintf("the key %d is not one of %s",
			o.Key, c.NS), fmt.Sprintf("a key from 0 to %d", c.Keys-1)
	}
	if wrong, expected := o.readFlaw(); wrong != "" {
		return wrong, expected
	}
	if wrong, expected := o.concernFlaw(s.Topology.Members); wrong != "" {
		return wrong, expected
	}
	return o.shapeFlaw(int64(c.Keys))
}

// readFlaw looks at what only reads have.
func (o *Op) readFlaw() (wrong, expected string) {
	reads := o.Kind.Of().Reads()
	switch {
	case !reads && (o.Prefer != "" || o.Causal):
		return "a " + string(o.Kind) +
			" goes to the primary and follows its session anyway", "no prefer= and no causal"
	case o.Prefer != "" && o.Prefer != Secondary:
		return "unknown read preference " + quoteWord(o.Prefer), "prefer=" + Secondary + " or none"
	case o.Prefer == Secondary && (o.Concern == "" || o.Concern == "linearizable"):
		return "no secondary answers linearizable reads",
			"a weaker concern such as concern=majority"
	case o.Age < 0 || o.Age > 0 && (!reads || o.Concern != "snapshot" || o.Causal):
		return "age=" + o.Age.String() + " of a " + string(o.Kind) +
				" that is no snapshot of the past",
			"a time above zero, with concern=snapshot and no causal"
	}
	return "", ""
}

// concernFlaw looks at what only writes to documents have. What fewer members than a majority have
// may be rolled back, so that no history says what became of it.
func (o *Op) concernFlaw(members int) (wrong, expected string) {
	kind := o.Kind.Of()
	switch {
	case (o.W != 0 || o.WTimeout != 0) && (kind.Shape != opkind.Keyed || kind.Reads()):
		return "a " + string(o.Kind) + " waits for no members",
			"w= and wtimeout= with writes to documents only"
	case o.W != 0 && (o.W < 2 || o.W <= members/2 || o.W > members):
		return fmt.Sprintf("w=%d with %d members", o.W, members),
			"at least two members, a majority, and no more than a shard has"
	case o.WTimeout < 0:
		return "wtimeout=" + o.WTimeout.String(), "a time above zero"
	}
	return "", ""
}

func (o *Op) shapeFlaw(keys int64) (wrong, expected string) {
	kind := o.Kind.Of()
	scan := kind.Shape == opkind.Ranged
	switch {
	case o.Batched && (kind.Shape != opkind.Keyed || kind.Reads()):
		return "a " + string(o.Kind) + " is no write to a document",
			"batched with writes to documents only"
	case o.Together && (o.Kind != Insert || o.Batched):
		return "together is for inserts that go into one command with the one before",
			"together with an insert that is not batched"
	case o.Kind.Whole() && (o.Key != 0 || o.Concern != ""):
		return "a " + string(o.Kind) + " has a key or a concern", "the collection alone"
	case !kind.Renames && (o.Into != "" || o.DropTarget):
		return "a " + string(o.Kind) + " gives no other name", "no into= and no drop-target"
	case o.Kind.Writes() && o.Value == "":
		return "the " + string(o.Kind) + " has no value", "an identity such as v=w4"
	case !o.Kind.Writes() && o.Value != "":
		return "a " + string(o.Kind) + " writes no value", "no v="
	case !kind.Expects() && o.Expect != "":
		return "a " + string(o.Kind) + " expects nothing", "no if="
	case scan && (o.To <= o.Key || o.To > keys):
		return "the range " + rangeText(o.Key, o.To) +
			" is empty or ends beyond the keys", fmt.Sprintf("an end from %d to %d", o.Key+1, keys)
	case scan && o.Batch < 1:
		return fmt.Sprintf("batch=%d", o.Batch), "batch=1 or more"
	case !scan && (o.To != 0 || o.Batch != 0 || o.Rest != 0):
		return "a " + string(o.Kind) + " has no range and no batch", "k= alone"
	case o.Rest < 0:
		return "rest=" + o.Rest.String(), "rest=0s or more"
	}
	return "", ""
}
