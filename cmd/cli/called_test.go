package cli

import "testing"

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
