package commandkind

// ZoneRemove: it may not any more.
const ZoneRemove Name = "zone-remove"

var _ = Declare(120, ZoneRemove, Shard, Zone)
