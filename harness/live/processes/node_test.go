package processes

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// end has a process end by itself, after prepare, and reports how often the cluster was told.
func end(t *testing.T, prepare func(n *node)) int {
	t.Helper()
	c := &Cluster{o: Options{Log: slog.New(slog.DiscardHandler)}}
	n := &node{c: c, id: "shard-a.0", folder: t.TempDir(), gone: make(chan struct{})}
	if err := os.WriteFile(filepath.Join(n.folder, "log"), []byte("why\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n.child = exec.Command(os.Args[0], "-test.run", "^$")
	prepare(n)
	if err := n.child.Start(); err != nil {
		t.Fatal(err)
	}
	n.await(n.child, n.gone)
	return len(c.Ended())
}

// A process that ends is reported unless a fault may have ended it. Of two faults that meet, the
// end of one does not hide the other.
func TestEnded(t *testing.T) {
	for name, one := range map[string]struct {
		prepare func(n *node)
		want    int
	}{
		"no fault":                    {func(*node) {}, 1},
		"a fault that ends it":        {func(n *node) { n.fated = true }, 0},
		"a fault that may end it":     {func(n *node) { n.excuse(+1) }, 0},
		"such a fault, which is over": {func(n *node) { n.excuse(+1); n.excuse(-1) }, 1},
		"one over, and another": {func(n *node) {
			n.excuse(+1)
			n.fated = true
			n.excuse(-1)
		}, 0},
	} {
		if got := end(t, one.prepare); got != one.want {
			t.Errorf("%s: reported %d times, want %d", name, got, one.want)
		}
	}
}
