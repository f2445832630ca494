package rundir_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/harness/rundir"
)

// FuzzEnvironment reads whatever there is as env.json: it is one, or the refusal names the file.
func FuzzEnvironment(f *testing.F) {
	f.Add([]byte(`{"go":"go1.26","os":"linux","hash":"ab","steps":5}`))
	f.Add([]byte(`{"steps":-1}`))
	dir := f.TempDir()
	path := filepath.Join(dir, rundir.EnvironmentFile)
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		env, err := rundir.ReadEnvironment(dir)
		if err != nil && !strings.Contains(err.Error(), rundir.EnvironmentFile) {
			t.Fatalf("refused without its name: %v", err)
		}
		_ = env.String()
	})
}
