package citations

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

var (
	link      = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	unslugged = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks checks the relative links between the files of the tree.
func TestLinks(t *testing.T) {
	files := readTree(t)
	for path, text := range files {
		if filepath.Ext(path) != ".md" {
			continue
		}
		for _, at := range link.FindAllStringSubmatchIndex(text, -1) {
			to := text[at[2]:at[3]]
			if problem := follow(path, to, files); problem != "" {
				t.Errorf("%s: link to %s: %s", place(path, text, at[0]), to, problem)
			}
		}
	}
}

// follow says what is wrong with a link, nothing if it leads to where it should.
func follow(path, to string, files map[string]string) string {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
		return ""
	}
	name, fragment, _ := strings.Cut(to, "#")
	target := path
	if name != "" {
		target = filepath.ToSlash(filepath.Join(filepath.Dir(path), name))
	}
	if _, err := os.Stat(filepath.Join(root, target)); err != nil {
		return "there is no such file"
	}
	if fragment != "" && !slices.Contains(fragments(files[target]), fragment) {
		return "it has no anchor or heading of that name"
	}
	return ""
}

// fragments are the anchors and headings of a page, as links name them.
func fragments(page string) (all []string) {
	for _, m := range anchor.FindAllStringSubmatch(page, -1) {
		all = append(all, m[1])
	}
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		plain := unslugged.ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}

// readTree returns the texts that may cite, by their paths from the root of the repository.
func readTree(t *testing.T) map[string]string {
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{"out", "bin", ".git"}, d.Name()) {
			return filepath.SkipDir
		}
		name, err := filepath.Rel(root, path)
		if err != nil || d.IsDir() || !mayCite(filepath.ToSlash(name)) {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.IndexByte(text, 0) < 0 {
			files[filepath.ToSlash(name)] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func mayCite(path string) bool {
	switch filepath.Ext(path) {
	case ".go", ".md", ".txt", ".patch":
		return true
	case ".zst", ".log":
		return false
	}
	return path == "Makefile" || strings.Contains(path, "/testdata/")
}

// place is "file:line" of an offset.
func place(path, text string, offset int) string {
	return path + ":" + strconv.Itoa(1+strings.Count(text[:offset], "\n"))
}
