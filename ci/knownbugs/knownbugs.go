// Package knownbugs turns a bug that shardproof must find into a build that has it. A bug is a
// folder with about.txt, which says what is broken and who should notice, and bug.patch, a unified
// diff against the project. The diff is applied to copies of the files it names, which replace the
// originals at build time only (go build -overlay): the product itself carries no switch.
//
// Promise: nothing in the project's tree is written. A patch that no longer applies is an error,
// never a bug that is quietly not there.
//
// Refusal: it runs nothing; whether a bug is found is for ci/gate.
package knownbugs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// Bug is one known bug.
type Bug struct {
	// Name is the folder's name.
	Name string
	// Hazard is the row of the hazard catalog it belongs to.
	Hazard string
	// Title says in one sentence what is broken.
	Title string
	// Seen lists the checkers of which one must report it.
	Seen []string
	// Seeds is the budget: how many seeds it may take, or how many runs of a race sweep.
	Seeds int
	// Race names the activities of the race sweep that must find it, with commas between them;
	// empty for random seeds.
	Race  string
	patch string
}

// Load reads every bug of a folder, by name.
func Load(dir string) ([]Bug, error) {
	abouts, err := filepath.Glob(filepath.Join(dir, "*", "about.txt"))
	if err != nil {
		return nil, err
	}
	if len(abouts) == 0 {
		return nil, fmt.Errorf(
			"%s holds no known bugs: expected folders with about.txt and bug.patch", dir,
		)
	}
	var bugs []Bug
	for _, about := range abouts {
		b, err := read(about)
		if err != nil {
			return nil, err
		}
		bugs = append(bugs, b)
	}
	return bugs, nil
}

func read(about string) (Bug, error) {
	text, err := os.ReadFile(about)
	if err != nil {
		return Bug{}, err
	}
	folder := filepath.Dir(about)
	b := Bug{Name: filepath.Base(folder), patch: filepath.Join(folder, "bug.patch")}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		field, value, ok := strings.Cut(line, ": ")
		if !ok || !b.set(field, strings.TrimSpace(value)) {
			return Bug{}, fmt.Errorf(
				"%s:%d: %q is none of hazard, title, seen, seeds, race followed by a colon and "+
					"a value",
				about, i+1, line,
			)
		}
	}
	if b.Title == "" || b.Seeds < 1 {
		return Bug{}, fmt.Errorf("%s: a known bug needs a title and a budget of seeds", about)
	}
	return b, nil
}

func (b *Bug) set(field, value string) bool {
	switch field {
	case "hazard":
		b.Hazard = value
	case "title":
		b.Title = value
	case "seen":
		b.Seen = strings.Fields(strings.ReplaceAll(value, ",", " "))
	case "race":
		b.Race = value
	case "seeds":
		n, err := strconv.Atoi(value)
		b.Seeds = n
		return err == nil
	default:
		return false
	}
	return true
}

// Overlay applies the bug to copies of the project's files under scratch and returns the path of
// the overlay file for go build -overlay. Root is the project's top folder. A Bug without a patch
// changes nothing.
func (b *Bug) Overlay(root, scratch string) (string, error) {
	files, err := b.diff()
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for i, f := range files {
		original := filepath.Join(root, filepath.FromSlash(f.OldName))
		changed := filepath.Join(scratch, fmt.Sprintf("%d-%s", i, filepath.Base(original)))
		if err := b.apply(f, original, changed); err != nil {
			return "", err
		}
		replace[original] = changed
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(scratch, "overlay.json")
	return path, os.WriteFile(path, overlay, 0o644)
}

// diff reads the patch.
func (b *Bug) diff() ([]*gitdiff.File, error) {
	if b.patch == "" {
		return nil, nil
	}
	patch, err := os.ReadFile(b.patch)
	if err != nil {
		return nil, err
	}
	files, _, err := gitdiff.Parse(bytes.NewReader(patch))
	if err != nil {
		return nil, fmt.Errorf("%s is no unified diff: %w", b.patch, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s changes no file", b.patch)
	}
	return files, nil
}

func (b *Bug) apply(f *gitdiff.File, original, changed string) error {
	source, err := os.ReadFile(original)
	if err != nil {
		return fmt.Errorf("known bug %s patches a file that is gone: %w", b.Name, err)
	}
	for _, fragment := range f.TextFragments {
		follow(fragment, strings.SplitAfter(string(source), "\n"))
	}
	var out bytes.Buffer
	if err := gitdiff.Apply(&out, bytes.NewReader(source), f); err != nil {
		return fmt.Errorf("known bug %s no longer applies to %s; renew its patch: %w",
			b.Name, f.OldName, err)
	}
	return os.WriteFile(changed, out.Bytes(), 0o644)
}

// follow moves a fragment to where its old lines are now, the nearest place to where they were, so
// that edits elsewhere in the file do no harm. Lines that are nowhere stay where they were, and do
// not apply.
func follow(fragment *gitdiff.TextFragment, source []string) {
	var old []string
	for _, l := range fragment.Lines {
		if l.Old() {
			old = append(old, l.Line)
		}
	}
	was := int(fragment.OldPosition) - 1
	for off := range len(source) {
		for _, at := range []int{was + off, was - off} {
			if at >= 0 && at+len(old) <= len(source) && slices.Equal(source[at:at+len(old)], old) {
				fragment.OldPosition = int64(at) + 1
				return
			}
		}
	}
}
