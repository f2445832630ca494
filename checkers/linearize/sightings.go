package linearize

import (
	"slices"

	"github.com/shardproof/shardproof/checkers/compact"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// Sighting is what a read or a scan says of one key: an identity and a list, or that no document
// was found.
type Sighting struct {
	Key   int64
	Found bool
	Value compact.Text
	List  []compact.Text
	end   uint64
}

// Sightings calls each for what a read or a scan says of single keys. A scan says so only of the
// given keys, which are in order: of a range of any width, no others matter.
func Sightings(h *compact.History, op *compact.Op, keys []int64, each func(Sighting)) {
	if h.Kind(op).Shape == opkind.Keyed {
		each(sightingOf(h, op))
		return
	}
	eachSighting(h, op, keys, each)
}

func sightingOf(h *compact.History, op *compact.Op) Sighting {
	return Sighting{op.Key, op.Found, op.Saw, h.Aside(op).List, op.Return}
}

// eachSighting takes a scan apart into one read of each of the keys in its range. A scan is not
// atomic; what holds is that each key was looked at between the call and the batch that held it, or
// would have. The lower bound is the scan's call, not the batch's: after a migration the donor's
// cursor rightly returns the version of the commit. A scan that broke off says nothing beyond the
// last document it returned.
func eachSighting(h *compact.History, op *compact.Op, keys []int64, each func(Sighting)) {
	outcome, aside := h.Form(op).Outcome, h.Aside(op)
	items, whole := aside.Items, op.Complete && outcome == histories.OK
	if outcome == histories.Failed || len(items) == 0 && !whole {
		return
	}
	end, last := op.Return, aside.To
	if !whole {
		final := &items[len(items)-1]
		end, last = final.Return, final.Key+1
	}
	absent := func(from, to int64) {
		first, _ := slices.BinarySearch(keys, from)
		for _, key := range keys[first:] {
			if key >= to {
				return
			}
			each(Sighting{Key: key, end: end})
		}
	}
	next := op.Key
	for i := range items {
		item := &items[i]
		absent(next, item.Key)
		each(Sighting{item.Key, true, item.Value, item.List, item.Return})
		next = max(next, item.Key+1)
	}
	absent(next, last)
}
