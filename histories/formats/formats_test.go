package formats_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/formats"
)

const own = `{"schema":"shardproof.history/1","seed":0}
{"id":1,"client":0,"ns":"t.c","kind":"write","key":1,"value":"a","call":1,"return":2,"outcome":"ok"}
{"end":true,"records":1}
`

const jepsenLog = "INFO  jepsen.util - 0\t:invoke\t:write\t4\n" +
	"INFO  jepsen.util - 0\t:ok\t:write\t4\n"

// A file is read by what it holds, or refused with its place.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct{ text, refused string }{
		"own":    {own, ""},
		"jepsen": {jepsenLog, ""},
		"foreign": {"[1, 2]\n",
			":1: this is no history in a form that is known; give a history of shardproof"},
		"misspelt": {strings.Replace(own, `"ok"`, `"okay"`, 1),
			":2: operation 1 has the unknown outcome"},
		"too large": {own + strings.Repeat(" ", 1000), "has more than 1000 bytes"},
		"empty":     {"", ":1: the file is empty"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		ops, err := formats.Read(path, formats.Limits{Bytes: 1000})
		var refused *histories.FileError
		switch {
		case c.refused == "" && (err != nil || len(ops) != 1):
			t.Errorf("%s: %d operations, %v", name, len(ops), err)
		case c.refused != "" &&
			(!errors.As(err, &refused) || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s: got %v, want %s", name, err, c.refused)
		}
	}
}
