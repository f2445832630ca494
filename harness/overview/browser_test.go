//go:build browser

package overview_test

import (
	"path/filepath"
	"testing"

	"github.com/shardproof/shardproof/ci/chromium"
	"github.com/shardproof/shardproof/harness/report"
)

// TestInBrowser opens the page of a campaign with hostile names in Chromium: it asks for nothing,
// runs nothing, and every link within it leads somewhere.
func TestInBrowser(t *testing.T) {
	text := pageOf(t, folder(t))
	path := filepath.Join(t.TempDir(), "report.html")
	write(t, path, text)
	b := chromium.OpenFile(t, path, "")
	for expression, want := range map[string]string{
		`document.scripts.length + document.images.length`: "0",
		`[...document.querySelectorAll('nav a')].filter(
			a => !document.querySelector(a.getAttribute('href'))).length`: "0",
		`document.querySelectorAll('nav a').length`:        "7",
		`document.querySelectorAll('polyline').length > 4`: "true",
		`document.querySelectorAll('rect.band').length`:    "2",
		`document.querySelector('.outcome').textContent`:   "fail",
	} {
		b.Want(expression, want)
	}
	t.Logf("%d KiB opened in %s ms", len(text)>>10, b.Took())
	if len(text) > report.MaxBytes {
		t.Errorf("%d bytes", len(text))
	}
	b.Clean()
}
