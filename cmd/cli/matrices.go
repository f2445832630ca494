package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/shardproof/shardproof/harness/rundir"
)

// matricesHead begins a file of matrices.
const matricesHead = `# Sweeps: every single fault

A sweep runs one scenario without faults and takes down every passage of a failpoint, every message and every durable write. Then
it runs it once for each fault that makes sense at each of these, and checks everything that is checked of every run.

A row is a phase of what the sweep is about and the actor whom the fault befalls; a cell is how many faults of the kind happened
there. One number means that every promise held in all of these runs; otherwise it says in how many.

Every section is written by the command that it names; ` + "`make sweeps`" + ` renews them all.
`

// renewSection writes a section of a file of matrices in place of the one with that name, or at the end.
func renewSection(path, name, section string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		text, err = []byte(matricesHead), os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err != nil {
		return err
	}
	return rundir.Replace(path, []byte(withSection(string(text), name, section)))
}

func withSection(text, name, section string) string {
	begin, end := fmt.Sprintf("<!-- begin of %s -->\n", name), fmt.Sprintf("<!-- end of %s -->\n", name)
	section = begin + section + end
	before, rest, there := strings.Cut(text, begin)
	_, after, whole := strings.Cut(rest, end)
	if !there || !whole {
		return text + "\n" + section
	}
	return before + section + after
}
