package cli

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/shardproof/shardproof/harness/rundir"
)

// thisEnvironment is where this process runs, for the records it keeps.
func thisEnvironment() rundir.Environment {
	env := rundir.Environment{
		Go:    runtime.Version(),
		OS:    runtime.GOOS,
		Arch:  runtime.GOARCH,
		Flags: os.Args[1:],
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				env.Commit = s.Value
			}
		}
	}
	return env
}

// buildName names the commit that the process was built from, with a + when files were changed;
// empty when it is not known.
func buildName() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var commit, changed string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+"
		}
	}
	return commit + changed
}

// versionText is the version of the module, the commit as far as it is known, and Go's version.
func versionText() string {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	if commit := buildName(); commit != "" {
		version += ", commit " + commit
	}
	return version + ", " + runtime.Version()
}
