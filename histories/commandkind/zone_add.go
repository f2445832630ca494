package commandkind

// ZoneAdd: the shard may have ranges of the zone.
const ZoneAdd Name = "zone-add"

var _ = Declare(110, ZoneAdd, Shard, Zone)
