//go:build !unix

package cli

import "time"

var processStart = time.Now()

// cpuTime is how long this process has run, where the system does not tell what it has used.
func cpuTime() time.Duration { return time.Since(processStart) }
