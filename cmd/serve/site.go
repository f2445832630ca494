package serve

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shardproof/shardproof/cmd/serve/archive"
	"github.com/shardproof/shardproof/harness/overview"
	"github.com/shardproof/shardproof/harness/rundir"
)

// site is the pages of one folder.
type site struct {
	folder, index string

	lock    sync.Mutex
	archive *archive.Archive
	made    time.Time
}

// renewAfter is how old an index may be.
const renewAfter = 10 * time.Second

// current is the index, made from the folder again when it is too old.
func (s *site) current(ctx context.Context) (*archive.Archive, error) {
	if time.Since(s.made) < renewAfter {
		return s.archive, nil
	}
	if err := s.archive.Close(); err != nil {
		return nil, err
	}
	a, err := archive.Open(ctx, s.folder, s.index)
	if err != nil {
		return nil, err
	}
	s.archive, s.made = a, time.Now()
	return a, nil
}

func (s *site) close() { _ = s.archive.Close() }

func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", s.page("front", s.front))
	mux.Handle("GET /signature", s.page("runs", s.signature))
	mux.Handle("GET /search", s.page("runs", s.search))
	mux.Handle("GET /run", s.page("run", s.run))
	mux.Handle("GET /compare", s.page("compare", s.compare))
	mux.HandleFunc("GET /file/{path...}", s.file)
	return guarded(mux)
}

// guarded lets only requests through that a browser on this machine makes by the name of this
// machine: a page of another site that has its name point here gets nothing.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if ip := net.ParseIP(strings.Trim(host, "[]")); host != "localhost" &&
			(ip == nil || !ip.IsLoopback()) {
			http.Error(w, "this is a server for its own machine", http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; "+
			"form-action 'self'; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; "+
			"img-src data:")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

//go:embed page.html
var pageHTML string

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"date": func(t time.Time) string {
		if t.Unix() <= 0 {
			return ""
		}
		return t.Format("2006-01-02 15:04")
	},
	"file": func(parts ...string) string { return "/file/" + escaped(path.Join(parts...)) },
}).Parse(pageHTML))

// escaped is a path of which every part stands in an address.
func escaped(p string) string {
	parts := strings.Split(p, "/")
	for i := range parts {
		parts[i] = template.URLQueryEscaper(parts[i])
		parts[i] = strings.ReplaceAll(parts[i], "+", "%20")
	}
	return strings.Join(parts, "/")
}

// content is what a page shows: its title, and what its template takes.
type content struct {
	Title string
	Style template.CSS
	Query string
	Data  any
}

// notFound is a page that there is not.
type notFound struct{ what string }

func (e *notFound) Error() string { return e.what + " is not there" }

// page answers with a template and what is found for it.
func (s *site) page(
	name string, find func(a *archive.Archive, r *http.Request) (string, any, error),
) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.lock.Lock()
		defer s.lock.Unlock()
		a, err := s.current(context.WithoutCancel(r.Context()))
		c := content{Style: template.CSS(overview.Style()), Query: r.FormValue("q")}
		if err == nil {
			c.Title, c.Data, err = find(a, r)
		}
		var b bytes.Buffer
		if err == nil {
			err = pages.ExecuteTemplate(&b, name, c)
		}
		if missing := (*notFound)(nil); errors.As(err, &missing) {
			http.Error(w, missing.Error(), http.StatusNotFound)
			return
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(b.Bytes())
	})
}

// front shows failures by signature and how nights went.
func (s *site) front(a *archive.Archive, r *http.Request) (string, any, error) {
	signatures, err := a.Signatures(r.Context())
	if err != nil {
		return "", nil, err
	}
	nights, err := a.Nights(r.Context())
	if err != nil {
		return "", nil, err
	}
	charts, err := trends(nights)
	slices.Reverse(nights)
	return s.folder, map[string]any{"Signatures": signatures, "Nights": nights, "Charts": charts,
		"Problems": a.Problems}, err
}

// trends draws nights over time.
func trends(nights []archive.Night) (charts []template.HTML, err error) {
	if len(nights) < 2 {
		return nil, nil
	}
	seeds, failures, news := overview.Line{Name: "seeds"}, overview.Line{Name: "failing seeds"},
		overview.Line{Name: "signatures that are new or came back"}
	for _, n := range nights {
		at := float64(n.Night)
		seeds.Points = append(seeds.Points, [2]float64{at, float64(n.Seeds)})
		failures.Points = append(failures.Points, [2]float64{at, float64(n.Failures)})
		news.Points = append(news.Points, [2]float64{at, float64(n.News)})
	}
	for _, c := range []overview.Curve{
		{Title: "Seeds", X: "night", Y: "seeds", Lines: []overview.Line{seeds}},
		{Title: "Failures", X: "night", Y: "", Lines: []overview.Line{failures, news}},
	} {
		svg, err := c.SVG()
		if err != nil {
			return nil, err
		}
		charts = append(charts, svg)
	}
	return charts, nil
}

func (s *site) signature(a *archive.Archive, r *http.Request) (string, any, error) {
	name := r.FormValue("s")
	runs, err := a.Runs(r.Context(), name)
	return name, runs, err
}

func (s *site) search(a *archive.Archive, r *http.Request) (string, any, error) {
	runs, err := a.Search(r.Context(), r.FormValue("q"))
	return fmt.Sprintf("Runs with “%s”: %d", r.FormValue("q"), len(runs)), runs, err
}

// shown is a run on a page.
type shown struct {
	archive.Run
	Story string
	Files []string
	// Scenario are the lines of the scenario, those that are not in the other run marked.
	Scenario []line
}

type line struct {
	Text string
	Only bool
}

func (s *site) run(a *archive.Archive, r *http.Request) (string, any, error) {
	one, err := s.look(a, r, r.FormValue("p"))
	if err != nil {
		return "", nil, err
	}
	return one.Path, one, nil
}

// look reads what a kept run has to show.
func (s *site) look(a *archive.Archive, r *http.Request, path string) (*shown, error) {
	run, err := a.Run(r.Context(), path)
	if err != nil {
		return nil, err
	}
	if run == nil {
		return nil, &notFound{fmt.Sprintf("a kept run %q", path)}
	}
	dir := filepath.Join(s.folder, filepath.FromSlash(run.Path))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	one := &shown{Run: *run, Story: textOf(dir, rundir.StoryFile)}
	for _, e := range entries {
		if e.Type().IsRegular() {
			one.Files = append(one.Files, e.Name())
		}
	}
	for _, text := range strings.Split(textOf(dir, rundir.ScenarioFile), "\n") {
		one.Scenario = append(one.Scenario, line{Text: text})
	}
	return one, nil
}

// mostText is how much of a file is shown on a page.
const mostText = 1 << 20

func textOf(dir, name string) string {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(string(text[:min(len(text), mostText)]), "�")
}

// compare shows two runs side by side, and marks the lines of each scenario that the other has not.
func (s *site) compare(a *archive.Archive, r *http.Request) (string, any, error) {
	var both [2]*shown
	for i, name := range []string{"a", "b"} {
		one, err := s.look(a, r, r.FormValue(name))
		if err != nil {
			return "", nil, err
		}
		both[i] = one
	}
	for i, one := range both {
		other := make(map[string]bool)
		for _, l := range both[1-i].Scenario {
			other[l.Text] = true
		}
		for j := range one.Scenario {
			one.Scenario[j].Only = !other[one.Scenario[j].Text]
		}
	}
	return both[0].Name + " and " + both[1].Name, both, nil
}

// file serves a file of the folder. A page of a run may run its own script, but has the rights of
// no site: it cannot read what this server says of other runs.
func (s *site) file(w http.ResponseWriter, r *http.Request) {
	root, err := os.OpenRoot(s.folder)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer root.Close()
	name := r.PathValue("path")
	if !fs.ValidPath(name) {
		http.NotFound(w, r)
		return
	}
	file, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "sandbox allow-scripts; default-src 'none'; "+
		"img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'")
	switch filepath.Ext(name) {
	case ".html":
		h.Set("Content-Type", "text/html; charset=utf-8")
	case ".zst":
		h.Set("Content-Type", "application/octet-stream")
	default:
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	http.ServeContent(w, r, "", info.ModTime(), file)
}
