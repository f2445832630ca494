//go:build unix

package supervise

import (
	"os"
	"syscall"
)

// brokenPipeCode is what a shell makes of a program whose reader went away.
const brokenPipeCode = 128 + int(syscall.SIGPIPE)

func brokenPipe(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGPIPE
}
