package cli

import "time"

// spent is the time that a sweep has taken in all its parts. Killed, it forgets the last second or
// so.
type spent struct{ CPU, Wall time.Duration }

const (
	spentFile   = "time.json"
	spentSchema = "shardproof.time/1"
	spentEvery  = time.Second
)
