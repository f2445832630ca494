//go:build !linux

package main

import "os"

// peakMemory is not known: systems count it in units of their own.
func peakMemory(*os.ProcessState) int64 { return 0 }
