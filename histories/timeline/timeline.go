// Package timeline is what the clients of a real cluster saw over time: how many operations a
// second, how long they took, and which faults were in force.
//
// Promise: what Write has written Read returns; a last line that was not written to its end is left
// out, so that a timeline can be read while it grows.
//
// Refusal: it measures nothing.
package timeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/shardproof/shardproof/histories"
)

// File is the name of a timeline in the folder of what it is about.
const File = "timeline.jsonl"

// Schema is in the first line of every timeline.
const Schema = "shardproof.timeline/1"

// Header is the first line.
type Header struct {
	Schema string `json:"schema"`
	// Name is of what was attacked or measured, Build of the program.
	Name  string `json:"name,omitempty"`
	Build string `json:"build,omitempty"`
}

// Sample is what clients saw in the interval that ends At, in seconds since the start.
type Sample struct {
	At float64 `json:"at"`
	// Operations is how many ended in the interval, Failed how many of those failed or have an
	// unknown outcome.
	Operations int `json:"operations"`
	Failed     int `json:"failed,omitempty"`
	// P50 and P99 are percentiles of their latencies in milliseconds; zero when none ended.
	P50 float64 `json:"p50_ms,omitempty"`
	P99 float64 `json:"p99_ms,omitempty"`
}

// Fault is a fault in force from one time to another, in seconds since the start.
type Fault struct {
	Name string  `json:"fault"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// Timeline is all of it.
type Timeline struct {
	Header  Header
	Samples []Sample
	Faults  []Fault
}

// Write writes a whole timeline. One that grows is written line by line with Encode.
func (t *Timeline) Write(out io.Writer) error {
	t.Header.Schema = Schema
	if err := Encode(out, t.Header); err != nil {
		return err
	}
	for _, s := range t.Samples {
		if err := Encode(out, s); err != nil {
			return err
		}
	}
	for _, f := range t.Faults {
		if err := Encode(out, f); err != nil {
			return err
		}
	}
	return nil
}

// Encode writes one line: a Header with the Schema first, then a Sample or a Fault each.
func Encode[L Header | Sample | Fault](out io.Writer, line L) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = out.Write(append(text, '\n'))
	return err
}

// Read reads a timeline; file is the name that errors give.
func Read(file string, text []byte) (*Timeline, error) {
	t := &Timeline{}
	for n := 1; ; n++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			break
		}
		text = rest
		if err := t.take(n, line); err != nil {
			return nil, &histories.FileError{File: file, Line: n, Wrong: err.Error(),
				Remedy: "take the line out, or copy the file again from where it was written"}
		}
	}
	if t.Header.Schema == "" {
		return nil, &histories.FileError{File: file, Wrong: "it has no header",
			Remedy: "begin it with a line that has the schema " + Schema}
	}
	return t, nil
}

// take takes line n in.
func (t *Timeline) take(n int, text []byte) error {
	if n == 1 {
		if err := strictly(text, &t.Header); err != nil {
			return err
		}
		if t.Header.Schema != Schema {
			return fmt.Errorf("its schema is %q, not %q", t.Header.Schema, Schema)
		}
		return nil
	}
	if bytes.Contains(text, []byte(`"fault"`)) {
		var f Fault
		if err := strictly(text, &f); err != nil {
			return err
		}
		if f.To < f.From {
			return fmt.Errorf("the fault ends at %g, before it begins at %g", f.To, f.From)
		}
		t.Faults = append(t.Faults, f)
		return nil
	}
	var s Sample
	if err := strictly(text, &s); err != nil {
		return err
	}
	if k := len(t.Samples); k > 0 && t.Samples[k-1].At >= s.At {
		return fmt.Errorf("the sample at %g follows that at %g", s.At, t.Samples[k-1].At)
	}
	t.Samples = append(t.Samples, s)
	return nil
}

func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
