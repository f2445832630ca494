package linearize

import (
	"slices"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// Sightings calls each for what a read or a scan says of single keys: an identity and a list, or
// that no document was found. A scan says so only of the given keys, which are in order: of a range
// of any width, no others matter.
func Sightings(
	op *histories.Op,
	keys []int64,
	each func(key int64, found bool, value string, list []string),
) {
	if op.Kind.Of().Shape == opkind.Keyed {
		each(op.Key, op.Result.Found, op.Result.Value, op.Result.List)
		return
	}
	eachSighting(op, keys, func(s keySighting) { each(s.key, s.found, s.value, s.list) })
}

// keySighting is what a read or a scan says of one key.
type keySighting struct {
	key   int64
	found bool
	value string
	list  []string
	end   uint64
}

// eachSighting takes a scan apart into one read of each of the keys in its range. A scan is not
// atomic; what holds is that each key was looked at between the call and the batch that held it, or
// would have. The lower bound is the scan's call, not the batch's: after a migration the donor's
// cursor rightly returns the version of the commit. A scan that broke off says nothing beyond the
// last document it returned.
func eachSighting(op *histories.Op, keys []int64, each func(keySighting)) {
	end, last := op.Return, op.To
	if op.Outcome == histories.Failed || len(op.Result.Items) == 0 && !op.Result.Complete {
		return
	}
	if !op.Result.Complete || op.Outcome != histories.OK {
		final := &op.Result.Items[len(op.Result.Items)-1]
		end, last = final.Return, final.Key+1
	}
	absent := func(from, to int64) {
		first, _ := slices.BinarySearch(keys, from)
		for _, key := range keys[first:] {
			if key >= to {
				return
			}
			each(keySighting{key: key, end: end})
		}
	}
	next := op.Key
	for i := range op.Result.Items {
		item := &op.Result.Items[i]
		absent(next, item.Key)
		each(keySighting{item.Key, true, item.Value, item.List, item.Return})
		next = max(next, item.Key+1)
	}
	absent(next, last)
}
