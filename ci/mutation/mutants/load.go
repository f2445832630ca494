package mutants

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/packages"
)

// Scope says what is mutated.
type Scope struct {
	// Root is the project's top folder, an absolute path.
	Root string
	// Patterns are the packages, as the go command takes them.
	Patterns []string
	// Leave holds what is left alone, each with the reason: packages, by path below Root, those
	// below a path that ends in /..., and the base names of files.
	Leave map[string]string
}

// File is a source file with its mutants.
type File struct {
	// Path is absolute; Name is below the scope's root.
	Path, Name string
	Source     []byte
	Mutants    []*Mutant
	// head is where the package clause ends.
	head int
}

// Set is all mutants of a scope.
type Set struct {
	Files   []*File
	Mutants []*Mutant
	// Dropped is how many were made that do not compile.
	Dropped int
	scope   Scope
}

const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles |
	packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports

// Make makes every mutant that the rules know and that compiles.
func Make(s Scope) (*Set, error) {
	loaded, err := packages.Load(&packages.Config{Mode: loadMode, Dir: s.Root}, s.Patterns...)
	if err != nil {
		return nil, err
	}
	set := &Set{scope: s}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s does not compile as it is: %w", p.PkgPath, p.Errors[0])
		}
		if err := set.addPackage(p); err != nil {
			return nil, err
		}
	}
	set.number()
	if len(set.Mutants) == 0 {
		return nil, fmt.Errorf("no mutants can be made of %v", s.Patterns)
	}
	return set, set.dropBroken()
}

func (set *Set) addPackage(p *packages.Package) error {
	telling := (&collector{info: p.TypesInfo}).reporters(p.Syntax)
	for i, syntax := range p.Syntax {
		path := p.CompiledGoFiles[i]
		name, err := filepath.Rel(set.scope.Root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if set.left(name) {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f := &File{Path: path, Name: name, Source: source}
		f.Mutants = collect(p, syntax, f, telling)
		set.Files = append(set.Files, f)
	}
	return nil
}

// left says whether a file is left alone.
func (set *Set) left(name string) bool {
	dir, base := filepath.ToSlash(filepath.Dir(name)), filepath.Base(name)
	for path := dir; path != "."; path = filepath.ToSlash(filepath.Dir(path)) {
		if _, below := set.scope.Leave[path+"/..."]; below {
			return true
		}
	}
	_, pkg := set.scope.Leave[dir]
	_, file := set.scope.Leave[base]
	return pkg || file
}

// number gathers the mutants of all files and numbers them.
func (set *Set) number() {
	set.Mutants = nil
	slices.SortFunc(set.Files, func(a, b *File) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range set.Files {
		set.Mutants = append(set.Mutants, sorted(f.Mutants)...)
	}
	for i, m := range set.Mutants {
		m.Number = i
	}
}

// Copies are the changed copies of the files, by absolute path.
func (set *Set) Copies() map[string][]byte {
	all := make(map[string][]byte)
	for _, f := range set.Files {
		if len(f.Mutants) > 0 {
			all[f.Path] = f.copied()
		}
	}
	return all
}

// rounds is how often what does not compile is dropped before something is wrong with the rules.
const rounds = 12

// dropBroken type-checks the copies and drops the mutants that do not compile, until all do.
// Ordinals are given before, so that identities do not depend on it.
func (set *Set) dropBroken() error {
	for range rounds {
		broken, err := set.broken()
		if err != nil || len(broken) == 0 {
			return err
		}
		set.Dropped += len(broken)
		isBroken := func(m *Mutant) bool { return broken[m.Number] }
		for _, f := range set.Files {
			f.Mutants = slices.DeleteFunc(f.Mutants, isBroken)
		}
		set.Mutants = slices.DeleteFunc(set.Mutants, isBroken)
	}
	return fmt.Errorf("after %d rounds the copies still do not compile", rounds)
}

// broken are the numbers of mutants that do not compile.
func (set *Set) broken() (map[int]bool, error) {
	config := &packages.Config{Mode: loadMode, Dir: set.scope.Root, Overlay: set.Copies()}
	loaded, err := packages.Load(config, set.scope.Patterns...)
	if err != nil {
		return nil, err
	}
	numbers := map[int]bool{}
	for _, p := range loaded {
		for _, e := range p.TypeErrors {
			file := fileOf(p, e.Pos)
			if file == nil {
				return nil, fmt.Errorf("%s: %s", p.PkgPath, e.Msg)
			}
			found := blamed(file, e.Pos)
			if len(found) == 0 {
				return nil, fmt.Errorf("%s does not compile, and no mutant is to blame: %s",
					p.Fset.Position(e.Pos), e.Msg)
			}
			for _, n := range found {
				numbers[n] = true
			}
		}
		if len(numbers) == 0 && len(p.Errors) > 0 {
			return nil, fmt.Errorf("the copies of %s do not parse: %w", p.PkgPath, p.Errors[0])
		}
	}
	return numbers, nil
}

// fileOf is the file of the package in which a place is.
func fileOf(p *packages.Package, at token.Pos) *ast.File {
	for _, f := range p.Syntax {
		if f.FileStart <= at && at <= f.FileEnd {
			return f
		}
	}
	return nil
}

// blamed are the numbers of the mutants in the smallest piece of code around a place that has any.
func blamed(file *ast.File, at token.Pos) []int {
	path, _ := astutil.PathEnclosingInterval(file, at, at)
	for _, n := range path {
		if found := questions(n); len(found) > 0 {
			return found
		}
	}
	return nil
}

// questions are the numbers of the mutants that a piece of code asks package active for.
func questions(n ast.Node) (all []int) {
	ast.Inspect(n, func(n ast.Node) bool {
		asked, ok := n.(*ast.CallExpr)
		if !ok || len(asked.Args) == 0 {
			return true
		}
		of, ok := asked.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		name, isName := of.X.(*ast.Ident)
		literal, isLiteral := asked.Args[0].(*ast.BasicLit)
		if isName && isLiteral && name.Name == alias {
			if number, err := strconv.Atoi(literal.Value); err == nil {
				all = append(all, number)
			}
		}
		return true
	})
	return all
}
