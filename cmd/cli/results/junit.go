package results

import (
	"encoding/xml"
	"fmt"
	"io"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string       `xml:"name,attr"`
	Class   string       `xml:"classname,attr"`
	File    string       `xml:"file,attr,omitempty"`
	Line    string       `xml:"line,attr,omitempty"`
	Failure *junitReason `xml:"failure"`
	Error   *junitReason `xml:"error"`
}

type junitReason struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the document as JUnit's XML: a test for every case, and one more that stands for the
// runs that passed. A broken promise is a failure; what is undecided, or could not be done, an
// error.
func (d *Document) JUnit(out io.Writer) error {
	s := junitSuite{
		Name: d.Command, Time: fmt.Sprintf("%.3f", d.Counts["seconds"]),
		Properties: []junitProperty{{"build", d.Build}, {"exit", fmt.Sprint(d.Exit)}},
	}
	for i := range d.Cases {
		s.add(&d.Cases[i], d.Command)
	}
	if passed := int(d.Counts["runs"]) - s.Failures - s.Errors; passed > 0 {
		s.Cases = append(s.Cases, junitCase{
			Name: fmt.Sprintf("%d runs that passed", passed), Class: d.Command,
		})
	}
	if d.Error != "" {
		s.Errors++
		s.Cases = append(s.Cases, junitCase{
			Name: "the command", Class: d.Command,
			Error: &junitReason{Type: "error", Message: d.Error, Text: d.Error},
		})
	}
	s.Tests = len(s.Cases)
	all := junitSuites{
		Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Time: s.Time,
		Suites: []junitSuite{s},
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s%s\n", xml.Header, text)
	return err
}

func (s *junitSuite) add(c *Case, class string) {
	t := junitCase{Name: c.Name, Class: class}
	t.File, t.Line = c.place()
	reason := &junitReason{Type: c.Signature, Message: c.Broke, Text: c.Text}
	switch {
	case c.Outcome == "fail":
		t.Failure = reason
		s.Failures++
	case c.broken():
		reason.Type = c.Outcome
		t.Error = reason
		s.Errors++
	}
	s.Cases = append(s.Cases, t)
}
