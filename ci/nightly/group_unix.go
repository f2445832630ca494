//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// interruptGroup has a command end with everything that it has started: `make` and `go run` leave
// their children alone.
func interruptGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
}
