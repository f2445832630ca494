package scenario

// ZoneRemove: it may not any more.
const ZoneRemove CommandKind = "zone-remove"

var _ = declareCommand(120, ZoneRemove, shard, zone)
