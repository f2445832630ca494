//go:build browser

package chromium_test

import (
	"bufio"
	"flag"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/shardproof/shardproof/ci/chromium"
	"github.com/shardproof/shardproof/harness/report"
)

var (
	pictures = flag.String("pictures", "", "the folder for pictures of the pages")
	demo     = flag.String("demo", "", "the top folder, in which make demo has left its build and run")
)

var tool string

// TestMain builds the tool.
func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "shardproof-pages")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(folder)
		tool = filepath.Join(folder, "shardproof")
		build := exec.Command("go", "build", "-o", tool, "../../cmd/shardproof")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			panic(err)
		}
		return m.Run()
	}())
}

// shardproof runs the tool in a folder. It may find failures, but must not fail itself.
func shardproof(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), tool, args...)
	c.Dir = dir
	if text, _ := c.CombinedOutput(); c.ProcessState == nil || c.ProcessState.ExitCode() > 2 {
		t.Fatalf("%s: %s\n%s", c, c.ProcessState, text)
	}
}

// light fails if a page is larger than pages may be, and logs how long it took to open.
func light(b *chromium.Tab, path string) {
	b.Helper()
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%s: %d KiB opened in %s ms", filepath.Base(path), info.Size()>>10, b.Took())
	if info.Size() > report.MaxBytes {
		b.Errorf("%s has %d bytes", path, info.Size())
	}
}

// picture saves what a tab shows for the documentation, if it is wanted.
func picture(b *chromium.Tab, name string) {
	b.Helper()
	if *pictures != "" {
		b.Picture(filepath.Join(*pictures, name+".png"))
	}
}

// walk uses a page of a run: its keyboard, its slider, its filters, its anchors.
func walk(b *chromium.Tab, path string) {
	b.Helper()
	b.Press("0")
	before := b.JS(`chosen`)
	b.Press(kb.ArrowRight)
	b.Want(`chosen - `+before, "1")
	b.Press(kb.ArrowLeft)
	b.Want(`chosen - `+before, "0")
	b.JS(`(() => { slider.value = 20; slider.dispatchEvent(new Event('input')); })()`)
	b.Want(`chosen`, "20")
	b.Want(`location.hash.endsWith('e' + view.events[20].s)`, "true")
	b.JS(`(() => { const s = document.querySelector('[aria-label="only this node"]');
		s.value = s.options[s.options.length - 1].value; s.dispatchEvent(new Event('change')); })()`)
	b.Press(kb.ArrowRight)
	b.Want(`picture.matches(view.events[chosen])`, "true")
	b.Press("?")
	b.Want(`document.getElementById('keys').hidden`, "false")
	b.Clean()
	name := b.JS(`view.name`)
	anchor := "e" + b.JS(`view.events[30].s`)
	if name != "run" {
		anchor = name + "-" + anchor
	}
	b = chromium.OpenFile(b.T, path, anchor)
	b.Want(`chosen`, "30")
	b.Want(`view.name`, name)
	b.Clean()
}

// TestSeed: the page of a seed that passes, as the tool writes it.
func TestSeed(t *testing.T) {
	dir := t.TempDir()
	shardproof(t, dir, "report", "--page", "passing.html", "17")
	path := filepath.Join(dir, "passing.html")
	b := chromium.OpenFile(t, path, "")
	light(b, path)
	b.Want(`document.querySelector('.outcome').textContent`, "PASS")
	b.Want(`document.querySelectorAll('#canvas rect').length > 20`, "true")
	walk(b, path)
}

// night is a folder with a memory that holds failing runs.
func night(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	shardproof(t, dir, "run", "--profile", "sweep", "--seeds", "4", "--parallel", "1",
		"--keep-going", "--set", "orphanCleanupDelaySecs=10h", "--memory", "memory")
	return dir
}

// TestCampaign: the page of a campaign leads to those of its runs, which can be shrunk.
func TestCampaign(t *testing.T) {
	dir := night(t)
	run := filepath.Join("memory", "not-finished-1")
	shardproof(t, dir, "shrink", run)
	shardproof(t, dir, "report", run)
	shardproof(t, dir, "report", "memory")
	path := filepath.Join(dir, "memory", "report.html")
	b := chromium.OpenFile(t, path, "signatures")
	light(b, path)
	b.Want(`[...document.querySelectorAll('nav a')].filter(
		a => !document.querySelector(a.getAttribute('href'))).length`, "0")
	b.Want(`document.querySelector('.outcome').textContent`, "fail")
	b.Want(`document.querySelectorAll('#matrix td').length > 10`, "true")
	b.Want(`document.querySelectorAll('#saturation polyline').length`, "2")
	b.Want(`document.querySelectorAll('#slowest tbody tr').length`, "4")
	link := b.JS(`document.querySelector('#signatures a').href`)
	b.Clean()
	b.Go(link)
	b.Want(`document.querySelectorAll('#views button').length > 1`, "true")
	b.Want(`view.name`, "smallest")
	b.Press("j")
	b.Want(`(view.story || []).length > 0 && chosen > 0`, "true")
	b.Clean()
	path = filepath.Join(dir, run, "report.html")
	light(b, path)
	walk(b, path)
}

// TestAttack: the pages of an attack on real processes.
func TestAttack(t *testing.T) {
	dir := t.TempDir()
	seconds, args := "4s", []string{"--members", "1", "--config-members", "1", "--clients", "3"}
	if *pictures != "" {
		seconds, args = "40s", nil
	}
	shardproof(t, dir, append([]string{"attack", "--for", seconds, "--controls", "0s",
		"--between", "1500ms"}, args...)...)
	run := filepath.Join("out", "attack-1")
	shardproof(t, dir, "report", run)
	path := filepath.Join(dir, run, "timeline.html")
	b := chromium.OpenFile(t, path, "")
	light(b, path)
	b.Want(`document.querySelectorAll('#live polyline').length`, "4")
	b.Want(`document.querySelectorAll('#live rect.band').length > 1`, "true")
	b.Want(`document.querySelectorAll('#live tbody tr').length * 2 ===
		document.querySelectorAll('#live rect.band').length`, "true")
	b.Clean()
	picture(b, "timeline")
	path = filepath.Join(dir, run, "report.html")
	b = chromium.OpenFile(t, path, "")
	light(b, path)
	b.Want(`view.lanes.some(l => l.kind === 'client') && view.ops.length > 20`, "true")
	walk(b, path)
}

// served is where a server shows a folder until the test ends.
func served(t *testing.T, dir string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), tool, "serve", filepath.Base(dir))
	c.Dir = filepath.Dir(dir)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// TestServe follows the links of the server's pages, of which one run has a hostile name.
func TestServe(t *testing.T) {
	const evil = `"><img src=x onerror=alert(1)><script>alert(2)<`
	dir := night(t)
	hostile := filepath.Join(dir, "memory", "not-finished-3"+evil)
	if err := os.CopyFS(hostile, os.DirFS(filepath.Join(dir, "memory", "not-finished-2"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(hostile, "story.md"), []byte("a story "+evil), 0o644); err != nil {
		t.Fatal(err)
	}
	address := served(t, dir)
	b := chromium.OpenSite(t, address)
	t.Logf("front page opened in %s ms", b.Took())
	b.Want(`document.querySelectorAll('#signatures tbody tr').length`, "1")
	b.Want(`document.querySelector('#signatures .status').textContent`, "new")
	b.Press(kb.Tab + kb.Tab) // past the link to this page, into the search
	b.Want(`document.activeElement.name`, "q")
	b.Go(b.JS(`document.querySelector('#signatures a').href`))
	b.Want(`document.querySelectorAll('tbody tr').length >= 3`, "true")
	b.Want(`document.body.textContent.includes('onerror=alert')`, "true")
	for _, page := range []string{"search?q=story", "run?p=" + url.QueryEscape("memory/not-finished-3"+evil),
		"compare?a=memory/not-finished-1&b=memory/not-finished-2"} {
		b.Go(address + page)
		b.Want(`document.querySelectorAll('main img, main script, header script').length`, "0")
		b.Want(`document.querySelectorAll('section').length > 0`, "true")
	}
	b.Go(address + "run?p=memory/not-finished-1")
	b.Want(`document.querySelector('iframe').src.endsWith('report.html')`, "true")
	b.Go(address + "file/memory/not-finished-1/report.html")
	b.Press("0" + kb.ArrowRight)
	b.Want(`chosen > 0 && document.querySelectorAll('#canvas rect').length > 5`, "true")
	b.Clean()
}

// TestPictures shows the demo's failure, shrunk, and a campaign of the demo's build.
func TestPictures(t *testing.T) {
	if *demo == "" {
		t.Skip("no -demo")
	}
	tool = filepath.Join(*demo, "bin", "shardproof-demo")
	found, err := filepath.Glob(filepath.Join(*demo, "out", "demo", "*", "env.json"))
	if err != nil || len(found) == 0 {
		t.Fatalf("make demo has left no run (%v)", err)
	}
	dir, run := t.TempDir(), filepath.Dir(found[0])
	if _, err := os.Stat(run + "-min"); err != nil {
		shardproof(t, *demo, "shrink", run)
	}
	shardproof(t, *demo, "report", run)
	b := chromium.OpenFile(t, filepath.Join(run, "report.html"), "")
	light(b, filepath.Join(run, "report.html"))
	picture(b, "report")
	walk(b, filepath.Join(run, "report.html"))
	shardproof(t, dir, "run", "--profile", "contended", "--first-seed", "180", "--seeds", "50",
		"--keep-going", "--memory", "memory")
	shardproof(t, dir, "report", "memory")
	b = chromium.OpenFile(t, filepath.Join(dir, "memory", "report.html"), "")
	picture(b, "campaign")
	b.Clean()
	b = chromium.OpenSite(t, served(t, nights(t, *demo)))
	b.Want(`document.querySelectorAll('#signatures tbody tr').length > 0`, "true")
	picture(b, "serve")
	b.Clean()
}

// nights has three nights search the same seeds with the demo's build: the first finds its bug.
func nights(t *testing.T, root string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "nights")
	for range 3 {
		c := exec.Command("go", "run", "./ci/nightly", "-tool", tool, "-out", dir, "-for", "90s",
			"-parts", "campaign", "-campaign", "--profile contended --first-seed 60 --seeds 40")
		c.Dir = root
		if out, err := c.CombinedOutput(); c.ProcessState == nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return dir
}
