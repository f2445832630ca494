package cli

import (
	"os"
	"runtime"
	"runtime/debug"
)

// reserve counts as live memory and is never touched, so it takes none. Worlds are small and soon
// over: without it the collector would run every few megabytes, for what dies by itself with its
// run.
var reserve []byte

const reserveSize = 24 << 20

// collectSeldom has the collector run when as much as the reserve and what is alive has been
// allocated, unless the user of the process has said when.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(100)
		reserve = make([]byte, reserveSize)
	}
}

// collectOften is for a command whose memory stays alive: less room for garbage is enough. The
// returned function ends it.
func collectOften() (restore func()) {
	const percent = 50
	before, size := debug.SetGCPercent(percent), len(reserve)
	reserve = nil
	return func() {
		debug.SetGCPercent(before)
		reserve = make([]byte, size)
	}
}

// sampleEvery is of how many bytes that are allocated one is in a memory profile, as the runtime
// has it by default.
const sampleEvery = 512 * 1024

// sampleMemory samples allocations for a memory profile, with 0 none of them: the samples cost a
// hundredth of the time of a run, and hardly any run writes the profile.
func sampleMemory(every int) { runtime.MemProfileRate = every }
