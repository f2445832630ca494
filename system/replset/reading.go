package replset

import "github.com/shardproof/shardproof/system/oplog"

// Reading is what the bytes of entries say, known by where they are in memory: the members of one
// process get the very bytes that their primary made, and need not each read them. The zero Reading
// is ready; nil remembers nothing. In a world that passes messages through bytes nothing is found,
// and every member reads for itself.
//
// Invariant: bytes of an entry never change, and what is remembered keeps them from being used
// again for others.
type Reading struct{ of map[*byte]*oplog.Entry }

// mostRead bounds what is kept of entries that every member has by now.
const mostRead = 256

// remember notes what an entry says, which nobody changes from now on.
func (r *Reading) remember(data []byte, entry *oplog.Entry) {
	if r == nil || len(data) == 0 {
		return
	}
	if r.of == nil {
		r.of = make(map[*byte]*oplog.Entry)
	}
	if len(r.of) == mostRead {
		clear(r.of)
	}
	r.of[&data[0]] = entry
}

// find returns what an entry says; nil when that is not remembered.
func (r *Reading) find(data []byte) *oplog.Entry {
	if r == nil || len(data) == 0 {
		return nil
	}
	return r.of[&data[0]]
}
