// Package markdown reads tables back that the project's commands have written, so that they can be
// filled in pieces.
//
// Promise: every row is handed on, in its order, and what is wrong with one is said with its file
// and line.
//
// Refusal: it knows tables without pipes inside their fields, and nothing else of Markdown.
package markdown

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Rows hands on the fields of each row of the tables in a file, the titles of columns first; none
// when there is no file.
func Rows(file string, row func(fields []string) error) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for i, line := range strings.Split(string(text), "\n") {
		inner, ok := strings.CutPrefix(line, "|")
		if !ok || strings.HasPrefix(strings.TrimSpace(inner), "---") {
			continue
		}
		var fields []string
		for _, f := range strings.Split(strings.TrimSuffix(inner, "|"), "|") {
			fields = append(fields, strings.TrimSpace(f))
		}
		if err := row(fields); err != nil {
			return fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	return nil
}
