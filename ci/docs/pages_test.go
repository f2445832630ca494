// Package docs holds the documents to the code.
//
// Promise: names of functions exist, every promise and signature is explained, histories and
// scenarios in the text are read by the real readers, and every command in README.md and
// docs/start.md does what the text shows.
//
// Refusal: it does not judge whether a text is true beyond that; links are held by ci/citations.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// root is the project's top folder, seen from this package.
const root = "../.."

// pages are all Markdown files of the project, as paths below root.
func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "bin", "out", "testdata"}, d.Name()):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md"):
			rel, err := filepath.Rel(root, path)
			all = append(all, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// widest is the longest line of a page that people write.
const widest = 100

// TestWidth: a page that people write can be read in a terminal. Those outside of docs/, and
// the sweeps, are tables that commands write.
func TestWidth(t *testing.T) {
	for _, page := range pages(t) {
		own := strings.HasPrefix(page, "docs/") && !strings.HasSuffix(page, "sweeps.md") &&
			!strings.HasSuffix(page, "race-sweep.md")
		if !own && strings.Contains(page, "/") {
			continue
		}
		for i, line := range strings.Split(read(t, page), "\n") {
			if strings.HasPrefix(line, `{"`) {
				continue // a record of a file, which is one line
			}
			if n := utf8.RuneCountInString(line); n > widest {
				t.Errorf("%s:%d has %d columns; %d is the most", page, i+1, n, widest)
			}
		}
	}
}

// block is a fenced piece of a page: its language tag, what follows the tag, and its lines.
type block struct {
	page, tag, note, text string
	line                  int
}

var fenced = regexp.MustCompile("(?ms)^```([a-z-]+)(?: ([^\n]*))?\n(.*?)^```$")

// blocks are the fenced pieces of a page that have one of the tags.
func blocks(t *testing.T, page string, tags ...string) []block {
	t.Helper()
	text := read(t, page)
	var all []block
	for _, m := range fenced.FindAllStringSubmatchIndex(text, -1) {
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		if slices.Contains(tags, part(1)) {
			line := 1 + strings.Count(text[:m[0]], "\n")
			all = append(all, block{page, part(1), part(2), part(3), line})
		}
	}
	return all
}
