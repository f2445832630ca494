package settings

import "time"

// Pause is how long a loop rests between two turns whose interval may be set to zero: time must go
// on all the same, and a wait of zero has no end.
func Pause(interval time.Duration) time.Duration { return max(interval, time.Millisecond) }
