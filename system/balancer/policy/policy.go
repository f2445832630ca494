package policy

import "github.com/shardproof/shardproof/system/catalog"

// ByCount chooses for a collection by the policy of 4.2 (protocol 14.1): shards are to have the
// same number of chunks of each zone, and whole chunks move.
func (r *Round) ByCount(c *Collection) {
	if c.fixed() || r.Exhausted() {
		return
	}
	r.survey.take(c, r.index)
	r.weighByCount(c)
	r.urgent(c, false)
	for zone := range r.survey.zones {
		r.levelCounts(c, zone)
	}
}

func (r *Round) weighByCount(c *Collection) {
	for i := range r.shards {
		r.weights[i] = int64(c.Table.Count(r.shards[i].Name))
	}
}

// levelCounts balances a zone. More than the ideal number is too many, less is too few (errata
// E15). What is on shards that drain counts for those that will have it, so the ideal stays the
// same from round to round and no chunk comes back.
func (r *Round) levelCounts(c *Collection, zone int) {
	var chunks, members int64
	clear(r.load)
	for _, at := range r.survey.of(zone) {
		r.load[at.shard] = at.chunks
		chunks += at.chunks
	}
	for i := range r.shards {
		if s := &r.shards[i]; s.has(r.survey.zones[zone]) && !s.Draining {
			members++
		}
	}
	if members == 0 {
		return
	}
	ideal := (2*chunks + members) / (2 * members) // rounded half up
	r.level(c, zone, false, func(from, to int) bool {
		return r.load[from] > ideal && r.load[to] < ideal
	})
}

// imbalanceInChunks is by how many times the size of a chunk two shards have to differ (errata E2,
// E3).
const imbalanceInChunks = 3

// BySize chooses for a collection by the policy of 6.0.3 and later (protocol 14.2): shards are
// to have the same amount of data, and the donor decides how much of a chunk it moves.
func (r *Round) BySize(c *Collection) {
	if c.fixed() || r.Exhausted() {
		return
	}
	r.survey.take(c, r.index)
	for i := range r.shards {
		r.weights[i] = unknownWeight
		if bytes, known := c.Bytes[r.shards[i].Name]; known {
			r.weights[i] = bytes
		}
	}
	if r.urgent(c, true) {
		return
	}
	copy(r.load, r.weights)
	for zone := range r.survey.zones {
		r.levelSizes(c, zone)
	}
}

// levelSizes balances the shards of a zone by all the data that they have of the collection, as the
// sources do.
func (r *Round) levelSizes(c *Collection, zone int) {
	var bytes, members int64
	for i := range r.shards {
		if s := &r.shards[i]; !s.has(r.survey.zones[zone]) || r.load[i] == unknownWeight {
			continue
		} else if !s.Draining {
			members++
		}
		bytes += r.load[i]
	}
	if members == 0 {
		return
	}
	ideal := bytes / members
	r.level(c, zone, true, func(from, to int) bool {
		return r.load[from] > ideal && r.load[to] < ideal &&
			r.load[from]-r.load[to] >= imbalanceInChunks*c.ChunkBytes
	})
}

// unknownWeight is the weight of a shard whose answer is missing.
const unknownWeight = -1

// urgent moves what must not stay where it is: first from shards that drain, then from shards that
// are not of the zone. One chunk per shard: the first that another shard can take. By size, where
// chunks are open, one round serves a collection for one reason: urgent reports whether it has
// chosen any (protocol 14.1).
func (r *Round) urgent(c *Collection, open bool) bool {
	r.closed = append(r.closed[:0], make([]bool, len(r.survey.zones))...)
	before := len(r.chosen)
	for _, reason := range []Reason{Draining, ZoneViolation} {
		for i := range r.shards {
			if reason == ZoneViolation || r.shards[i].Draining {
				r.warnUrgent(c, i, reason)
				r.rescue(c, i, reason, open)
			}
		}
		if open && len(r.chosen) > before {
			return true
		}
	}
	return false
}

func (r *Round) rescue(c *Collection, shard int, reason Reason, open bool) {
	if r.used[shard] || r.weights[shard] == unknownWeight {
		return
	}
	for _, at := range r.survey.movable(shard) {
		zone := r.survey.zones[at.zone]
		if r.closed[at.zone] || reason == ZoneViolation && r.shards[shard].has(zone) {
			continue
		}
		if to := r.lightest(zone); to >= 0 {
			r.choose(c, c.Table.Owner(at.first), to, reason, open)
			return
		}
		r.closed[at.zone] = true
	}
}

// level moves chunks of the zone from the shard that has most of it to the one that has the least,
// for as long as two shards are left that differ enough. When the shard that has most has no chunk
// of it that may move, that is the end, as in the sources.
func (r *Round) level(c *Collection, zone int, open bool, enough func(from, to int) bool) {
	name := r.survey.zones[zone]
	for {
		from, to := r.heaviest(name), r.lightest(name)
		if from < 0 || to < 0 || !enough(from, to) {
			return
		}
		at := r.survey.at(from, zone)
		if at == nil || at.first == "" {
			r.warn(c, at, Imbalance)
			return
		}
		r.choose(c, c.Table.Owner(at.first), to, Imbalance, open)
	}
}

// heaviest is the shard of the zone with the highest load; the first by name of equals, and -1 when
// none is left. One that drains has been handled.
func (r *Round) heaviest(zone string) int {
	best := -1
	for i := range r.shards {
		s := &r.shards[i]
		if r.used[i] || s.Draining || !s.has(zone) || r.weights[i] == unknownWeight {
			continue
		}
		if best < 0 || r.load[i] > r.load[best] {
			best = i
		}
	}
	return best
}

// lightest is the shard that takes chunks of the zone and has least of the whole collection; the
// first by name of equals, and -1 when none is left.
func (r *Round) lightest(zone string) int {
	best := -1
	for i := range r.shards {
		if r.used[i] || r.weights[i] == unknownWeight || !r.shards[i].takes(zone) {
			continue
		}
		if best < 0 || r.weights[i] < r.weights[best] {
			best = i
		}
	}
	return best
}

// Receiver is where a single chunk of the collection should go: the shard that takes its zone and
// has least of the collection by number of chunks. It is false when that is where the chunk is
// already, when no shard can take it, and when it has to be split for zones. The donor asks it for
// the chunk at an end of the keys after a split (4.2, top-chunk optimisation).
func (r *Round) Receiver(c *Collection, chunk catalog.Chunk) (string, bool) {
	if c.fixed() || c.Zones.Crosses(chunk.Range) {
		return "", false
	}
	r.weighByCount(c)
	to := r.lightest(c.Zones.Of(chunk.Range))
	if to < 0 || r.shards[to].Name == chunk.Shard {
		return "", false
	}
	return r.shards[to].Name, true
}
