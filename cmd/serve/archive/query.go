package archive

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// Run is a kept run.
type Run struct {
	// Path is its folder below the archive's, with slashes.
	Path, Signature, Outcome, Checker, Promise, Broke, Name, Build, Hash string
	// At is when it was kept; Page says whether it has a page.
	At   time.Time
	Page bool
}

// Signature is a group of failures.
type Signature struct {
	Signature string
	// Status is what the memory that has seen it last knows; empty when it is in none. Seen is how
	// many runs the memories have counted, Kept how many are there.
	Status     string
	Seen, Kept int
	Last       time.Time
}

// Night is a night's record, with how many signatures were new to it or came back.
type Night struct {
	Path            string
	Night           int
	At              time.Time
	Build           string
	Red             bool
	Seeds, Failures int
	News            int
}

// Signatures are those of all failing runs and memories, the last seen first.
func (a *Archive) Signatures(ctx context.Context) ([]Signature, error) {
	return collect(ctx, a.db, `
		select s, coalesce((select status from signatures where signature = s
				order by last_at desc limit 1), ''),
			coalesce((select max(runs) from signatures where signature = s), 0),
			(select count(*) from runs where signature = s),
			max(coalesce((select max(last_at) from signatures where signature = s), 0),
				coalesce((select max(at) from runs where signature = s), 0)) as last
		from (select signature as s from signatures
			union select signature from runs where outcome <> 'pass')
		order by last desc, s`, nil,
		func(rows *sql.Rows, s *Signature) error {
			var last int64
			err := rows.Scan(&s.Signature, &s.Status, &s.Seen, &s.Kept, &last)
			s.Last = time.Unix(last, 0).UTC()
			return err
		})
}

const runColumns = `select path, signature, outcome, checker, promise, broke, name, build, hash, at,
	page from runs `

func scanRun(rows *sql.Rows, r *Run) error {
	var at int64
	err := rows.Scan(&r.Path, &r.Signature, &r.Outcome, &r.Checker, &r.Promise, &r.Broke, &r.Name,
		&r.Build, &r.Hash, &at, &r.Page)
	r.At = time.Unix(at, 0).UTC()
	return err
}

// Runs are the kept runs of a signature, the newest first.
func (a *Archive) Runs(ctx context.Context, signature string) ([]Run, error) {
	return collect(ctx, a.db, runColumns+"where signature = ? order by at desc, path",
		[]any{signature}, scanRun)
}

// Run is the run of a path; nil when there is none.
func (a *Archive) Run(ctx context.Context, path string) (*Run, error) {
	all, err := collect(ctx, a.db, runColumns+"where path = ?", []any{path}, scanRun)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// mostFound is how many runs a search names.
const mostFound = 200

// Search finds the runs whose names, stories or scenarios have all of the words.
func (a *Archive) Search(ctx context.Context, text string) ([]Run, error) {
	var words []string
	for _, w := range strings.Fields(text) {
		words = append(words, `"`+strings.ReplaceAll(w, `"`, `""`)+`"`)
	}
	if len(words) == 0 {
		return nil, nil
	}
	return collect(ctx, a.db, runColumns+`where path in (select path from words where words match ?)
		order by at desc, path limit ?`, []any{strings.Join(words, " "), mostFound}, scanRun)
}

// Nights are all nights in their order.
func (a *Archive) Nights(ctx context.Context) ([]Night, error) {
	return collect(ctx, a.db, `select path, night, at, build, red, seeds, failures,
			(select count(*) from findings f where f.path = n.path
				and f.status in ('new', 'came back'))
		from nights n order by at, night`, nil,
		func(rows *sql.Rows, n *Night) error {
			var at int64
			err := rows.Scan(&n.Path, &n.Night, &at, &n.Build, &n.Red, &n.Seeds,
				&n.Failures, &n.News)
			n.At = time.Unix(at, 0).UTC()
			return err
		})
}

func collect[T any](
	ctx context.Context, db *sql.DB, query string, args []any, scan func(*sql.Rows, *T) error,
) (all []T, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one T
		if err := scan(rows, &one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
