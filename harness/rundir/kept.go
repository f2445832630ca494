package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// document is a file of what a command goes on from. It is always replaced as a whole.
type document[T any] struct {
	Schema string `json:"schema"`
	Kept   T      `json:"kept"`
}

// ReadKept reads what WriteKept has written to path with the same schema, if it is there.
func ReadKept[T any](path, schema string, kept *T) (there bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d := document[T]{Kept: *kept}
	if err := json.Unmarshal(text, &d); err != nil {
		return false, &FileError{
			File:   path,
			Wrong:  "it is damaged: " + err.Error(),
			Remedy: "choose another folder, or start over without this one",
		}
	}
	if d.Schema != schema {
		return false, &FileError{
			File:   path,
			Wrong:  fmt.Sprintf("it has the schema %q, not %q", d.Schema, schema),
			Remedy: "choose another folder",
		}
	}
	*kept = d.Kept
	return true, nil
}

// WriteKept keeps what a later command goes on from, in place of what was there.
func WriteKept[T any](path, schema string, kept T) error {
	text, err := json.Marshal(document[T]{schema, kept})
	if err != nil {
		return err
	}
	return Replace(path, append(text, '\n'))
}
