package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/cmd/serve/archive"
	"github.com/shardproof/shardproof/harness/failuredb"
	"github.com/shardproof/shardproof/harness/rundir"
)

const evil = `<script>alert(1)</script>"'`

// fill makes a folder with two failing runs of one signature, a memory and two nights, all with
// hostile names and texts.
func fill(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	first := "lost-write-1" + strings.ReplaceAll(evil, "/", "")
	for i, run := range []string{first, "lost-write-2"} {
		verdict, err := json.Marshal(map[string]any{"schema": rundir.VerdictSchema,
			"signature": []string{"", "lost-write/" + evil}[i],
			"verdict": []any{
				map[string]any{"checker": "linearizability", "outcome": "fail",
					"promise": "kept" + evil,
					"violations": []any{map[string]any{"signature": "lost-write",
						"broke": "gone" + evil}}},
			}})
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, "memory/"+run+"/verdict.json", string(verdict))
		write(t, dir, "memory/"+run+"/env.json",
			`{"go":"go1","os":"linux","arch":"x","hash":"0","steps":1}`)
		write(t, dir, "memory/"+run+"/story.md", fmt.Sprintf("the story of run%d %s", i, evil))
		write(t, dir, "memory/"+run+"/scenario.txt", fmt.Sprintf("seed 1\nline %d %s\n", i, evil))
		write(t, dir, "memory/"+run+"/report.html", "<script>1</script>")
	}
	m, err := failuredb.Open(filepath.Join(dir, "memory"))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	if _, err := m.Failed("lost-write/"+evil, failuredb.Sighting{At: at, Seed: 1},
		"lost-write-2"); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		write(t, dir, fmt.Sprintf("night-%d/night.json", i), fmt.Sprintf(
			`{"schema":"shardproof.night/1","kept":{"night":%d,"at":"2026-11-2%dT00:00:00Z","build":%q,`+
				`"seeds":%d,"failures":%d,"findings":[{"signature":"x","status":"new","runs":1}]}}`,
			i+1, i+1, evil, 100*i, i))
	}
	write(t, dir, "broken/verdict.json", "{")
	write(t, dir, "../"+filepath.Base(dir)+"-secret", "secret")
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) http.Handler {
	t.Helper()
	a, err := archive.Open(context.Background(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{folder: dir, archive: a, made: time.Now()}
	t.Cleanup(s.close)
	return s.handler()
}

func get(t *testing.T, h http.Handler, target string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Host = "127.0.0.1:1234"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	text, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(text)
}

// TestPages: each page shows what is in the folder, and nothing of that becomes markup.
func TestPages(t *testing.T) {
	h := open(t, fill(t))
	first := url.QueryEscape("memory/lost-write-1" + strings.ReplaceAll(evil, "/", ""))
	for target, wants := range map[string][]string{
		"/": {"lost-write", "<td>1</td><td>1</td>", "<svg", "failing seeds", "What could not be read",
			"broken/verdict.json"},
		"/signature?s=lost-write":                             {"memory/lost-write-1", "gone&lt;script&gt;"},
		"/signature?s=" + url.QueryEscape("lost-write/"+evil): {"memory/lost-write-2"},
		"/search?q=run1":                                      {"”: 1<", "memory/lost-write-2"},
		"/search?q=" + url.QueryEscape(`"run1" OR (`+evil):    {"”: 0<"},
		"/run?p=" + first:                                     {"the story of run0", "trace hash 0", "<iframe"},
		"/compare?a=" + first + "&b=memory/lost-write-2": {
			"<mark>line 0", "<mark>line 1", "seed 1", "the story of run1"},
	} {
		code, text := get(t, h, target)
		if code != http.StatusOK {
			t.Errorf("%s: %d %s", target, code, text)
		}
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q:\n%s", target, want, text)
			}
		}
		if strings.Contains(text, "<script") {
			t.Errorf("%s has a script:\n%s", target, text)
		}
	}
}

// TestOnlyWhatItShould: no other host, no other method, no file outside of the folder.
func TestOnlyWhatItShould(t *testing.T) {
	dir := fill(t)
	h := open(t, dir)
	if code, text := get(t, h, "/file/memory/lost-write-2/story.md"); code != http.StatusOK ||
		!strings.Contains(text, "run1") {
		t.Errorf("a file of a run: %d %s", code, text)
	}
	for _, target := range []string{
		"/file/../" + filepath.Base(dir) + "-secret",
		"/file/%2e%2e/" + filepath.Base(dir) + "-secret",
		"/file//etc/passwd", "/file/memory", "/run?p=..", "/run?p=broken", "/nothing",
	} {
		if code, text := get(t, h, target); code < 300 || strings.Contains(text, "secret\n") {
			t.Errorf("%s: %d %s", target, code, text)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = "evil.example:80"
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusForbidden {
		t.Errorf("another host: %d", w.Code)
	}
	r = httptest.NewRequest(http.MethodPost, "/", nil)
	r.Host = "localhost"
	w = httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("another method: %d", w.Code)
	}
}

// TestIndexIsDisposable: an older index is replaced, another file is not.
func TestIndexIsDisposable(t *testing.T) {
	dir, file := fill(t), filepath.Join(t.TempDir(), "index.sqlite")
	for range 2 {
		a, err := archive.Open(context.Background(), dir, file)
		if err != nil {
			t.Fatal(err)
		}
		all, err := a.Signatures(context.Background())
		if err != nil || len(all) != 2 {
			t.Errorf("signatures %v, %v", all, err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Dir(file), "mine.txt", "mine")
	if _, err := archive.Open(context.Background(), dir,
		filepath.Join(filepath.Dir(file), "mine.txt")); err == nil {
		t.Error("a file that is no index was replaced")
	}
	before := listing(t, dir)
	_ = open(t, dir)
	if after := listing(t, dir); before != after {
		t.Errorf("the folder has changed:\n%s\n%s", before, after)
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	if err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCommand: it prints where it is, answers there, and ends with its context.
func TestCommand(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, in := io.Pipe()
	c := New()
	c.SetOut(in)
	c.SetArgs([]string{fill(t)})
	ended := make(chan error, 1)
	go func() { ended <- c.ExecuteContext(ctx) }()
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Errorf("it listens on %s", address)
	}
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("%s, %v", answer.Status, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
