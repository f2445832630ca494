// Package archive is an index of the runs, memories and nights below a folder: which failures there
// are by signature, how nights went, and which runs speak of some words.
//
// Promise: the folder is the truth, and the index can be thrown away at any time: it is made from
// the folder again. Nothing in the folder is written. What cannot be read is left out, and said.
//
// Refusal: it judges nothing; signatures and verdicts are those that were kept.
package archive

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the database, in Go alone

	"github.com/shardproof/shardproof/harness/failuredb"
	"github.com/shardproof/shardproof/harness/rundir"
)

// Archive is an open index.
type Archive struct {
	folder string
	db     *sql.DB
	// Problems are what could not be read.
	Problems []string
}

const schema = `
create table runs (path text primary key, signature text, outcome text, checker text, promise text,
	broke text, name text, build text, hash text, at integer, page integer);
create table signatures (memory text, signature text, status text, runs integer, first_at integer,
	first_seed text, last_at integer, last_seed text);
create table nights (path text primary key, night integer, at integer, build text, red integer,
	seeds integer, failures integer);
create table findings (path text, signature text, status text, runs integer);
create virtual table words using fts5 (path unindexed, body);
`

// Open makes the index of a folder in a file of its own, in place of an older index there; with an
// empty name in memory.
func Open(ctx context.Context, folder, file string) (*Archive, error) {
	if info, err := os.Stat(folder); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", folder)
	}
	if file != "" {
		if err := removeIndex(file); err != nil {
			return nil, err
		}
	}
	name := ":memory:"
	if file != "" {
		name = file
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection to memory would be a database of its own
	a := &Archive{folder: folder, db: db}
	if err := a.fill(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

// magic begins every file of the database.
const magic = "SQLite format 3\x00"

// removeIndex removes an older index, and nothing else.
func removeIndex(file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(text), magic) {
		return &rundir.ExistsError{Path: file}
	}
	return os.Remove(file)
}

// Close ends the use of the index.
func (a *Archive) Close() error { return a.db.Close() }

// fill reads the whole folder.
func (a *Archive) fill(ctx context.Context) error {
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec(schema); err != nil {
		return err
	}
	err = filepath.WalkDir(a.folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			a.Problems = append(a.Problems, err.Error())
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir():
			return nil
		}
		return a.take(tx, filepath.Dir(path), d.Name())
	})
	if err != nil {
		return err
	}
	return tx.Commit()
}

// take adds what a file says; dir is its folder.
func (a *Archive) take(tx *sql.Tx, dir, name string) error {
	readers := map[string]func(tx *sql.Tx, dir, below string) error{
		rundir.VerdictFile: a.run, failuredb.File: a.memory, "night.json": a.night,
	}
	read := readers[name]
	if read == nil {
		return nil
	}
	below, err := filepath.Rel(a.folder, dir)
	if err != nil {
		return err
	}
	var bad *badError
	if err := read(tx, dir, filepath.ToSlash(below)); errors.As(err, &bad) {
		a.Problems = append(a.Problems, bad.Error())
	} else if err != nil {
		return err
	}
	return nil
}

// badError is what is wrong with a file of the folder.
type badError struct{ err error }

func (e *badError) Error() string { return e.err.Error() }

// verdictFile is what is needed of a verdict.
type verdictFile struct {
	Signature string
	Verdict   []struct {
		Checker, Promise, Outcome string
		Violations                []struct{ Signature, Broke string }
	}
}

func (a *Archive) run(tx *sql.Tx, dir, below string) error {
	text, err := os.ReadFile(filepath.Join(dir, rundir.VerdictFile))
	if err != nil {
		return &badError{err}
	}
	var v verdictFile
	if err := json.Unmarshal(text, &v); err != nil {
		return &badError{fmt.Errorf("%s/%s: %w", below, rundir.VerdictFile, err)}
	}
	env, err := rundir.ReadEnvironment(dir)
	if err != nil {
		return &badError{err}
	}
	r := Run{Path: below, Outcome: "pass", Build: env.String(), Hash: env.Hash}
	for _, one := range v.Verdict {
		if one.Outcome == "pass" || r.Outcome == "fail" {
			continue
		}
		r.Outcome, r.Checker, r.Promise = one.Outcome, one.Checker, one.Promise
		r.Signature = one.Checker + "-" + one.Outcome
		if len(one.Violations) > 0 {
			r.Signature, r.Broke = one.Violations[0].Signature, one.Violations[0].Broke
		}
	}
	if v.Signature != "" {
		r.Signature = v.Signature
	}
	if info, err := os.Stat(filepath.Join(dir, rundir.VerdictFile)); err == nil {
		r.At = info.ModTime()
	}
	_, missing := os.Stat(filepath.Join(dir, rundir.ReportFile))
	r.Page = missing == nil
	if _, err := tx.Exec("insert into runs values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", r.Path,
		r.Signature, r.Outcome, r.Checker, r.Promise, r.Broke, filepath.Base(dir), r.Build, r.Hash,
		r.At.Unix(), r.Page); err != nil {
		return err
	}
	return a.words(tx, dir, below)
}

// words are what a search looks through: the names, the story and the scenario of a run.
func (a *Archive) words(tx *sql.Tx, dir, below string) error {
	body := below
	for _, name := range []string{rundir.StoryFile, rundir.ScenarioFile} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			body += "\n" + string(text)
		}
	}
	_, err := tx.Exec("insert into words values (?, ?)", below, body)
	return err
}

func (a *Archive) memory(tx *sql.Tx, dir, below string) error {
	entries, err := failuredb.Read(dir)
	if err != nil {
		return &badError{err}
	}
	for _, e := range entries {
		if _, err := tx.Exec("insert into signatures values (?, ?, ?, ?, ?, ?, ?, ?)", below,
			e.Signature, string(e.Status), e.Times, e.First.At.Unix(), fmt.Sprint(e.First.Seed),
			e.Last.At.Unix(), fmt.Sprint(e.Last.Seed)); err != nil {
			return err
		}
	}
	return nil
}

// nightFile is what is needed of the record of a night.
type nightFile struct {
	Kept struct {
		Night           int
		At              time.Time
		Build           string
		Red             bool
		Seeds, Failures int
		Findings        []struct {
			Signature, Status string
			Runs              int
		}
	}
}

func (a *Archive) night(tx *sql.Tx, dir, below string) error {
	text, err := os.ReadFile(filepath.Join(dir, "night.json"))
	if err != nil {
		return &badError{err}
	}
	var f nightFile
	if err := json.Unmarshal(text, &f); err != nil {
		return &badError{fmt.Errorf("%s/night.json: %w", below, err)}
	}
	n := f.Kept
	if _, err := tx.Exec("insert into nights values (?, ?, ?, ?, ?, ?, ?)", below, n.Night,
		n.At.Unix(), n.Build, n.Red, n.Seeds, n.Failures); err != nil {
		return err
	}
	for _, one := range n.Findings {
		if _, err := tx.Exec("insert into findings values (?, ?, ?, ?)", below, one.Signature,
			one.Status, one.Runs); err != nil {
			return err
		}
	}
	return nil
}
