//go:build browser

package overview_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/shardproof/shardproof/harness/report"
)

// TestInBrowser opens the page of a campaign with hostile names in Chromium: it asks for nothing,
// runs nothing, and every link within it leads somewhere.
func TestInBrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	text := pageOf(t, folder(t))
	path := filepath.Join(t.TempDir(), "report.html")
	write(t, path, text)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(
		chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium),
		chromedp.NoSandbox)...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	var lock sync.Mutex
	var wrong []string
	if err := chromedp.Listen(ctx, func(event any) {
		lock.Lock()
		defer lock.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			wrong = append(wrong, "exception: "+e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			wrong = append(wrong, "log: "+e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, "file:") &&
				!strings.HasPrefix(e.Request.URL, "data:") {
				wrong = append(wrong, "request: "+e.Request.URL)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Navigate("file://"+path)); err != nil {
		t.Fatal(err)
	}
	for expression, want := range map[string]string{
		`document.scripts.length + document.images.length`: "0",
		`[...document.querySelectorAll('nav a')].filter(
			a => !document.querySelector(a.getAttribute('href'))).length`: "0",
		`document.querySelectorAll('nav a').length`:        "7",
		`document.querySelectorAll('polyline').length > 4`: "true",
		`document.querySelectorAll('rect.band').length`:    "2",
		`document.querySelector('.outcome').textContent`:   "fail",
	} {
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string]("String("+expression+")"))
		if err != nil || got != want {
			t.Errorf("%s is %q, not %q (%v)", expression, got, want, err)
		}
	}
	took, err := chromedp.Run(ctx, chromedp.Evaluate[string](
		`String(Math.round(performance.getEntriesByType('navigation')[0].loadEventEnd))`))
	if _, bad := strconv.Atoi(took); err != nil || bad != nil {
		t.Errorf("how long it took is not known: %q, %v", took, err)
	}
	t.Logf("%d KiB opened in %s ms", len(text)>>10, took)
	if len(text) > report.MaxBytes {
		t.Errorf("%d bytes", len(text))
	}
	lock.Lock()
	defer lock.Unlock()
	for _, w := range wrong {
		t.Error(w)
	}
}
