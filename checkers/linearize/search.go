package linearize

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
)

// Limits bound a search, which may be exponential.
type Limits struct {
	// Time is the longest one search may take; Acts is the longest history of a key that is
	// searched at all, since memory grows with its square.
	Time time.Duration
	Acts int
}

// Search decides by porcupine whether an order explains the key. When a limit is reached it answers
// Open, and exceeded says which. What it needs not to know is left out: acts of unknown outcome
// that nobody saw, unless somebody's failed condition may have met them.
func (k *Key) Search(limits Limits) (answer Answer, exceeded string) {
	ops := k.operations()
	switch {
	case k.Places > mostNames:
		return Open, fmt.Sprintf("its collection had %d names, and a search follows %d at most",
			k.Places, mostNames)
	case len(ops) > limits.Acts:
		return Open, fmt.Sprintf("its %d operations are more than the %d that a search may have",
			len(ops), limits.Acts)
	case limits.Time <= 0:
		return Open, "no time was left to search its operations"
	}
	switch porcupine.CheckOperationsTimeout(k.model(), ops, limits.Time) {
	case porcupine.Ok:
		return Explained, ""
	case porcupine.Illegal:
		return Contradiction, ""
	}
	return Open, fmt.Sprintf("the search of its %d operations took longer than %v", len(ops),
		limits.Time.Round(time.Millisecond))
}

// vague says whether somebody noticed something that is true of many states, or a document that has
// no name and may have been made by any push.
func (k *Key) vague() bool {
	for i := range k.Acts {
		a := &k.Acts[i]
		unnamed := a.See == Exactly && a.Seen == Unnamed && (a.Do != Leave || a.List == 0)
		if a.See == Present || a.See == Except || unnamed {
			return true
		}
	}
	return false
}

func (k *Key) operations() []porcupine.Operation {
	keep := k.Repeats || k.vague()
	ops := make([]porcupine.Operation, 0, len(k.Acts))
	for i := range k.Acts {
		a := &k.Acts[i]
		if a.Maybe && !keep && a.Do != Remove && a.Do != Move {
			continue
		}
		ops = append(ops, porcupine.Operation{
			ClientId: i, Input: a, Call: int64(a.Call), Return: int64(max(a.Call, a.Return)),
		})
	}
	return ops
}

// documents is a state: what is in each place.
type documents [mostNames]document

// document is a state that porcupine can compare: the list is the bytes of its identities.
type document struct {
	value ID
	list  string
}

func (k *Key) model() porcupine.Model {
	texts := make([]string, len(k.Lists))
	for i, list := range k.Lists {
		texts[i] = listText(list)
	}
	lists := k.pushes()
	return porcupine.Model{
		Init: func() any { return documents{} },
		Step: func(s, input, _ any) (bool, any) {
			return applyAct(s.(documents), input.(*KeyOp), texts, lists)
		},
		Hash: func(s any) uint64 {
			h := uint64(0)
			for _, d := range s.(documents) {
				h = h*31 + uint64(d.value)*0x9e3779b97f4a7c15 + uint64(len(d.list))
				if n := len(d.list); n >= 4 {
					h ^= uint64(binary.LittleEndian.Uint32([]byte(d.list[n-4:]))) << 32
				}
			}
			return h
		},
	}
}

func listText(list []ID) string {
	var b []byte
	for _, id := range list {
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
	}
	return string(b)
}

// applyAct is the specification of one act. One of unknown outcome whose condition is not met did
// nothing; that it may do nothing in other states too needs no saying, since it may also come last.
func applyAct(all documents, a *KeyOp, texts []string, lists bool) (bool, any) {
	d := all[a.Place]
	holds := a.holds(d.value)
	if lists && a.See == Exactly && a.Seen != Absent && a.Do == Leave {
		holds = holds && texts[a.List] == d.list
	}
	if !holds {
		return a.Maybe, all
	}
	if a.Do == Move {
		all[a.Into], all[a.Place] = d, document{}
		return true, all
	}
	next := document{a.value(d.value), d.list}
	switch a.Do {
	case Set, Remove:
		next.list = ""
	case Append:
		next.list += listText([]ID{a.Put})
	}
	all[a.Place] = next
	return true, all
}
