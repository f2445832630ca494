package docs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// enabled is the variable that makes TestCommands carry the commands out; .ci/run sets it.
const enabled = "SHARDPROOF_DOC_COMMANDS"

// walked are the pages whose commands are carried out, each from an empty folder.
var walked = []string{"README.md", "docs/start.md"}

// step is a command that a page prints, or a file that it shows.
type step struct {
	line    int
	command string
	code    int      // that is expected
	output  []string // lines that the page shows, in order; an ellipsis stands for anything
	file    string   // or: the path of a file to write, and its text
	text    string
}

var (
	comment  = regexp.MustCompile(`\s{2,}# (.*)$`)
	exitCode = regexp.MustCompile(`exit code (\d+)`)
)

// steps are what a page asks its reader to do: lines that begin with "$ " in console blocks, and
// Go blocks with "file=PATH" behind the tag.
func steps(t *testing.T, page string) (all []step) {
	t.Helper()
	for _, b := range blocks(t, page, "console", "go", "text") {
		if file, ok := strings.CutPrefix(b.note, "file="); ok {
			all = append(all, step{line: b.line, file: file, text: b.text})
		}
		if b.tag != "console" {
			continue
		}
		for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
			command, ok := strings.CutPrefix(line, "$ ")
			switch {
			case ok:
				all = append(all, parsed(command, b.line+1+i))
			case len(all) == 0:
				t.Fatalf("%s:%d: output of no command", page, b.line+1+i)
			case strings.TrimSpace(line) != "" && strings.TrimSpace(line) != "…":
				last := &all[len(all)-1]
				last.output = append(last.output, line)
			}
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s prints no command", page)
	}
	return all
}

func parsed(command string, line int) step {
	s := step{line: line, command: command}
	if m := comment.FindStringSubmatch(command); m != nil {
		s.command = strings.TrimSuffix(command, m[0])
		if code := exitCode.FindStringSubmatch(m[1]); code != nil {
			s.code, _ = strconv.Atoi(code[1])
		}
	}
	return s
}

// TestTargets: every `make` in the documents names a target of the Makefile.
func TestTargets(t *testing.T) {
	makefile := "\n" + read(t, "Makefile")
	quoted := regexp.MustCompile("[`$] ?make ([a-z-]+)")
	for _, page := range pages(t) {
		for _, m := range quoted.FindAllStringSubmatch(read(t, page), -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s speaks of `make %s`, which the Makefile has not got", page, m[1])
			}
		}
	}
}

// TestCommands does what the pages say, as printed, in a folder of its own, and compares exit codes
// and the output that they show. What `.ci/run` does by itself is left out.
func TestCommands(t *testing.T) {
	pipeline := "\n" + read(t, ".ci/run")
	if os.Getenv(enabled) == "" {
		t.Skipf("it builds and runs the tool several times; set %s=1", enabled)
	}
	origin := clone(t)
	for _, page := range walked {
		t.Run(page, func(t *testing.T) {
			walk(t, page, origin, pipeline)
		})
	}
}

// walk carries out the steps of a page in one shell.
func walk(t *testing.T, page, origin, pipeline string) {
	home := t.TempDir()
	var script bytes.Buffer
	all := steps(t, page)
	for i, s := range all {
		switch {
		case s.file != "":
			source := filepath.Join(home, fmt.Sprintf("block-%d", i))
			write(t, source, s.text)
			fmt.Fprintf(&script, "cp %s %s\n", source, s.file)
		case strings.Contains(pipeline, "\n"+s.command+"\n"):
			fmt.Fprintf(&script, "echo left to .ci/run\n(exit %d)\n", s.code)
		default:
			fmt.Fprintf(&script, "%s\n", s.command)
		}
		fmt.Fprintf(&script, "echo \"@@@ $?\"\n")
	}
	text := shell(t, home, origin, script.String())
	parts := strings.Split(text, "@@@ ")
	if n := len(parts) - 1; n != len(all) {
		t.Fatalf("%s: %d of %d commands were carried out:\n%s", page, n, len(all), text)
	}
	for i, after := range parts[1:] {
		_, output, _ := strings.Cut(parts[i], "\n")
		code, _, _ := strings.Cut(after, "\n")
		compare(t, page, &all[i], code, output)
	}
}

// compare holds what a command did against what the page says of it.
func compare(t *testing.T, page string, s *step, code, output string) {
	t.Helper()
	if code != strconv.Itoa(s.code) {
		t.Errorf("%s:%d: `%s` exits with %s, not %d:\n%s",
			page, s.line, s.command, code, s.code, output)
		return
	}
	rest := output
	for _, want := range s.output {
		at := pattern(want).FindStringIndex(rest)
		if at == nil {
			t.Errorf("%s:%d: `%s` does not print the line\n%s\nbut\n%s",
				page, s.line, s.command, want, output)
			return
		}
		rest = rest[at[1]:]
	}
}

// pattern finds a line of output: an ellipsis stands for anything in the line, and runs of blanks
// are equal. Lines that are not shown may stand between those that are.
func pattern(line string) *regexp.Regexp {
	var parts []string
	for _, word := range strings.Fields(line) {
		parts = append(parts, strings.ReplaceAll(regexp.QuoteMeta(word), "…", `.*`))
	}
	return regexp.MustCompile(`(?m)^[ \t]*` + strings.Join(parts, `[ \t]*`) + `[ \t]*$`)
}

// shell runs a script in an empty folder, where the project's address leads to its copy.
func shell(t *testing.T, home, origin, script string) string {
	t.Helper()
	work := filepath.Join(home, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, "gitconfig"), fmt.Sprintf(
		"[url \"file://%s\"]\n\tinsteadOf = https://github.com/shardproof/shardproof\n", origin))
	ctx, cancel := context.WithTimeout(t.Context(), 9*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = work
	bin := filepath.Join(home, "bin")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+filepath.Join(home, "gitconfig"),
		"GIT_CONFIG_NOSYSTEM=1", "GOBIN="+bin, "PATH="+bin+":"+os.Getenv("PATH"), "NO_COLOR=1",
		"GOFLAGS=-trimpath", "GOPRIVATE=github.com/shardproof/shardproof", "GOWORK=off",
		enabled+"=")
	text, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("the commands did not end in time: %v\n%s", err, text)
	}
	return "\n" + string(text)
}

// clone is a repository with the files as they are now, committed or not.
func clone(t *testing.T) string {
	t.Helper()
	origin := filepath.Join(t.TempDir(), "shardproof")
	list, err := exec.Command("git", "-C", root, "ls-files", "-co", "--exclude-standard").Output()
	if err != nil {
		t.Skipf("git does not list the files of the project: %v", err)
	}
	for name := range strings.Lines(string(list)) {
		name = strings.TrimSpace(name)
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // it is deleted and not committed yet
		}
		write(t, filepath.Join(origin, name), string(text))
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "as it is"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = origin
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, text)
		}
	}
	return origin
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
