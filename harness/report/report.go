// Package report is a run as one page that can be mailed: report.html, without network and without
// anything beside it. The page shows the failure in words, the run as a picture with lanes for
// clients, routers and servers, and the state of the cluster at every step that matters; with it
// come the smallest scenario that still fails and the nearest run that passes.
//
// All of it is data in the page, which its own script draws. What the script does is in page.js and
// the modules beside it, written by hand and readable as they are.
//
// Promise: the page is a pure function of the runs; nothing in it is fetched, and no name or value
// of a scenario is ever read as markup or as script. It stays below MaxBytes.
//
// Refusal: it judges nothing and explains nothing itself: verdicts are those of the checkers,
// sentences those of package explain, states those of package debugger.
package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/runner"
)

// MaxBytes is the greatest size of a page, unless its scenario alone is larger.
const MaxBytes = 5 << 20

// Page is the input of a page.
type Page struct {
	// Run is the run that it is about, made with Options.Events and Options.Places.
	Run *runner.Result
	// Smallest is the run of the smallest scenario that fails in the same way, Annotated its text
	// with notes on what does not matter; nil and empty when there is none.
	Smallest  *runner.Result
	Annotated string
	// Nearest is the most similar scenario that passes; nil when there is none, or nobody looked.
	Nearest *explain.NearestPassing
	// Commands are what a reader may type, a line each.
	Commands []string
	// Build names the program and the machine of the run.
	Build string
}

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

//go:embed picture.js
var pictureJS string

var page = template.Must(template.New("page").Parse(pageHTML))

// Generator is in every page, to tell it from files that this program did not write.
const Generator = `<meta name="generator" content="shardproof report">`

// HTML is the page.
func HTML(p Page) ([]byte, error) {
	d, err := p.document()
	if err != nil {
		return nil, err
	}
	var text []byte
	for _, most := range []int{20_000, 5_000, 1_000, 200} {
		d.limitEvents(most)
		if text, err = d.render(); err != nil || len(text) <= MaxBytes {
			break
		}
	}
	return text, err
}

func (d *document) render() ([]byte, error) {
	// json.Marshal escapes <, > and &, so that no text of a scenario ends the script element.
	data, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("the page's data: %w", err)
	}
	var b bytes.Buffer
	err = page.Execute(&b, map[string]any{
		"Title":     d.Title,
		"Generator": template.HTML(Generator),
		"Style":     template.CSS(pageCSS),
		"Script":    template.JS(strings.TrimSpace(pictureJS + "\n" + pageJS)),
		"Data":      template.JS(data),
		"Summary":   d.summary(),
	})
	return b.Bytes(), err
}

// Style is the style sheet of the page, for other pages that look like it.
func Style() string { return pageCSS }
