package balance

import "slices"

// Lacks is the most urgent thing for which something of the collection would move in a round that
// does nothing else, in the words of operators; empty for none. It is not known for a
// collection that nothing may move of, and when a choice between equals decides.
func (r *Round) Lacks(ns string) (violation string, known bool) {
	c := r.collection(ns)
	switch {
	case c == nil || c.Off:
		return "", false
	case c.Defragment:
		return "defragmentingChunks", true
	}
	used := taken{}
	for _, s := range r.Shards {
		if s.Busy {
			used[s.Name] = true
		}
	}
	o := r.next(c, used, nil)
	switch {
	case len(o.any) > 0 && o.idle:
		return "", false
	case len(o.any) > 0 && o.why == drains:
		return "draining", true
	case len(r.Cuts(ns)) > 0, len(o.any) > 0 && o.why == wrongZone:
		return "zoneViolation", true
	case len(o.any) > 0:
		return "chunksImbalance", true
	}
	return "", true
}

// Weighing is the round of which the shards have that much of a collection.
func (r *Round) Weighing(ns string, bytes map[string]int64) *Round {
	other := *r
	other.Collections = slices.Clone(r.Collections)
	if c := other.collection(ns); c != nil {
		c.Bytes = bytes
	}
	return &other
}
