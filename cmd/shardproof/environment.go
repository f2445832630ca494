package main

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/shardproof/shardproof/histories/artefact"
)

// environment is where this process runs, for the records it keeps.
func environment() artefact.Environment {
	env := artefact.Environment{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Flags: os.Args[1:]}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				env.Commit = s.Value
			}
		}
	}
	return env
}
