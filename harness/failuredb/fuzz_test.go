package failuredb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/harness/failuredb"
)

// FuzzOpen opens whatever there is as the record of a memory: it is refused with its name, or no
// case lies outside the folder and its statuses are known.
func FuzzOpen(f *testing.F) {
	const title = `{"schema":"shardproof.memory/1"}` + "\n"
	f.Add([]byte(title + `{"at":"2026-01-01T00:00:00Z","event":"failed","signature":"a","case":"a-1"}` +
		"\n"))
	f.Add([]byte(title + `{"event":"failed","signature":"a","case":"../b"}` + "\n"))
	f.Add([]byte(title + `{"event":"shape","signature":"a","shape":"x","case":"c"}` + "\n{\"eve"))
	dir := f.TempDir()
	path := filepath.Join(dir, failuredb.File)
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := failuredb.Open(dir)
		if err != nil {
			if !strings.Contains(err.Error(), failuredb.File) {
				t.Fatalf("refused without its name: %v", err)
			}
			return
		}
		defer m.Close()
		for _, e := range m.Entries() {
			for _, c := range e.Cases {
				if filepath.Dir(filepath.Join(dir, c)) != dir {
					t.Fatalf("the case %q is outside", c)
				}
			}
			switch e.Status {
			case failuredb.New, failuredb.Known, failuredb.Fixed, failuredb.CameBack:
			default:
				t.Fatalf("the status %q", e.Status)
			}
		}
	})
}
