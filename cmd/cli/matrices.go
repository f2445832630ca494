package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/shardproof/shardproof/cmd/cli/terminal"
	"github.com/shardproof/shardproof/harness/rundir"
)

// matricesHead begins a file of matrices.
const matricesHead = `# Sweeps: every single fault

A sweep runs one scenario without faults and records every injection point: every time that a
failpoint is passed, every message and every durable write. Then it runs the scenario once for each
fault that makes sense at each of these points, with all checkers.

A row is a phase of the migration (or of what else is swept) and the actor that the fault hits. The
phase is the state of the first migration, movePrimary or range deletion at that moment: "before" is
before it begins, and the last phase lasts to the end of the run. Donor and recipient are those of
the first migration; "other" is any other shard, or an operator. A column is a kind of fault, as
` + "`shardproof sweep --help`" + ` explains; a cell counts runs. A plain number means that every promise held in all of them; "5 of 7" means that it did in 5.

Each section is written by the command that it names; ` + "`make sweeps`" + ` writes them all again.
`

// raceHead begins a file of matrices of race sweeps.
const raceHead = `# Race sweeps: every two activities

A race sweep takes two activities of the store at a time. The first is held at each of its sites
while the second begins; when the second has passed one of its own sites, the first goes on. This is
done once for every site of the first and every event of the second, once for longer than any caller
waits for an answer, and all of it once more while the node of the first steps down.

A row is the activity that is held, a column the one that goes on. A cell counts the runs in which
the first was held and went on again, with all checkers; where a promise broke, the cell says in how
many of these runs. ` + "`make race-sweep`" + ` writes it again.
`

// renewSection writes a section of a file of matrices in place of the one with that name, or at the
// end. A file that does not exist begins with the head.
func renewSection(path, head, name, section string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		text, err = []byte(head), os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err != nil {
		return err
	}
	return rundir.Replace(path, []byte(withSection(string(text), name, section)))
}

func withSection(text, name, section string) string {
	begin, end := fmt.Sprintf("<!-- begin of %s -->\n", name),
		fmt.Sprintf("<!-- end of %s -->\n", name)
	section = begin + section + end
	before, rest, there := strings.Cut(text, begin)
	_, after, whole := strings.Cut(rest, end)
	if !there || !whole {
		return text + "\n" + section
	}
	return before + section + after
}

// indented is lines of cells as columns, two to the right.
func indented(lines string) string {
	var out bytes.Buffer
	rows := strings.TrimSuffix(lines, "\n")
	terminal.Columns(&out, "  "+strings.ReplaceAll(rows, "\n", "\n  ")+"\n")
	return out.String()
}
