package scenario

// ZoneAdd: the shard may have ranges of the zone.
const ZoneAdd CommandKind = "zone-add"

var _ = DeclareCommand(110, ZoneAdd, ShardOperand, ZoneOperand)
