// Package scripttest runs scripts that hold a command-line tool to what it prints, which files it
// writes, and how it exits.
//
// Promise: the tool of a script is the code of the test, in a process of its own. The command
// `exits CODE ARGS...` runs it and wants that code; all others are testscript's.
//
// Refusal: nothing outside a script's folder is looked at or cleaned up.
package scripttest

import (
	"maps"
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

// Command is a command of scripts besides testscript's own and `exits`.
type Command = func(ts *testscript.TestScript, neg bool, args []string)

// Scripts are the scripts of a folder. The zero values of the other fields add nothing.
type Scripts struct {
	Folder string
	// Commands are those that only these scripts need, by name.
	Commands map[string]Command
	// CleanUp is called at the end of each script, failed or not, with the folder in which it ran.
	CleanUp func(folder string) error
}

// Run runs every script as a subtest.
func (s Scripts) Run(t *testing.T) {
	commands := map[string]Command{"exits": exits}
	maps.Copy(commands, s.Commands)
	testscript.Run(t, testscript.Params{
		Dir:                 s.Folder,
		RequireExplicitExec: true,
		Cmds:                commands,
		Setup: func(e *testscript.Env) error {
			if s.CleanUp != nil {
				e.Defer(func() {
					if err := s.CleanUp(e.WorkDir); err != nil {
						t.Error(err)
					}
				})
			}
			return nil
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
