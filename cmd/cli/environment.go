package cli

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/shardproof/shardproof/harness/rundir"
)

// thisEnvironment is where this process runs, for the records it keeps.
func thisEnvironment() rundir.Environment {
	env := rundir.Environment{
		Go:    runtime.Version(),
		OS:    runtime.GOOS,
		Arch:  runtime.GOARCH,
		Flags: os.Args[1:],
		Build: programHash(),
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

// programHash tells this program from every other build, committed or not; empty when its file
// cannot be read. It is that of the build ID, which the linker makes of all that it links, or of
// the whole file when that has none: to read the file takes longer than a small scenario.
var programHash = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	hash := sha256.New()
	if id := buildID(file); id != nil {
		hash.Write(id)
	} else if _, err := io.Copy(hash, file); err != nil {
		return ""
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
})

// buildID is the build ID of a program for Linux and its like; nil for none.
func buildID(program io.ReaderAt) []byte {
	parsed, err := elf.NewFile(program)
	if err != nil {
		return nil
	}
	note := parsed.Section(".note.go.buildid")
	if note == nil {
		return nil
	}
	id, err := note.Data()
	if err != nil {
		return nil
	}
	return id
}

// buildName names the commit that the process was built from, or else by what it is: a + and a
// hash when files were changed, the hash alone when no commit is known.
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
	if commit == "" || changed != "" {
		// Another program of the same commit is another build.
		return commit + changed + programHash()
	}
	return commit
}

// versionText is the version of the module, the commit as far as it is known, the hash of the
// program by which two builds can be told apart, and Go's version.
func versionText() string {
	parts := []string{"unknown"}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		parts[0] = info.Main.Version
	}
	if commit := buildName(); commit != "" && commit != programHash() {
		parts = append(parts, "commit "+strings.TrimSuffix(commit, programHash()))
	}
	if hash := programHash(); hash != "" {
		parts = append(parts, "build "+hash)
	}
	return strings.Join(append(parts, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH), ", ")
}
