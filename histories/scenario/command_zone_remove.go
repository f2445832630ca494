package scenario

// ZoneRemove: it may not any more.
const ZoneRemove CommandKind = "zone-remove"

var _ = DeclareCommand(120, ZoneRemove, ShardOperand, ZoneOperand)
