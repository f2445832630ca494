// Package scripttest runs scripts that hold a command-line tool to what it prints, which files it
// writes, and how it exits.
//
// Promise: the tool of a script is the code of the test, in a process of its own. The command
// `exits CODE ARGS...` runs it and wants that code; all others are testscript's.
//
// Refusal: nothing outside a script's folder is looked at or cleaned up.
package scripttest

import (
	"os"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Program is a command that scripts can run: its main returns the exit code.
type Program struct {
	Name string
	Main func() int
}

// tool is the program that scripts test.
var tool string

// Main is the TestMain of a package whose scripts test the first program, and may run the others.
func Main(m *testing.M, tested Program, others ...Program) {
	tool = tested.Name
	commands := map[string]func(){}
	for _, p := range append(others, tested) {
		commands[p.Name] = func() { os.Exit(p.Main()) }
	}
	testscript.Main(m, commands)
}

// Run runs every script of a folder as a subtest. At the end of each, failed or not, all of the
// cleanups are called with the folder in which the script ran.
func Run(t *testing.T, folder string, cleanups ...func(folder string) error) {
	testscript.Run(t, testscript.Params{
		Dir:                 folder,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			for _, cleanup := range cleanups {
				e.Defer(func() {
					if err := cleanup(e.WorkDir); err != nil {
						t.Error(err)
					}
				})
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
		},
	})
}

// exits runs the tool and compares its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	err := ts.Exec(tool, args[1:]...)
	code := "0"
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		code = strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}
