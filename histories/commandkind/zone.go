package commandkind

// ZoneRange: the range is of the zone from now on, and with NoZone of none.
const ZoneRange Name = "zone"

var _ = Declare(130, ZoneRange, Namespace, Range, Zone)

// NoZone stands for no zone in a ZoneRange.
const NoZone = "none"
