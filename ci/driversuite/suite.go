package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The driver whose tests are run: the last that has them in its module.
const (
	module  = "go.mongodb.org/mongo-driver"
	version = "v1.17.6"
)

// folder is a folder of the driver's tests.
type folder struct {
	name string
	// pkg has the tests, pattern names them.
	pkg, pattern string
	// prefix is what their names begin with.
	prefix string
}

var folders = []folder{
	{"crud", "unified", "TestUnifiedSpec/crud", "TestUnifiedSpec/crud/unified/"},
	{"sessions", "unified", "TestUnifiedSpec/sessions", "TestUnifiedSpec/sessions/"},
	{
		"retryable-writes", "unified", "TestUnifiedSpec/retryable-writes",
		"TestUnifiedSpec/retryable-writes/unified/",
	},
	{
		"change-streams", "unified", "TestUnifiedSpec/change-streams",
		"TestUnifiedSpec/change-streams/",
	},
	{
		"retryable-reads", ".", "TestUnifiedSpecs/retryable-reads",
		"TestUnifiedSpecs/retryable-reads/",
	},
	{
		"retryable-writes-legacy", ".", "TestRetryableWritesSpec", "TestRetryableWritesSpec/",
	},
}

// suite are the driver's tests as programs, and the module's folder, in which they run.
type suite struct{ source, programs string }

// build fetches the module and builds its tests, in a folder that later runs find again.
func build(ctx context.Context) (*suite, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, "shardproof", "driversuite-"+version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	source, err := download(ctx, dir)
	if err != nil {
		return nil, err
	}
	s := &suite{filepath.Join(source, "mongo", "integration"), dir}
	for _, pkg := range []string{"unified", "."} {
		if _, err := os.Stat(s.program(pkg)); err == nil {
			continue
		}
		path := module + "/" + filepath.ToSlash(filepath.Join("mongo/integration", pkg))
		if _, err := goCommand(ctx, dir, "get", "-t", path+"@"+version); err != nil {
			return nil, err
		}
		if _, err := goCommand(ctx, dir, "test", "-c", "-o", s.program(pkg), path); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *suite) program(pkg string) string {
	name := map[string]string{"unified": "unified.test", ".": "integration.test"}[pkg]
	return filepath.Join(s.programs, name)
}

// download makes the folder a module that needs the driver, and returns where that is.
func download(ctx context.Context, dir string) (source string, err error) {
	mod := filepath.Join(dir, "go.mod")
	if _, err := os.Stat(mod); errors.Is(err, os.ErrNotExist) {
		text := "module driversuite\n\ngo 1.25\n\nrequire " + module + " " + version + "\n"
		if err := os.WriteFile(mod, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	out, err := goCommand(ctx, dir, "mod", "download", "-json", module+"@"+version)
	if err != nil {
		return "", err
	}
	var found struct{ Dir string }
	return found.Dir, errors.Join(json.Unmarshal(out, &found), nil)
}

func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &complaints)
	}
	return out.Bytes(), nil
}

// outcome is how one test ended.
type outcome struct {
	test   string // its name without what is the folder's
	result string // PASS, FAIL or SKIP
	says   string
}

// test runs the tests of a folder.
func (s *suite) test(ctx context.Context, f folder, uri string) ([]outcome, error) {
	cmd := exec.CommandContext(ctx, s.program(f.pkg), "-test.v", "-test.run", f.pattern)
	cmd.Dir = filepath.Join(s.source, f.pkg)
	cmd.Env = append(os.Environ(), "MONGODB_URI="+uri)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	all := parse(out.String(), f.prefix)
	if len(all) == 0 {
		return nil, fmt.Errorf("no test of %s ran: %w\n%s", f.name, err, tail(out.String()))
	}
	if ctx.Err() != nil || strings.Contains(out.String(), "\npanic:") {
		return nil, fmt.Errorf("the tests of %s did not end: %w\n%s", f.name, err,
			tail(out.String()))
	}
	return all, nil
}

func tail(text string) string {
	const most = 3000
	return text[max(0, len(text)-most):]
}

// parse reads what `go test -v` prints: the tests that have no tests of their own.
func parse(text, prefix string) (leaves []outcome) {
	parents, says := map[string]bool{}, map[string]string{}
	var all []outcome
	current := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if begun, ok := strings.CutPrefix(line, "=== "); ok {
			_, name, _ := strings.Cut(begun, " ")
			current = strings.TrimSpace(name)
			continue
		}
		rest, ended := strings.CutPrefix(line, "--- ")
		if !ended {
			says[current] = strings.TrimSpace(says[current] + " " + line)
			continue
		}
		result, name, _ := strings.Cut(rest, ": ")
		name = name[:max(0, strings.LastIndex(name, " ("))]
		for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
			parents[name[:i]] = true
		}
		all = append(all, outcome{test: name, result: result})
	}
	for _, o := range all {
		name, ours := strings.CutPrefix(o.test, prefix)
		if ours && !parents[o.test] {
			leaves = append(leaves, outcome{name, o.result, says[o.test]})
		}
	}
	return leaves
}
