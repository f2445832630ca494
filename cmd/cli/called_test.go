package cli

import (
	"os"
	"testing"
)

// TestCalledBy: commands that are printed begin with the path by which the reader called the
// program, but not with that of a build which `go run` has removed.
func TestCalledBy(t *testing.T) {
	for path, want := range map[string]string{
		"shardproof":                     "shardproof",
		"bin/shardproof-demo":            "bin/shardproof-demo",
		"/usr/local/bin/shardproof":      "/usr/local/bin/shardproof",
		"/tmp/go-build27/b1/exe/kvproof": "kvproof",
	} {
		if got := calledBy(path); got != want {
			t.Errorf("calledBy(%q) = %q, want %q", path, got, want)
		}
	}
}

// A page that is kept names the command by the program's name, whatever path it was called by: the
// reader of the page has no such path.
func TestPageNamesTheProgram(t *testing.T) {
	called := os.Args[0]
	os.Args[0] = "bin/shardproof"
	t.Cleanup(func() { os.Args[0] = called })
	flags := &sweepFlags{pairs: true, most: 5}
	flags.protocol = "4.2"
	job := &sweepJob{flags: flags, what: "migration"}
	want := "shardproof sweep --protocol 4.2 --pairs --runs 5 migration"
	if got := job.command(); got != want {
		t.Errorf("the page names %q, want %q", got, want)
	}
}
