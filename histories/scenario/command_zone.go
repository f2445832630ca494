package scenario

// ZoneRange: the range is of the zone from now on, and with NoZone of none.
const ZoneRange CommandKind = "zone"

var _ = declareCommand(130, ZoneRange, namespace, joined, zone)

// NoZone stands for no zone in a ZoneRange.
const NoZone = "none"
