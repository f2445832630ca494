package cli

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// reserve counts as live memory and is never touched, so it takes none. Worlds are small and soon
// over: without it the collector would run every few megabytes, for what dies by itself with its
// run.
var reserve []byte

// A large reserve and little room for each byte that is alive: garbage may take 16 MB, and a world
// of many migrations, which keeps tens of megabytes alive, is not given as much again for it.
const (
	reserveSize    = 80 << 20
	roomForReserve = 20 // percent
)

// collectSeldom has the collector run when a fifth of the reserve and of what is alive has been
// allocated, unless the user of the process has said when.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(roomForReserve)
		reserve = make([]byte, reserveSize)
	}
}

// A command whose memory stays alive begins to collect when so much is taken, which spares it a
// dozen collections that would find hardly any garbage; from then on less room for garbage than
// usual is enough.
const (
	firstCollection = 128 << 20
	roomForGarbage  = 50 // percent
)

// collectLate is for a command whose memory stays alive, and may take no more than so many bytes, 0
// for any: garbage is then collected the harder the nearer the limit is. The returned function ends
// it.
func collectLate(most int64) (restore func()) {
	limit := int64(math.MaxInt64)
	if most > 0 {
		limit = most / 10 * 9
	}
	size := len(reserve)
	reserve = nil
	percent, before := debug.SetGCPercent(-1), debug.SetMemoryLimit(min(firstCollection, limit))
	var ended atomic.Bool
	runtime.AddCleanup(new([64]byte), func(bool) { // it is garbage: the first collection says so
		if !ended.Load() {
			debug.SetGCPercent(roomForGarbage)
			debug.SetMemoryLimit(limit)
		}
	}, true)
	return func() {
		ended.Store(true)
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(before)
		reserve = make([]byte, size)
	}
}

// sampleEvery is of how many bytes that are allocated one is in a memory profile, as the runtime
// has it by default.
const sampleEvery = 512 * 1024

// sampleMemory samples allocations for a memory profile, with 0 none of them: the samples cost a
// hundredth of the time of a run, and hardly any run writes the profile.
func sampleMemory(every int) { runtime.MemProfileRate = every }
