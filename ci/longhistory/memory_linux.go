package main

import (
	"os"
	"syscall"
)

// peakMemory is how many bytes of memory a process held at most.
func peakMemory(p *os.ProcessState) int64 {
	return p.SysUsage().(*syscall.Rusage).Maxrss * 1024
}
