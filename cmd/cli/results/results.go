// Package results is what a command has found, for programs: one JSON document, JUnit's XML, and
// what GitHub shows of a step. Commands add to a Document while they print for people.
//
// Promise: whatever a command printed of failures is in its document; text from scenarios and files
// is escaped as each format wants it.
//
// Refusal: it decides nothing, and it writes only where it is told.
package results

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
)

// Schema is the version of the JSON document, described in docs/formats.md.
const Schema = "shardproof.result/1"

// Document is what a command has found. The zero value is ready for use; the methods of a nil one
// do nothing.
type Document struct {
	Schema  string `json:"schema"`
	Command string `json:"command"`
	Build   string `json:"build"`
	// Exit is the exit code, Error why the command could not do what it should; empty mostly.
	Exit  int    `json:"exit"`
	Error string `json:"error,omitempty"`
	// Counts are the numbers of the summary; times are in seconds.
	Counts map[string]float64 `json:"counts,omitempty"`
	// Cases are the runs or files that were judged one by one: of a campaign those that failed.
	Cases []Case `json:"cases"`
	// Entries are the lines of a list or of a memory.
	Entries []any `json:"entries,omitempty"`

	lock sync.Mutex
}

// Case is one run or file.
type Case struct {
	Name string `json:"name"`
	// Outcome is fail, undecided, known-anomaly, pass, diverged or error.
	Outcome   string `json:"outcome"`
	Signature string `json:"signature,omitempty"`
	// Kind is the signature with what was first seen inside, by which a memory groups failures.
	Kind    string   `json:"kind,omitempty"`
	Seed    uint64   `json:"seed,omitempty,string"`
	Checker string   `json:"checker,omitempty"`
	Promise string   `json:"promise,omitempty"`
	Broke   string   `json:"broke,omitempty"`
	Because []string `json:"because,omitempty"`
	// At is the file and line to begin with, Code what is known of places in the code. Folder is
	// the saved run, Page its page.
	At     string   `json:"at,omitempty"`
	Code   []string `json:"code,omitempty"`
	Folder string   `json:"folder,omitempty"`
	Page   string   `json:"page,omitempty"`
	Replay []string `json:"replay,omitempty"`
	// Known says what the signature is to a memory: new, known, fixed or came back.
	Known string `json:"known,omitempty"`
	// Text is the failure block, for people.
	Text string `json:"text,omitempty"`
}

type inContext struct{}

// With has the commands that are given the context add to the document.
func With(ctx context.Context, d *Document) context.Context {
	return context.WithValue(ctx, inContext{}, d)
}

// Of is the document of a context, nil for none.
func Of(ctx context.Context) *Document {
	d, _ := ctx.Value(inContext{}).(*Document)
	return d
}

// Add adds a case.
func (d *Document) Add(c Case) {
	if d == nil {
		return
	}
	d.lock.Lock()
	defer d.lock.Unlock()
	d.Cases = append(d.Cases, c)
}

// Enter adds the line of a list.
func (d *Document) Enter(entry any) {
	if d != nil {
		d.Entries = append(d.Entries, entry)
	}
}

// Count sets a number of the summary.
func (d *Document) Count(name string, n float64) {
	if d == nil {
		return
	}
	if d.Counts == nil {
		d.Counts = map[string]float64{}
	}
	d.Counts[name] = n
}

// More adds to a number of the summary.
func (d *Document) More(name string, n float64) {
	if d != nil {
		d.Count(name, d.Counts[name]+n)
	}
}

// JSON writes the document.
func (d *Document) JSON(out io.Writer) error {
	d.Schema = Schema
	if d.Cases == nil {
		d.Cases = []Case{}
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// broken says whether the case is no pass.
func (c *Case) broken() bool { return c.Outcome != "pass" && c.Outcome != "known-anomaly" }

// place is At taken apart, both empty for none.
func (c *Case) place() (file, line string) {
	if i := strings.LastIndexByte(c.At, ':'); i >= 0 {
		return c.At[:i], c.At[i+1:]
	}
	return "", ""
}
