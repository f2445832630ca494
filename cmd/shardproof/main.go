// Command shardproof proves that moving data between shards loses nothing, or shows how it does: it runs seeds, replays
// them, checks histories and lists what it knows. With the packages harness/campaign and system/live it is the only place
// with a wall clock, an environment and an operating system.
//
// Promise: the exit code tells what happened (0 passed, 1 a promise broke, 2 undecided, 3 a replay diverged, 4 the
// harness failed, 64 wrong usage, 130 interrupted); results go to standard output, progress and mistakes to standard
// error; no file is overwritten.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

func main() {
	os.Exit(Main())
}

// Main runs the command line of the process and returns its exit code.
func Main() int {
	if os.Getenv("GOGC") == "" {
		// Worlds are small and short-lived: collecting at four times the live heap saves a fifth of the time.
		debug.SetGCPercent(400)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	root.SetArgs(os.Args[1:])
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitPassed
	}
	var end *ending
	if !errors.As(err, &end) {
		end = usage(err)
	}
	if end.err != nil {
		fmt.Fprintln(os.Stderr, "shardproof:", end.err)
	}
	return end.code
}
