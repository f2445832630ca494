// Package supervise has a program end with exit codes that no crash can imitate. Go ends a program
// that panics, and one that is out of memory, with exit code 2, which may be a verdict; nothing in
// the program can change that. So the work is done by a second process with exit codes of its own.
//
// Promise: whatever is not an exit code of the work is HarnessFailed; signals to interrupt reach
// the worker, and where the system can do it the worker dies with its supervisor.
//
// Refusal: it does not judge, and does not start the work again.
package supervise

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Exit codes that the supervisor itself may end with.
const (
	// HarnessFailed is what a crash ends with.
	HarnessFailed = 4
	// Interrupted is what an interrupted program ends with.
	Interrupted = 130
)

// workerVariable is set in the environment of the process that does the work.
const workerVariable = "SHARDPROOF_WORKER"

// workerCodes is added to the exit codes of the worker. What the runtime ends with, and what a
// shell makes of a signal, is outside of the range.
const workerCodes = 32

// workerMost is the greatest exit code that the worker moves.
const workerMost = 64

// Main runs the work in a second process, which calls Main as well, and returns what its end means:
// a code from 0 to 64, or Interrupted.
func Main(work func() int) int {
	if IsWorker() {
		return workerCode(work())
	}
	return supervise()
}

// IsWorker reports whether this process is the one that does the work.
func IsWorker() bool { return os.Getenv(workerVariable) != "" }

func workerCode(code int) int {
	if code <= workerMost {
		return code + workerCodes
	}
	return code
}

// supervise runs this program again as a worker and returns what its end means.
func supervise() int {
	path, err := os.Executable()
	if err != nil {
		return harnessFailed("it cannot find its own program", err)
	}
	// The worker dies with the thread that made it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	worker := &exec.Cmd{
		Path:        path,
		Args:        os.Args,
		Env:         append(os.Environ(), workerVariable+"=1"),
		Stdin:       os.Stdin,
		Stdout:      os.Stdout,
		Stderr:      os.Stderr,
		SysProcAttr: workerAttributes(),
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if err := worker.Start(); err != nil {
		return harnessFailed("it cannot start itself", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- worker.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = worker.Process.Signal(s)
		case err := <-ended:
			return endOfWorker(worker.ProcessState, err)
		}
	}
}

// endOfWorker is the exit code of the whole program.
func endOfWorker(state *os.ProcessState, err error) int {
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return harnessFailed("its worker is lost", err)
	}
	switch code := state.ExitCode(); {
	case code == Interrupted:
		return code
	case code >= workerCodes && code <= workerCodes+workerMost:
		return code - workerCodes
	case brokenPipe(state):
		return brokenPipeCode
	}
	return harnessFailed("it crashed", errors.New(state.String()))
}

func harnessFailed(what string, err error) int {
	fmt.Fprintf(os.Stderr, "%s: %s: %v\n", name(), what, err)
	return HarnessFailed
}

// graceful is how long a command that was interrupted may take to report and to save.
const graceful = 10 * time.Second

// echo is how long one interruption may take to arrive twice: a terminal, and timeout(1), send it
// to all processes of a command, and the supervisor passes it on.
const echo = time.Second

// Obey ends the process when it does not end by itself after it was interrupted, or when it is
// interrupted a second time.
func Obey(interrupted <-chan struct{}) {
	<-interrupted
	time.Sleep(echo)
	again := make(chan os.Signal, 1)
	signal.Notify(again, os.Interrupt, syscall.SIGTERM)
	select {
	case <-again:
	case <-time.After(graceful):
	}
	fmt.Fprintf(os.Stderr, "%s: interrupted\n", name())
	os.Exit(Interrupted)
}

// name is what the program was called by.
func name() string { return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") }
