package docs

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/shardstore"
)

// sources parses every Go file below a folder of the project that is not a test.
func sources(t *testing.T, below string) (all []*ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	dir := filepath.Join(root, filepath.FromSlash(below))
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") ||
			strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/testdata/") {
			return err
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		all = append(all, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// constants are the values of the string constants of a type, in a package below root.
func constants(t *testing.T, pkg, typ string) (all []string) {
	t.Helper()
	for _, file := range sources(t, pkg) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if id, ok := spec.Type.(*ast.Ident); ok && id.Name == typ {
				all = append(all, literals(spec.Values)...)
			}
			return true
		})
	}
	if len(all) == 0 {
		t.Fatalf("%s has no constants of type %s", pkg, typ)
	}
	return all
}

func literals(exprs []ast.Expr) (all []string) {
	for _, e := range exprs {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				all = append(all, text)
			}
		}
	}
	return all
}

const verdicts = "docs/verdicts.md"

var (
	rewrite = flag.Bool("rewrite", false, "copy promises into docs/verdicts.md, and "+
		"kinds of operations and commands into docs/formats.md")
	quoted = regexp.MustCompile(`(?m)^### ([a-z-]+)\n\n((?:> .*\n)+)`)
)

// TestPromises: the page has a section for every checker, which begins with its promise, and no
// section of another.
func TestPromises(t *testing.T) {
	promises := map[string]string{}
	for _, c := range runner.Checkers(shardstore.Store{}) {
		promises[c.Name] = c.Promise
	}
	page := quoted.ReplaceAllStringFunc(read(t, verdicts), func(section string) string {
		m := quoted.FindStringSubmatch(section)
		promise, known := promises[m[1]]
		if !known {
			t.Errorf("%s has a section of the promise %s, which no checker judges", verdicts, m[1])
			return section
		}
		delete(promises, m[1])
		return "### " + m[1] + "\n\n" + quote(promise)
	})
	for _, c := range runner.Checkers(shardstore.Store{}) {
		if _, missing := promises[c.Name]; missing && *rewrite {
			page = withSection(page, &c)
		} else if missing {
			t.Errorf("%s has no section of the promise %s; go test ./ci/docs -rewrite",
				verdicts, c.Name)
		}
	}
	switch {
	case page == read(t, verdicts):
	case *rewrite:
		write(t, filepath.Join(root, verdicts), page)
	default:
		t.Errorf("%s quotes other promises than the code has; go test ./ci/docs -rewrite", verdicts)
	}
}

// withSection is the page with a section of a checker at the end of its chapter, for people to go
// on from.
func withSection(page string, c *checkers.Checker) string {
	next := "\n## Promises about the end\n"
	if slices.ContainsFunc(checkers.Catalog(), sameName(c)) {
		next = "\n## Promises about what happens inside\n"
	} else if slices.ContainsFunc(endstate.Catalog(), sameName(c)) {
		next = "\n## How far to trust a clean run\n"
	}
	section := "\n### " + c.Name + "\n\n" + quote(c.Promise) + "\n"
	for _, s := range slices.Sorted(maps.Keys(c.Signatures)) {
		section += wrapped(fmt.Sprintf("- `%s`: %s.", s, c.Signatures[s]), "  ")
	}
	return strings.Replace(page, next, section+next, 1)
}

func sameName(c *checkers.Checker) func(checkers.Checker) bool {
	return func(other checkers.Checker) bool { return other.Name == c.Name }
}

// quote is a promise as lines of a quotation.
func quote(promise string) string { return wrapped("> "+promise, "> ") }

// wrapped is a text as lines, each but the first behind a prefix.
func wrapped(text, prefix string) string {
	var b strings.Builder
	line := ""
	for i, word := range strings.Fields(text) {
		if len(line)+1+len(word) > 98 {
			b.WriteString(line + "\n")
			line = prefix + word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	return b.String() + line + "\n"
}

var explained = regexp.MustCompile("(?m)^- `([a-z-]+)`")

// TestSignatures: the page explains every signature and no other. It comes after TestPromises,
// which writes the section of a new checker.
func TestSignatures(t *testing.T) {
	page := map[string]bool{}
	for _, m := range explained.FindAllStringSubmatch(read(t, verdicts), -1) {
		page[m[1]] = true
	}
	for _, c := range runner.Checkers(shardstore.Store{}) {
		for s := range c.Signatures {
			if !page[string(s)] {
				t.Errorf("%s does not explain the signature %s of %s", verdicts, s, c.Name)
			}
		}
	}
	for s := range page {
		if !given(s) {
			t.Errorf("%s explains the signature %s, which no checker gives", verdicts, s)
		}
	}
}

func given(signature string) bool {
	return slices.ContainsFunc(runner.Checkers(shardstore.Store{}), func(c checkers.Checker) bool {
		_, has := c.Signatures[checkers.Signature(signature)]
		return has
	})
}

var reference = regexp.MustCompile("`([A-Za-z.]+)` in \\[[^]]+\\]\\(([^)]+\\.go)\\)")

// TestFunctions: a page that says "`name` in [file](path)" names a function, method or type of it.
func TestFunctions(t *testing.T) {
	found := 0
	for _, page := range pages(t) {
		text := strings.Join(strings.Fields(read(t, page)), " ")
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			found++
			file := filepath.ToSlash(filepath.Join(filepath.Dir(page), m[2]))
			if !declares(t, file, m[1]) {
				t.Errorf("%s says that `%s` is in %s, and it is not", page, m[1], file)
			}
		}
	}
	if found == 0 {
		t.Error("no page names a function: the pattern of this test fits nothing")
	}
}

// declares says whether a file has a function, method ("Type.name"), type, variable or constant.
func declares(t *testing.T, path, name string) bool {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil,
		parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return false
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == name || receiver(d)+"."+d.Name.Name == name {
				return true
			}
		case *ast.GenDecl:
			if slices.ContainsFunc(d.Specs, func(s ast.Spec) bool { return named(s, name) }) {
				return true
			}
		}
	}
	return false
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

func named(s ast.Spec, name string) bool {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return s.Name.Name == name
	case *ast.ValueSpec:
		return slices.ContainsFunc(s.Names, func(id *ast.Ident) bool { return id.Name == name })
	}
	return false
}
