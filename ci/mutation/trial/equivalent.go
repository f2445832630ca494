package trial

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/shardproof/shardproof/ci/mutation/mutants"
)

// Equivalent is a mutant that no test can tell from the original, or that breaks nothing that
// anybody was promised.
type Equivalent struct {
	ID string
	// Line is the source line at which it was judged: when that has changed, the judgement is
	// stale.
	Line string
	Why  string
}

// ReadEquivalents reads the file of judgements: paragraphs of an identity, the line behind "line:"
// and the reason behind "why:", which may go on in further lines. Lines that begin with # are
// comments.
func ReadEquivalents(path string) (map[string]Equivalent, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all := map[string]Equivalent{}
	var e Equivalent
	keep := func() error {
		if e == (Equivalent{}) {
			return nil
		}
		if e.ID == "" || e.Line == "" || e.Why == "" || all[e.ID] != (Equivalent{}) {
			return fmt.Errorf("%s: %q needs a line and a reason, once", path, e.ID)
		}
		all[e.ID], e = e, Equivalent{}
		return nil
	}
	for text := range strings.Lines(string(text) + "\n") {
		text = strings.TrimSpace(text)
		field, value, _ := strings.Cut(text, ": ")
		switch {
		case text == "":
			if err := keep(); err != nil {
				return nil, err
			}
		case strings.HasPrefix(text, "#"):
		case e.ID == "":
			e.ID = text
		case field == "line":
			e.Line = value
		case field == "why":
			e.Why = value
		default:
			e.Why += " " + text
		}
	}
	return all, keep()
}

// Stale says which judgements speak of mutants that are not there any more, or of a line that has
// changed.
func Stale(all map[string]Equivalent, made []*mutants.Mutant) error {
	lines := map[string]string{}
	for _, m := range made {
		lines[m.ID()] = m.Source
	}
	var stale []error
	for id, e := range all {
		if line, ok := lines[id]; !ok {
			stale = append(stale, fmt.Errorf("there is no mutant %s any more", id))
		} else if line != e.Line {
			stale = append(stale, fmt.Errorf("%s was judged at the line %q, which is now %q",
				id, e.Line, line))
		}
	}
	return errors.Join(stale...)
}
