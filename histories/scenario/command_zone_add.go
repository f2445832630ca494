package scenario

// ZoneAdd: the shard may have ranges of the zone.
const ZoneAdd CommandKind = "zone-add"

var _ = declareCommand(110, ZoneAdd, shard, zone)
