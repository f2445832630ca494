package policy

import "fmt"

// OnlyJumbo is a shard that should give chunks of a zone and has none that may move: all that it
// has of the zone are marked jumbo. It stays as it is until an operator splits them or clears their
// flags.
type OnlyJumbo struct {
	NS, Shard string
	// Zone is "" for what is outside of all zones.
	Zone string
	// Reason is why the shard should give chunks.
	Reason Reason
}

// String is like "shard-a has only jumbo chunks of test.docs in zone west, which should move
// (draining)".
func (o OnlyJumbo) String() string {
	zone := "outside of all zones"
	if o.Zone != "" {
		zone = "in zone " + o.Zone
	}
	return fmt.Sprintf("%s has only jumbo chunks of %s %s, which should move (%v)",
		o.Shard, o.NS, zone, o.Reason)
}

// OnlyJumbo returns what should have been chosen, but for jumbo flags, of the collections that the
// round has looked at.
func (r *Round) OnlyJumbo() []OnlyJumbo { return r.stuck }

// warn notes a cell whose chunks should move, if all of them are jumbo. The cell may be nil.
func (r *Round) warn(c *Collection, at *shardZone, reason Reason) {
	if at == nil || at.jumbo == 0 || at.jumbo < at.chunks {
		return
	}
	r.stuck = append(r.stuck, OnlyJumbo{
		NS: c.Table.Collection().NS, Shard: r.shards[at.shard].Name,
		Zone: r.survey.zones[at.zone], Reason: reason,
	})
}

// warnUrgent notes what of a shard must not stay where it is.
func (r *Round) warnUrgent(c *Collection, shard int, reason Reason) {
	s := &r.shards[shard]
	for at := range r.survey.on(shard) {
		if reason == Draining || !s.Draining && !s.has(r.survey.zones[at.zone]) {
			r.warn(c, at, reason)
		}
	}
}
