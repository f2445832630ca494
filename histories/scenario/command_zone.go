package scenario

// ZoneRange: the range is of the zone from now on, and with NoZone of none.
const ZoneRange CommandKind = "zone"

var _ = DeclareCommand(130, ZoneRange, NamespaceOperand, RangeOperand, ZoneOperand)

// NoZone stands for no zone in a ZoneRange.
const NoZone = "none"
