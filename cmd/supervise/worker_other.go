//go:build !linux

package supervise

import "syscall"

func workerAttributes() *syscall.SysProcAttr { return nil }
