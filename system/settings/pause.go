package settings

import "time"

// Pause is how long a loop waits between two iterations: the interval that is set, but at least a
// millisecond. With zero, time would not advance, and a wait with a limit of zero has no limit.
func Pause(interval time.Duration) time.Duration { return max(interval, time.Millisecond) }
