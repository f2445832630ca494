package processes

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes have a child end with this process.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// limitFiles lets no file of a process grow above so many bytes.
func limitFiles(pid int, bytes uint64) error {
	return unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY},
		nil)
}
