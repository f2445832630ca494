// Package overview is a campaign, or an attack on a real cluster, as one page: verdicts,
// signatures, what was reached and whether it held, what is new by how many seeds, the slowest
// seeds, and how data and load were distributed over time.
//
// Promise: the page needs no network, no script and nothing beside it; no name of a scenario or a
// file is ever read as markup. It is a pure function of what the folder holds.
//
// Refusal: it judges nothing, and it does not look into single runs: those have pages of their own.
package overview

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/harness/campaign"
	"github.com/shardproof/shardproof/harness/failuredb"
	"github.com/shardproof/shardproof/harness/report"
	"github.com/shardproof/shardproof/harness/rundir"
	"github.com/shardproof/shardproof/histories/timeline"
)

// File is the name of the page in the folder that it is about.
const File = "report.html"

// Page is what a page is made of. Record and Live may be nil.
type Page struct {
	// Folder is what it is about, Build the program that writes it.
	Folder, Build string
	Record        *campaign.Record
	Signatures    []failuredb.Entry
	// Pages are the kept runs that have a page, below the folder.
	Pages  map[string]bool
	Curves []Curve
	Live   *timeline.Timeline
	// Sites are the names of all failpoint sites of the system.
	Sites []string
}

// ErrNothing says that a folder holds neither a campaign nor a timeline.
var ErrNothing = errors.New("there is neither " + campaign.JournalFile + " nor " + timeline.File)

// Holds reports whether a folder holds what a page can be made of.
func Holds(folder string) bool {
	for _, name := range []string{campaign.JournalFile, timeline.File} {
		if info, err := os.Stat(filepath.Join(folder, name)); err == nil && !info.IsDir() {
			return true
		}
	}
	return false
}

// Read gathers what a folder holds. It may still be in use.
func Read(folder string) (*Page, error) {
	if !Holds(folder) {
		return nil, fmt.Errorf("%s: %w", folder, ErrNothing)
	}
	p := &Page{Folder: folder, Pages: make(map[string]bool)}
	var err error
	if _, missing := os.Stat(filepath.Join(folder, campaign.JournalFile)); missing == nil {
		if p.Record, err = campaign.ReadRecord(folder); err != nil {
			return nil, err
		}
		p.Record.Tally.Sum.Fit()
	}
	if p.Signatures, err = failuredb.Read(folder); err != nil {
		return nil, err
	}
	for _, e := range p.Signatures {
		for _, run := range e.Cases {
			if err := p.readRun(run); err != nil {
				return nil, err
			}
		}
	}
	file := filepath.Join(folder, timeline.File)
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		p.Live, err = timeline.Read(file, text)
	}
	return p, err
}

// readRun looks at what a kept run has for the page.
func (p *Page) readRun(run string) error {
	at := filepath.Join(p.Folder, run)
	_, err := os.Stat(filepath.Join(at, rundir.ReportFile))
	p.Pages[run] = err == nil
	file := filepath.Join(at, rundir.CurveFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	curves, err := readCurves(run, string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	p.Curves = append(p.Curves, curves...)
	return nil
}

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"commas": commas, "lines": func(s []string) string { return strings.Join(s, ", ") },
}).Parse(pageHTML))

// HTML is the page.
func HTML(p *Page) ([]byte, error) {
	var b bytes.Buffer
	err := page.Execute(&b, map[string]any{
		"Generator": template.HTML(report.Generator),
		"Style":     template.CSS(Style()),
		"Page":      p,
		"View":      p.view(),
	})
	return b.Bytes(), err
}

// commas is a number with commas.
func commas(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// never are the sites that no run has reached.
func (p *Page) never() (names []string) {
	for _, site := range p.Sites {
		if p.Record.Tally.Reached[campaign.SiteReached+site].Runs == 0 {
			names = append(names, site)
		}
	}
	slices.Sort(names)
	return names
}
