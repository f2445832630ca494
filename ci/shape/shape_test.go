// Package shape holds the code to a size that a reader can take in.
//
// Promise: functions have at most 70 lines, files at most 400, lines at most 100 columns but for
// what stands in raw strings, and every package and every exported name has a comment.
//
// Refusal: tests are not measured.
package shape

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	linesOfFunction = 70
	linesOfFile     = 400
	columns         = 100
)

// TestShape reads every Go file of the project that is not a test.
func TestShape(t *testing.T) {
	fset := token.NewFileSet()
	described := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "out" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil,
			parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.Dir(path)
		described[dir] = described[dir] || file.Doc != nil
		measure(t, fset, path, file)
		return width(t, fset, path, file)
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, ok := range described {
		if !ok {
			t.Errorf("%s has no package comment: say what it promises and refuses", dir)
		}
	}
}

func measure(t *testing.T, fset *token.FileSet, path string, file *ast.File) {
	if n := fset.Position(file.End()).Line; n > linesOfFile {
		t.Errorf("%s has %d lines; %d is the most: one file, one idea", path, n, linesOfFile)
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			function(t, fset, d)
		case *ast.GenDecl:
			declaration(t, fset, d)
		}
	}
}

// width measures the lines that no raw string is on.
func width(t *testing.T, fset *token.FileSet, path string, file *ast.File) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	raw := map[int]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(s.Value, "`") {
			for l := fset.Position(s.Pos()).Line; l <= fset.Position(s.End()).Line; l++ {
				raw[l] = true
			}
		}
		return true
	})
	for i, line := range strings.Split(string(source), "\n") {
		if n := utf8.RuneCountInString(line); n > columns && !raw[i+1] {
			t.Errorf("%s:%d has %d columns; %d is the most", path, i+1, n, columns)
		}
	}
	return nil
}

func function(t *testing.T, fset *token.FileSet, d *ast.FuncDecl) {
	if d.Body != nil {
		n := fset.Position(d.Body.Rbrace).Line - fset.Position(d.Body.Lbrace).Line - 1
		if n > linesOfFunction {
			t.Errorf("%s: %s has %d lines; %d is the most",
				fset.Position(d.Pos()), d.Name.Name, n, linesOfFunction)
		}
	}
	if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
		t.Errorf("%s: %s has no comment", fset.Position(d.Pos()), d.Name.Name)
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

func declaration(t *testing.T, fset *token.FileSet, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		s, ok := spec.(*ast.TypeSpec)
		if ok && s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
			t.Errorf("%s: type %s has no comment", fset.Position(s.Pos()), s.Name.Name)
		}
	}
}
