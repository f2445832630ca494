package overview_test

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/harness/campaign"
	"github.com/shardproof/shardproof/harness/failuredb"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/overview"
	"github.com/shardproof/shardproof/harness/shardstore"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/timeline"
)

const evil = `"><script>alert('x')</script><img src=x onerror=alert(1)>`

// folder holds a campaign of a few seeds of which every third fails with a hostile name, runs that
// were kept, and a timeline.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "campaign")
	p, err := generate.FindProfile("sweep")
	if err != nil {
		t.Fatal(err)
	}
	r := &campaign.Record{Folder: dir,
		Plan: campaign.Plan{Build: evil, First: 1, Profile: "sweep", Protocol: "both"}}
	s := campaign.Run(context.Background(), campaign.Options{
		Targets: target.Set{shardstore.Store{}}, First: 1, Seeds: 9, Workers: 1, KeepGoing: true,
		Draw: func(seed uint64) *scenario.Scenario {
			s := generate.Draw(seed, p)
			if seed%3 == 0 {
				s.FaultsEnd, s.Limit = 10*time.Millisecond, time.Millisecond
			}
			return s
		},
		Finished: func(o campaign.Outcome, _ *campaign.Summary) error {
			if o.Kind != "" {
				o.Kind += evil
			}
			r.Outcomes = append(r.Outcomes, o)
			return nil
		},
	})
	r.Tally = (&campaign.Tally{}).With(s, time.Second)
	write(t, filepath.Join(dir, "evil-3", "curve.csv"), "seconds,namespace,shard,documents,bytes,"+
		"chunks,moving\n0.1,test.docs,shard-a,10,1,1,0\n0.5,test.docs,shard-a,4,1,1,0\n")
	if err := r.Write(); err != nil {
		t.Fatal(err)
	}
	remember(t, dir)
	var live strings.Builder
	if err := (&timeline.Timeline{
		Samples: []timeline.Sample{{At: 1, Operations: 5, P50: 1, P99: 2}, {At: 2}},
		Faults:  []timeline.Fault{{Name: evil, From: 0.5, To: 1}},
	}).Write(&live); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, timeline.File), live.String())
	return dir
}

func remember(t *testing.T, dir string) {
	t.Helper()
	m, err := failuredb.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Failed("not-finished"+evil, failuredb.Sighting{Seed: 3}, "evil-3"); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func pageOf(t *testing.T, dir string) string {
	t.Helper()
	p, err := overview.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	p.Sites = []string{"no.such.site"}
	text, err := overview.HTML(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPage: the page says what is in the folder, and nothing of it becomes markup.
func TestPage(t *testing.T) {
	text := pageOf(t, folder(t))
	for _, want := range []string{
		"3 of 9 seeds broke a promise", "What was reached", "no.such.site", "evil-3: test.docs",
		"Throughput", "Latency", "documents", ">2 of 3<", "&lt;script&gt;",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, bad := range []string{"<script", "<img", "NaN", "%!", "http-equiv=\"refresh"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	wellFormed(t, text)
}

// wellFormed reads the page as HTML whose elements are all closed but the empty ones.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPure: the same folder makes the same page.
func TestPure(t *testing.T) {
	dir := folder(t)
	if pageOf(t, dir) != pageOf(t, dir) {
		t.Error("two pages of one folder differ")
	}
}

// TestNothing: other folders are refused, and an empty campaign has a page.
func TestNothing(t *testing.T) {
	dir := t.TempDir()
	if _, err := overview.Read(dir); !errors.Is(err, overview.ErrNothing) {
		t.Errorf("error %v", err)
	}
	write(t, filepath.Join(dir, campaign.JournalFile),
		fmt.Sprintln(campaign.Plan{Profile: "mixed", Protocol: "both"}.Title()))
	if text := pageOf(t, dir); !strings.Contains(text, "No seed has been finished yet.") {
		t.Error("an empty campaign looks like another one")
	}
}
