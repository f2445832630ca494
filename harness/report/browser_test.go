//go:build browser

package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/shardproof/shardproof/ci/chromium"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/report"
)

func saved(t *testing.T, p report.Page) string {
	t.Helper()
	text, err := report.HTML(p)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFailingPage uses the page of a failing run with anchors, keys, the slider and the filters.
func TestFailingPage(t *testing.T) {
	r := run(t, moves)
	accuse(r)
	nearest := &explain.NearestPassing{
		Scenario: run(t, strings.Replace(moves, "at 250ms", "at 260ms", 1)).Plan(),
		Change:   "with fault 1 10ms later",
	}
	path := saved(t, report.Page{Run: r, Smallest: r, Nearest: nearest})
	b := chromium.OpenFile(t, path, "")
	b.Want(`document.querySelectorAll('#views button').length`, "3")
	b.Want(`view.name`, "smallest")
	b.Press("v")
	b.Want(`view.name`, "run")
	b.Want(`document.querySelectorAll('#story .row').length === view.story.length`, "true")
	b.Want(`document.querySelectorAll('#canvas rect').length > 20`, "true")

	b.Press("h")
	b.Want(`location.hash === '#e' + view.events[chosen].s`, "true")
	before := b.JS(`chosen`)
	b.Press(kb.ArrowRight)
	b.Want(`chosen - `+before, "1")
	b.JS(`(() => { slider.value = 10; slider.dispatchEvent(new Event('input')); })()`)
	b.Want(`chosen`, "10")
	b.Want(`document.querySelector('#around .now').id === 'e' + view.events[10].s`, "true")

	b.JS(`(() => { const s = document.querySelector('[aria-label="only this key"]');
		s.value = String(view.focus); s.dispatchEvent(new Event('change')); })()`)
	b.Press(kb.ArrowRight)
	b.Want(`picture.matches(view.events[chosen])`, "true")
	b.Want(`document.querySelector('#state').textContent.includes('k=5')`, "true")
	b.Want(`[...tools.querySelectorAll('button')].find(
		x => x.textContent === 'messages').getAttribute('aria-pressed')`, "true")
	b.Press("m")
	b.Want(`picture.messages`, "false")
	b.Press("?")
	b.Want(`document.getElementById('keys').hidden`, "false")
	b.Clean()
	b = chromium.OpenFile(t, path, "passing-e"+b.JS(`view.events[20].s`))
	b.Want(`view.name`, "passing")
	b.Clean()
}

// TestPassingPage: a page without a story shows the whole run.
func TestPassingPage(t *testing.T) {
	b := chromium.OpenFile(t, saved(t, report.Page{Run: run(t, moves)}), "")
	b.Want(`document.querySelectorAll('#story .row').length`, "0")
	b.Want(`document.querySelector('.outcome').textContent`, "PASS")
	b.Press("0")
	b.Press(kb.ArrowRight)
	b.Want(`chosen`, "1")
	b.Clean()
}

// TestStaysLight: how long a page takes to open depends on what is drawn, which is bounded.
func TestStaysLight(t *testing.T) {
	r := run(t, moves)
	accuse(r)
	b := chromium.OpenFile(t, saved(t, report.Page{Run: r}), "")
	b.Press("0")
	b.Want(`document.querySelectorAll('*').length < 20000`, "true")
}

// TestOpens measures how long pages take to open, and holds them to their size.
func TestOpens(t *testing.T) {
	failing := run(t, moves)
	accuse(failing)
	for name, p := range map[string]report.Page{
		"failing": {Run: failing, Smallest: failing}, "passing": {Run: run(t, moves)},
	} {
		path := saved(t, p)
		b := chromium.OpenFile(t, path, "")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		took := b.Took()
		t.Logf("%s: %d KiB opened in %s ms", name, info.Size()>>10, took)
		if info.Size() > report.MaxBytes || took == "0" {
			t.Errorf("%s: %d bytes in %s ms", name, info.Size(), took)
		}
		b.Clean()
	}
}

// TestErrorsAreSeen: these tests would notice an error on a page.
func TestErrorsAreSeen(t *testing.T) {
	path := saved(t, report.Page{Run: run(t, moves)})
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(text), "begin();", "begin(); nothing();", 1)
	if err := os.WriteFile(path, []byte(broken), 0o644); err != nil {
		t.Fatal(err)
	}
	b := chromium.OpenFile(t, path, "")
	time.Sleep(200 * time.Millisecond)
	if len(b.Wrong()) == 0 {
		t.Error("an exception was not noticed")
	}
}

// TestHostilePage: names and values of a scenario run nothing in a browser.
func TestHostilePage(t *testing.T) {
	const evil = "</script><img/onerror/alert(1)><!--"
	r := run(t, strings.ReplaceAll(moves, "w1", evil))
	accuse(r)
	r.Scenario.Name = evil
	r.Verdicts[len(r.Verdicts)-1].Violations[0].Broke = evil
	b := chromium.OpenFile(t, saved(t, report.Page{Run: r, Annotated: evil, Build: evil,
		Commands: []string{evil}}), "")
	b.Press("0" + kb.ArrowRight)
	b.Want(`document.images.length + ',' + document.scripts.length`, "0,2")
	b.Want(`document.querySelector('.broke').textContent`, evil)
	b.Clean()
}

// TestColoursAndPaper: the page has a dark and a light side, and what is only for hands and eyes on
// a screen is not printed.
func TestColoursAndPaper(t *testing.T) {
	r := run(t, moves)
	accuse(r)
	b := chromium.OpenFile(t, saved(t, report.Page{Run: r}), "")
	const background = `getComputedStyle(document.body).backgroundColor`
	b.Prefer("light", "screen")
	light := b.JS(background)
	b.Prefer("dark", "screen")
	b.Want(background+" === '"+light+"'", "false")
	b.Prefer("dark", "print")
	b.Want(background, "rgb(255, 255, 255)")
	b.Want(`getComputedStyle(document.getElementById('tools')).display`, "none")
	b.Clean()
}
