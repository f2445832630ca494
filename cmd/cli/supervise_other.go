//go:build !linux

package cli

import "syscall"

func workerAttributes() *syscall.SysProcAttr { return nil }
