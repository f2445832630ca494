// Command figures prints how much there is of everything that can be counted: failpoint sites,
// known bugs, operations, faults, checkers and strategies. With -write it renews the table in
// README.md.
//
// Promise: the counts come from the catalogs that the tool itself uses, so that a table which
// agrees with this command agrees with the build.
//
// Refusal: it counts entries, and says nothing of how good they are.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/shardproof/shardproof/ci/knownbugs"
	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/search"
	"github.com/shardproof/shardproof/harness/shardstore"
	"github.com/shardproof/shardproof/histories/corpus"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/system/failpoint"
)

// The lines between which a page keeps the table.
const (
	begin = "<!-- figures: `make figures` writes these lines -->\n"
	end   = "<!-- end of figures -->\n"
)

func main() {
	root := flag.String("root", ".", "the project's top folder")
	write := flag.Bool("write", false, "renew the table in README.md instead of printing it")
	flag.Parse()
	if err := run(*root, *write); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(4)
	}
}

func run(root string, write bool) error {
	table, err := figures(root)
	if err != nil || !write {
		fmt.Print(table)
		return err
	}
	page := filepath.Join(root, "README.md")
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	renewed, err := renew(text, table)
	if err != nil {
		return err
	}
	return os.WriteFile(page, renewed, 0o644)
}

// figures is the table, in Markdown.
func figures(root string) (string, error) {
	bugs, err := knownbugs.Load(filepath.Join(root, "ci", "knownbugs", "bugs"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| what | how many |\n| --- | --- |\n")
	for _, row := range []struct {
		what  string
		count int
	}{
		{"failpoint sites", len(failpoint.All())},
		{"kinds of faults", len(faults.All())},
		{"kinds of client operations", len(opkind.All())},
		{"promises, each with a checker", len(runner.Checkers(shardstore.Store{}))},
		{"search strategies", len(search.Strategies())},
		{"stored scenarios", len(corpus.Stories())},
		{"known bugs, each with a budget of seeds", len(bugs)},
	} {
		fmt.Fprintf(&b, "| %s | %d |\n", row.what, row.count)
	}
	return b.String(), nil
}

// renew puts the table between its two lines.
func renew(page []byte, table string) ([]byte, error) {
	before, rest, found := bytes.Cut(page, []byte(begin))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		return nil, errors.New("README.md has no place for the table")
	}
	return bytes.Join([][]byte{before, []byte(begin + table + end), after}, nil), nil
}
