//go:build browser

package report_test

import (
	"context"
	"flag"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/report"
)

var (
	shotPage = flag.String("page", "", "a page to take screenshots of")
	shots    = flag.String("shots", "", "the folder for them")
	shotName = flag.String("name", "report", "what the picture is called")
)

// browser is a page in Chromium, and what was wrong with it.
type browser struct {
	*testing.T
	ctx   context.Context
	lock  sync.Mutex
	wrong []string
}

// open shows a page. Without Chromium the test is skipped.
func open(t *testing.T, path, anchor string) *browser {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	path, err = filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(
		chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox,
		chromedp.WindowSize(1400, 1600))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{T: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	address := url.URL{Scheme: "file", Path: path, Fragment: anchor}
	if _, err := chromedp.Run(ctx, chromedp.Navigate(address.String())); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) listen(event any) {
	b.lock.Lock()
	defer b.lock.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.wrong = append(b.wrong, "exception: "+e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		b.wrong = append(b.wrong, "log: "+e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file:") &&
			!strings.HasPrefix(e.Request.URL, "data:") {
			b.wrong = append(b.wrong, "request: "+e.Request.URL)
		}
	}
}

// js is the value of an expression as text.
func (b *browser) js(expression string) string {
	b.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return text
}

// want compares the value of an expression.
func (b *browser) want(expression, value string) {
	b.Helper()
	if got := b.js(expression); got != value {
		b.Errorf("%s is %q, not %q", expression, got, value)
	}
}

// press presses a key on the page.
func (b *browser) press(key string) {
	b.Helper()
	b.js(`document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '` + key +
		`', bubbles: true}))`)
}

// clean fails if the page had an error or asked for anything.
func (b *browser) clean() {
	b.Helper()
	b.lock.Lock()
	defer b.lock.Unlock()
	for _, text := range b.wrong {
		b.Error(text)
	}
}

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
	b := open(t, path, "")
	b.want(`document.querySelectorAll('#views button').length`, "3")
	b.want(`view.name`, "smallest")
	b.press("v")
	b.want(`view.name`, "run")
	b.want(`document.querySelectorAll('#story .row').length === view.story.length`, "true")
	b.want(`document.querySelectorAll('#canvas rect').length > 20`, "true")

	b.press("h")
	b.want(`location.hash === '#e' + view.events[chosen].s`, "true")
	before := b.js(`chosen`)
	b.press("ArrowRight")
	b.want(`chosen - `+before, "1")
	b.js(`(() => { slider.value = 10; slider.dispatchEvent(new Event('input')); })()`)
	b.want(`chosen`, "10")
	b.want(`document.querySelector('#around .now').id === 'e' + view.events[10].s`, "true")

	b.js(`(() => { const s = document.querySelector('[aria-label="only this key"]');
		s.value = String(view.focus); s.dispatchEvent(new Event('change')); })()`)
	b.press("ArrowRight")
	b.want(`picture.matches(view.events[chosen])`, "true")
	b.want(`document.querySelector('#state').textContent.includes('k=5')`, "true")
	b.want(`[...tools.querySelectorAll('button')].find(
		x => x.textContent === 'messages').getAttribute('aria-pressed')`, "true")
	b.press("m")
	b.want(`picture.messages`, "false")
	b.press("?")
	b.want(`document.getElementById('keys').hidden`, "false")
	b.clean()
	b = open(t, path, "passing-e"+b.js(`view.events[20].s`))
	b.want(`view.name`, "passing")
	b.clean()
}

// TestPassingPage: a page without a story shows the whole run.
func TestPassingPage(t *testing.T) {
	b := open(t, saved(t, report.Page{Run: run(t, moves)}), "")
	b.want(`document.querySelectorAll('#story .row').length`, "0")
	b.want(`document.querySelector('.outcome').textContent`, "PASS")
	b.press("0")
	b.press("ArrowRight")
	b.want(`chosen`, "1")
	b.clean()
}

// TestStaysLight: how long a page takes to open depends on what is drawn, which is bounded.
func TestStaysLight(t *testing.T) {
	r := run(t, moves)
	accuse(r)
	b := open(t, saved(t, report.Page{Run: r}), "")
	b.press("0")
	b.want(`document.querySelectorAll('*').length < 20000`, "true")
}

// TestOpens measures how long pages take to open, and holds them to their size.
func TestOpens(t *testing.T) {
	failing := run(t, moves)
	accuse(failing)
	for name, p := range map[string]report.Page{
		"failing": {Run: failing, Smallest: failing}, "passing": {Run: run(t, moves)},
	} {
		path := saved(t, p)
		b := open(t, path, "")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		took := b.js(`Math.round(performance.getEntriesByType('navigation')[0].loadEventEnd)`)
		t.Logf("%s: %d KiB opened in %s ms", name, info.Size()>>10, took)
		if info.Size() > report.MaxBytes || took == "0" {
			t.Errorf("%s: %d bytes in %s ms", name, info.Size(), took)
		}
		b.clean()
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
	b := open(t, path, "")
	time.Sleep(200 * time.Millisecond)
	b.lock.Lock()
	defer b.lock.Unlock()
	if len(b.wrong) == 0 {
		t.Error("an exception was not noticed")
	}
}

// TestScreenshots takes a picture of a page for the documentation.
func TestScreenshots(t *testing.T) {
	if *shotPage == "" {
		t.Skip("no -page")
	}
	b := open(t, *shotPage, "")
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(*shots, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, *shotName+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
	b.clean()
}
