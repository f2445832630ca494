//go:build browser

package chromium

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Tab is a page in Chromium, and what was wrong with it.
type Tab struct {
	*testing.T
	ctx  context.Context
	lock sync.Mutex
	// site is the only server that the page may ask; empty for none.
	site  string
	wrong []string
}

// OpenFile shows a file at an anchor, which may be empty. Without Chromium the test is skipped.
func OpenFile(t *testing.T, path, anchor string) *Tab {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	address := url.URL{Scheme: "file", Path: path, Fragment: anchor}
	return open(t, address.String(), "")
}

// OpenSite shows the first page of a server, which may ask that server.
func OpenSite(t *testing.T, site string) *Tab {
	t.Helper()
	return open(t, site, site)
}

func open(t *testing.T, address, site string) *Tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(
		chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WindowSize(1400, 1600))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &Tab{T: t, ctx: ctx, site: site}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	b.Go(address)
	return b
}

func (b *Tab) listen(event any) {
	b.lock.Lock()
	defer b.lock.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			text = thrown.Description
		}
		b.wrong = append(b.wrong, "exception: "+text)
	case *runtime.EventConsoleAPICalled:
		b.wrong = append(b.wrong, "console: "+string(e.Type))
	case *log.EventEntryAdded:
		b.wrong = append(b.wrong, "log: "+e.Entry.Text)
	case *page.EventJavascriptDialogOpening:
		b.wrong = append(b.wrong, "dialog: "+e.Message)
	case *network.EventRequestWillBeSent:
		if !b.allowed(e.Request.URL) {
			b.wrong = append(b.wrong, "request: "+e.Request.URL)
		}
	}
}

func (b *Tab) allowed(address string) bool {
	return strings.HasPrefix(address, "data:") || b.site == "" &&
		strings.HasPrefix(address, "file:") || b.site != "" && strings.HasPrefix(address, b.site)
}

// Go shows another page in the tab.
func (b *Tab) Go(address string) {
	b.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Navigate(address)); err != nil {
		b.Fatalf("%s: %v", address, err)
	}
}

// JS is the value of an expression as text.
func (b *Tab) JS(expression string) string {
	b.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return text
}

// Want compares the value of an expression.
func (b *Tab) Want(expression, value string) {
	b.Helper()
	if got := b.JS(expression); got != value {
		b.Errorf("%s is %q, not %q", expression, got, value)
	}
}

// Press presses keys, as a keyboard does.
func (b *Tab) Press(keys string) {
	b.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.KeyEvent(keys)); err != nil {
		b.Fatalf("%q: %v", keys, err)
	}
}

// Prefer shows the page as somebody sees it who prefers such colours, "light" or "dark", on such a
// medium, "screen" or "print".
func (b *Tab) Prefer(colours, medium string) {
	b.Helper()
	_, err := chromedp.Run(b.ctx, chromedp.Func(
		func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia,
				emulation.SetEmulatedMediaParams{Media: medium, Features: []*emulation.MediaFeature{
					{Name: "prefers-color-scheme", Value: colours}}})
			return err
		}))
	if err != nil {
		b.Fatal(err)
	}
}

// Picture saves what the tab shows.
func (b *Tab) Picture(file string) {
	b.Helper()
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file, picture, 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// Took is how many milliseconds it took until the page was there.
func (b *Tab) Took() string {
	b.Helper()
	return b.JS(`Math.round(performance.getEntriesByType('navigation')[0].loadEventEnd)`)
}

// Wrong is what has been wrong with the page so far.
func (b *Tab) Wrong() []string {
	b.lock.Lock()
	defer b.lock.Unlock()
	return append([]string(nil), b.wrong...)
}

// Clean fails if the page had an error, or asked for anything that it may not.
func (b *Tab) Clean() {
	b.Helper()
	for _, text := range b.Wrong() {
		b.Error(text)
	}
}
