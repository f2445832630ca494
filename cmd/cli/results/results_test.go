package results_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/cmd/cli/results"
)

const evil = "]]></failure>%\n::error::</script>```<b>\x00"

func document() *results.Document {
	d := &results.Document{Command: "shardproof run", Build: "test", Exit: 1}
	d.Count("runs", 9)
	d.Count("seconds", 1.5)
	d.Add(results.Case{Name: "mixed seed 3", Outcome: "fail", Signature: "lost-write",
		Broke: evil, Text: evil, At: "system/shard/write.go:12"})
	d.Add(results.Case{Name: "mixed seed 4", Outcome: "undecided", Signature: "x-undecided"})
	d.Add(results.Case{Name: "mixed seed 5", Outcome: "pass"})
	return d
}

// TestJSON reads what was written back.
func TestJSON(t *testing.T) {
	var text bytes.Buffer
	if err := document().JSON(&text); err != nil {
		t.Fatal(err)
	}
	var back results.Document
	d := json.NewDecoder(&text)
	d.DisallowUnknownFields()
	if err := d.Decode(&back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(document().Cases, back.Cases); diff != "" || back.Schema != results.Schema {
		t.Errorf("schema %s (-want +got):\n%s", back.Schema, diff)
	}
}

// TestJUnit reads the file as those who show it do: counts agree with the tests, and text stays
// text.
func TestJUnit(t *testing.T) {
	var text bytes.Buffer
	if err := document().JUnit(&text); err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			File    string `xml:"file,attr"`
			Line    int    `xml:"line,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
			} `xml:"failure"`
			Error *struct{} `xml:"error"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(text.Bytes(), &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Tests != len(suites.Cases) || suites.Failures != 1 || suites.Errors != 1 {
		t.Errorf("%d tests, %d failures, %d errors of %d cases",
			suites.Tests, suites.Failures, suites.Errors, len(suites.Cases))
	}
	first, last := suites.Cases[0], suites.Cases[len(suites.Cases)-1]
	if first.File != "system/shard/write.go" || first.Line != 12 || first.Failure == nil ||
		!strings.Contains(first.Failure.Message, "</failure>") {
		t.Errorf("the failure is %+v", first)
	}
	if last.Name != "7 runs that passed" || suites.Cases[1].Error == nil {
		t.Errorf("the last case is %q, the undecided one %+v", last.Name, suites.Cases[1])
	}
}

// TestAnnotations: a case is one line, whatever is in it.
func TestAnnotations(t *testing.T) {
	var text bytes.Buffer
	document().Annotate(&text)
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0],
		"::error file=system/shard/write.go,line=12,title=lost-write mixed seed 3::]]>") ||
		!strings.Contains(lines[0], "%25%0A") {
		t.Errorf("annotations\n%s", text.String())
	}
}

// TestSummary: a block of a failure stays within its fence.
func TestSummary(t *testing.T) {
	var text strings.Builder
	if err := document().Summary(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"exit code 1, 2 failed", "| runs | 9 |", "````\n", "lost-write"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// TestNone: commands that nobody listens to add to nothing.
func TestNone(t *testing.T) {
	d := results.Of(context.Background())
	d.Add(results.Case{})
	d.Count("runs", 1)
	d.Enter("line")
	if d != nil {
		t.Error("there is a document")
	}
	of := &results.Document{}
	if results.Of(results.With(context.Background(), of)) != of {
		t.Error("the document is lost")
	}
}
