// Package citations holds comments, test scripts and pages to the specification in docs/.
//
// Promise: every citation of a section ("protocol 9.2 step 1", "invariants 20.1", "section 22"), of
// a hazard (H-37), of a promise (durability) and of an erratum ("errata E11") has an anchor in
// docs/, on the page that it names; no anchor is there twice; every relative link of a Markdown
// file leads to a file that exists, and its fragment to an anchor or a heading of that file.
//
// Refusal: it does not judge whether the section says what the citation claims, and follows no link
// to another site. "protocol 4.2" and "protocol 8.0" are versions of the protocol, not citations.
package citations

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// gap is what may stand between two words of a citation: a comment may be wrapped there.
const gap = `(?: |[ \t]*\n[ \t]*(?://|#)?[ \t]*)`

const number = `\d+(?:\.\d+)*`

var (
	anchor  = regexp.MustCompile(`<a id="([^"]+)"></a>`)
	hazard  = regexp.MustCompile(`\b(H-\d+[a-z]?)\b`)
	promise = regexp.MustCompile(`\b(K-[A-Z]+)\b`)
	erratum = regexp.MustCompile(`(?:\b[Ee]rrat(?:a|um)|,)` + gap + `(E\d+)\b`)
	section = regexp.MustCompile(`(?i)\b(protocol|invariants|failpoints|hazards|sections?|chapters?` +
		`|spec|design)` + gap + `(` + number + `(?:(?:,?` + gap + `(?:and|to))?,?` + gap +
		`(?:(?:steps?|items?|phase)` + gap + number + `|S\d\b|` + number + `))*)`)
	part    = regexp.MustCompile(`steps?|items?|phase|S\d|` + number)
	version = regexp.MustCompile(`^(?:4\.2|\d\.0)$`)
)

// pages say where the sections are that a word introduces; "section" may be of any page. Of other
// words there is no page.
var pages = map[string]string{
	"protocol": "protocol.md", "invariants": "invariants.md", "failpoints": "failpoints.md",
	"hazards": "hazards.md", "section": "", "sections": "",
}

// TestCitations reads the whole tree.
func TestCitations(t *testing.T) {
	files := readTree(t)
	anchors := collect(t, files)
	cited := 0
	for _, path := range slices.Sorted(maps.Keys(files)) {
		cited += named(t, path, files[path], anchors) + numbered(t, path, files[path], anchors)
	}
	t.Logf("%d citations, %d anchors", cited, len(anchors))
}

// collect returns the page of each anchor in docs/.
func collect(t *testing.T, files map[string]string) map[string]string {
	anchors := map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		page, isPage := strings.CutPrefix(path, "docs/")
		for _, at := range anchor.FindAllStringSubmatchIndex(files[path], -1) {
			id := files[path][at[2]:at[3]]
			if first, twice := anchors[id]; twice {
				t.Errorf("%s: anchor %q is also in %s", place(path, files[path], at[0]), id, first)
			}
			if isPage {
				anchors[id] = page
			}
		}
	}
	return anchors
}

// named checks the hazards, promises and errata that a file cites, and returns how many.
func named(t *testing.T, path, text string, anchors map[string]string) (n int) {
	for _, kind := range []*regexp.Regexp{hazard, promise, erratum} {
		for _, at := range kind.FindAllStringSubmatchIndex(text, -1) {
			name := text[at[2]:at[3]]
			if anchors[strings.ToLower(name)] == "" {
				t.Errorf("%s: no page of docs/ has %s", place(path, text, at[0]), name)
			}
			n++
		}
	}
	return n
}

// numbered checks the sections and steps that a file cites, and returns how many.
func numbered(t *testing.T, path, text string, anchors map[string]string) (n int) {
	for _, at := range section.FindAllStringSubmatchIndex(text, -1) {
		if at[1] < len(text) && unicode.IsLetter(rune(text[at[1]])) {
			continue // a time: a line of a story begins with one
		}
		quote, word := text[at[0]:at[1]], strings.ToLower(text[at[2]:at[3]])
		page, known := pages[word]
		for _, id := range sections(text[at[4]:at[5]]) {
			n++
			switch on := anchors[id]; {
			case !known:
				t.Errorf("%s: %q: no page of docs/ goes by that", place(path, text, at[0]), quote)
			case on == "" || page != "" && page != on:
				t.Errorf("%s: %q: docs/%s has no %s", place(path, text, at[0]), quote, page, id)
			}
		}
	}
	return n
}

// sections are the anchors that a list means. A number is a section unless a unit precedes it; a
// plural counts for all whole numbers behind it.
func sections(list string) (ids []string) {
	current, unit := "", ""
	for _, p := range part.FindAllString(list, -1) {
		switch {
		case version.MatchString(p):
		case p[0] == 'S':
			ids = append(ids, current+"-"+strings.ToLower(p))
		case p[0] > '9':
			unit = p
		case unit == "" || strings.Contains(p, "."):
			current, unit = "s"+p, ""
			ids = append(ids, current)
		default:
			ids = append(ids, current+"-"+singular(unit)+p)
			if !strings.HasSuffix(unit, "s") {
				unit = ""
			}
		}
	}
	return ids
}

func singular(unit string) string {
	return strings.Replace(strings.TrimSuffix(unit, "s"), "item", "step", 1)
}

// TestSections is the grammar of lists by example.
func TestSections(t *testing.T) {
	for list, want := range map[string]string{
		"9.2":                   "s9.2",
		"5 to 9":                "s5 s9",
		"4 steps 5, 6 and 9":    "s4 s4-step5 s4-step6 s4-step9",
		"3.4 step 3, 8":         "s3.4 s3.4-step3 s8",
		"4 steps 1 and 13, 9.5": "s4 s4-step1 s4-step13 s9.5",
		"5.1 S6, 9.2":           "s5.1 s5.1-s6 s9.2",
		"4.2":                   "",
	} {
		if got := strings.Join(sections(list), " "); got != want {
			t.Errorf("%q means %q, not %q", list, got, want)
		}
	}
}
