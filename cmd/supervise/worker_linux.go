package supervise

import "syscall"

// workerAttributes have the worker killed when this process is.
func workerAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
