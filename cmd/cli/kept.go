package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/harness/runner"
)

// sums are what the commands of one search or campaign have done together.
type sums struct {
	*runner.Counters
	CPU, Wall time.Duration
}

func newSums() sums { return sums{Counters: runner.NewCounters()} }

// fit takes counts of failpoints out that another build has made, to which the numbers stand for
// others.
func (s *sums) fit() {
	if fresh := runner.NewCounters(); len(s.Sites) != len(fresh.Sites) {
		s.Sites = fresh.Sites
	}
}

// spent is the time that a sweep has taken in all its parts. Killed, it forgets the last second or
// so.
type spent struct{ CPU, Wall time.Duration }

const (
	spentFile   = "time.json"
	spentSchema = "shardproof.time/1"
	spentEvery  = time.Second
)

// document is a file of what a command goes on from. It is always replaced as a whole.
type document[T any] struct {
	Schema string `json:"schema"`
	Kept   T      `json:"kept"`
}

// readKept reads what an earlier command has kept at path, if there was one.
func readKept[T any](path, schema string, kept *T) (there bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d := document[T]{Kept: *kept}
	if err := json.Unmarshal(text, &d); err != nil {
		return false, &rundir.FileError{
			File:   path,
			Wrong:  "it is damaged: " + err.Error(),
			Remedy: "choose another folder, or start over without this one",
		}
	}
	if d.Schema != schema {
		return false, &rundir.FileError{
			File:   path,
			Wrong:  fmt.Sprintf("it has the schema %q, not %q", d.Schema, schema),
			Remedy: "choose another folder",
		}
	}
	*kept = d.Kept
	return true, nil
}

// writeKept keeps what a later command goes on from.
func writeKept[T any](path, schema string, kept T) error {
	text, err := json.Marshal(document[T]{schema, kept})
	if err != nil {
		return err
	}
	return rundir.Replace(path, append(text, '\n'))
}
