// Package determinism is the analyzer that keeps chance out of simulated code: the same seed must
// give the same trace, in another process, with other settings of the runtime and on another
// machine.
//
// Promise: it reports go statements, select, channels, ranging over a map, the process's clock and
// timers, recover, arithmetic on floats, printing of pointers, and imports through which chance or
// the machine enter.
//
// Refusal: it does not judge taste, and cannot see what a library does inside; the tests that
// compare hashes across processes are there for that.
//
// A line that breaks a rule for a good reason says so above it or at its end:
//
//	//shardproof:allow <rule> <reason>
package determinism

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Analyzer reports every place at which simulated code could behave differently in another process.
var Analyzer = &analysis.Analyzer{
	Name:     "determinism",
	Doc:      "report sources of nondeterminism in simulated code",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

var bannedImports = map[string]string{
	"math/rand":    "draw through Task.Choose or a keyed source",
	"math/rand/v2": "draw through Task.Choose or a keyed source",
	"crypto/rand":  "draw through Task.Choose or a keyed source",
	"hash/maphash": "its seed differs in every process; use a hash of our own or hash/fnv",
	"sync":         "tasks of a node never run at once; use env.Cond",
	"sync/atomic":  "tasks of a node never run at once",
	"os":           "the machine is out of reach of simulated code; use env.Disk",
	"net":          "use Task.Call and Node.Send",
	"unsafe":       "addresses differ in every process",
	"runtime":      "the runtime's state differs in every process",
	"encoding/gob": "gob writes maps in random order",
	"context":      "deadlines of a context run on the machine's clock; use env.Scope",
}

var bannedCalls = map[string]string{
	"time.Now":       "use Node.Now",
	"time.Since":     "use Node.Mono",
	"time.Until":     "use Node.Mono",
	"time.Sleep":     "use Task.Sleep",
	"time.After":     "use Node.After",
	"time.AfterFunc": "use Node.After",
	"time.Tick":      "use Node.After",
	"time.NewTimer":  "use Node.After",
	"time.NewTicker": "use Node.After",
	"maps.Keys":      "sort the keys first: slices.Sorted(maps.Keys(m))",
	"maps.Values":    "the order is random; collect and sort keys",
	"maps.All":       "the order is random; collect and sort keys",
}

func run(pass *analysis.Pass) (any, error) {
	c := &check{pass: pass, allowed: allowances(pass)}
	for _, f := range pass.Files {
		c.imports(f)
	}
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.WithStack(nil, func(n ast.Node, push bool, stack []ast.Node) bool {
		if push {
			c.node(n, stack)
		}
		return true
	})
	return nil, nil
}

type check struct {
	pass    *analysis.Pass
	allowed map[string]bool
}

// report speaks unless the line is allowed to break the rule.
func (c *check) report(pos token.Pos, rule, format string, args ...any) {
	p := c.pass.Fset.Position(pos)
	if strings.HasSuffix(p.Filename, "_test.go") || c.allowed[key(p.Filename, p.Line, rule)] {
		return
	}
	c.pass.Reportf(pos, rule+": "+format, args...)
}

func (c *check) imports(f *ast.File) {
	for _, spec := range f.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		if why, bad := bannedImports[path]; bad {
			c.report(spec.Pos(), "import", "%s in simulated code: %s", path, why)
		}
	}
}

func (c *check) node(n ast.Node, stack []ast.Node) {
	switch n := n.(type) {
	case *ast.GoStmt:
		c.report(n.Pos(), "go", "a goroutine runs whenever the scheduler likes; use Spawn")
	case *ast.SelectStmt:
		c.report(n.Pos(), "select", "select picks at random; wait on one env.Cond")
	case *ast.SendStmt:
		c.report(n.Pos(), "channel", "a channel blocks the world's only thread; use env.Cond")
	case *ast.ChanType:
		c.report(n.Pos(), "channel", "a channel blocks the world's only thread; use env.Cond")
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			c.report(n.Pos(), "channel", "a channel blocks the world's only thread; use env.Cond")
		}
	case *ast.RangeStmt:
		c.mapRange(n)
	case *ast.BinaryExpr:
		c.float(n)
	case *ast.CallExpr:
		c.call(n, stack)
	}
}

func (c *check) mapRange(n *ast.RangeStmt) {
	t := c.pass.TypesInfo.TypeOf(n.X)
	if t == nil {
		return
	}
	if _, isMap := t.Underlying().(*types.Map); isMap && !collectsOnly(n) {
		c.report(n.Pos(), "map",
			"the order of a map differs in every run; collect the keys and sort them")
	}
}

// collectsOnly accepts a body whose effect does not depend on the order as long as the result is
// then sorted: one append, or one delete, or setting entries of another map by the same key.
func collectsOnly(n *ast.RangeStmt) bool {
	if len(n.Body.List) != 1 {
		return false
	}
	switch s := n.Body.List[0].(type) {
	case *ast.AssignStmt:
		call, ok := s.Rhs[0].(*ast.CallExpr)
		return ok && named(call.Fun, "append") || setsByKey(n, s)
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		return ok && named(call.Fun, "delete")
	}
	return false
}

// setsByKey accepts m[k] = v for the key of the range: each entry is set once, whatever the order.
func setsByKey(n *ast.RangeStmt, s *ast.AssignStmt) bool {
	index, ok := s.Lhs[0].(*ast.IndexExpr)
	id, isIdent := n.Key.(*ast.Ident)
	return ok && isIdent && s.Tok == token.ASSIGN && named(index.Index, id.Name)
}

func named(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

func (c *check) float(n *ast.BinaryExpr) {
	switch n.Op {
	case token.ADD, token.SUB, token.MUL, token.QUO:
	default:
		return
	}
	b, ok := c.pass.TypesInfo.TypeOf(n).Underlying().(*types.Basic)
	if ok && b.Info()&types.IsFloat != 0 && c.pass.TypesInfo.Types[n].Value == nil {
		c.report(n.Pos(), "float", "x*y+z differs between processors; use integers")
	}
}

func (c *check) call(n *ast.CallExpr, stack []ast.Node) {
	if named(n.Fun, "recover") {
		if _, builtin := c.pass.TypesInfo.Uses[n.Fun.(*ast.Ident)].(*types.Builtin); builtin {
			c.report(n.Pos(), "recover",
				"recover can swallow the end of a task; leave it to the world")
		}
	}
	c.pointerVerb(n)
	sel, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	fn, ok := c.pass.TypesInfo.Uses[sel.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Signature().Recv() != nil {
		return
	}
	name := fn.Pkg().Name() + "." + fn.Name()
	why, bad := bannedCalls[name]
	if bad && !(strings.HasPrefix(name, "maps.") && sortedAround(stack)) {
		c.report(n.Pos(), "call", "%s in simulated code: %s", name, why)
	}
}

// sortedAround says whether the call is an argument of slices.Sorted or one of its kin.
func sortedAround(stack []ast.Node) bool {
	if len(stack) < 2 {
		return false
	}
	outer, ok := stack[len(stack)-2].(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := outer.Fun.(*ast.SelectorExpr)
	return ok && named(sel.X, "slices") && strings.HasPrefix(sel.Sel.Name, "Sorted")
}

func (c *check) pointerVerb(n *ast.CallExpr) {
	for _, a := range n.Args {
		lit, ok := a.(*ast.BasicLit)
		if ok && lit.Kind == token.STRING && strings.Contains(lit.Value, "%p") {
			c.report(lit.Pos(), "pointer", "an address differs in every process")
		}
	}
}

const marker = "//shardproof:allow "

// allowances collects the lines that may break a rule: the line of the comment and the one after
// it.
func allowances(pass *analysis.Pass) map[string]bool {
	found := map[string]bool{}
	for _, f := range pass.Files {
		for _, group := range f.Comments {
			for _, comment := range group.List {
				allow(pass, comment, found)
			}
		}
	}
	return found
}

func allow(pass *analysis.Pass, comment *ast.Comment, found map[string]bool) {
	text, ok := strings.CutPrefix(comment.Text, marker)
	if !ok {
		return
	}
	rule, reason, _ := strings.Cut(text, " ")
	if strings.TrimSpace(reason) == "" {
		pass.Reportf(comment.Pos(), "allow: say after the rule why %q may be broken here", rule)
		return
	}
	p := pass.Fset.Position(comment.Pos())
	found[key(p.Filename, p.Line, rule)] = true
	found[key(p.Filename, p.Line+1, rule)] = true
}

func key(file string, line int, rule string) string {
	return fmt.Sprintf("%s:%d:%s", file, line, rule)
}
