package mutants

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/types/typeutil"
)

// collector goes through one file and makes its mutants.
type collector struct {
	file    *File
	pkg     *types.Package
	info    *types.Info
	fset    *token.FileSet
	lines   []string
	name    string // of the declaration that it is in
	results *types.Tuple
	ranks   int
	all     []*Mutant
	// telling are the package's own functions that only report.
	telling map[*types.Func]bool
}

// statementRank lets what is around a statement be outside what is around an expression of the same
// span.
const statementRank = 1 << 20

// collect makes the mutants of one file. Telling are the package's functions that only report.
func collect(
	p *packages.Package, syntax *ast.File, f *File, telling map[*types.Func]bool,
) []*Mutant {
	c := &collector{
		telling: telling,
		file:    f, pkg: p.Types, info: p.TypesInfo, fset: p.Fset,
		lines: strings.Split(string(f.Source), "\n"),
	}
	f.head = c.offset(syntax.Name.End())
	for _, d := range syntax.Decls {
		c.declaration(d)
	}
	return c.all
}

func (c *collector) declaration(d ast.Decl) {
	c.name, c.results = functionName(d), nil
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Body != nil && !spells(d.Name.Name) && !c.tells(d) {
			c.function(d.Body, c.info.Defs[d.Name].Type().(*types.Signature))
		}
	case *ast.GenDecl:
		if d.Tok == token.VAR {
			c.walk(d)
		}
	}
}

func (c *collector) tells(d *ast.FuncDecl) bool {
	f, ok := c.info.Defs[d.Name].(*types.Func)
	return ok && c.telling[f]
}

// spells says whether a function only makes text.
func spells(name string) bool { return name == "String" || name == "GoString" || name == "Error" }

// function visits the body of a function or function literal.
func (c *collector) function(body *ast.BlockStmt, signature *types.Signature) {
	outer := c.results
	c.results = signature.Results()
	c.body(body)
	c.walk(body)
	c.results = outer
}

// walk visits everything below a node; functions inside have results of their own.
func (c *collector) walk(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			c.function(n.Body, c.info.TypeOf(n).(*types.Signature))
			return false
		case *ast.CallExpr:
			if c.reports(n) {
				return false
			}
		case *ast.CompositeLit:
			if c.isReport(c.info.TypeOf(n)) {
				return false
			}
		}
		if e, ok := n.(ast.Expr); ok && c.constant(e) {
			return false
		}
		c.visit(n)
		return true
	})
}

// visit applies the rules to one node.
func (c *collector) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.BlockStmt:
		c.statements(n.List)
	case *ast.CaseClause:
		c.statements(n.Body)
		c.cases(n)
	case *ast.IfStmt:
		c.branch(n)
	case *ast.ForStmt:
		c.counted(n)
		c.control(n.Body)
	case *ast.RangeStmt:
		c.ranged(n)
		c.control(n.Body)
	case *ast.ReturnStmt:
		c.returned(n)
	case *ast.BinaryExpr:
		c.binary(n)
	case *ast.CallExpr:
		c.called(n)
		c.steps(n)
	case *ast.CompositeLit:
		c.literal(n)
	}
}

// add makes a mutant at a node.
func (c *collector) add(rule string, n ast.Node, becomes string, edits ...edit) *Mutant {
	p := c.fset.Position(n.Pos())
	m := &Mutant{
		File: c.file.Name, Func: c.name, Rule: rule, Package: path.Dir(c.file.Name), Line: p.Line,
		Source: strings.TrimSpace(c.lines[p.Line-1]), Was: short(c.text(n)),
		Becomes: short(becomes), at: n.Pos(), edits: edits,
	}
	c.all = append(c.all, m)
	return m
}

// around is an edit around an expression.
func (c *collector) around(n ast.Node, pre, post string) edit {
	c.ranks++
	return edit{from: c.offset(n.Pos()), to: c.offset(n.End()), pre: pre, post: post, rank: c.ranks}
}

// aroundStatement is an edit around a statement, outside of all that is around its expressions.
func (c *collector) aroundStatement(n ast.Node, pre, post string) edit {
	e := c.around(n, pre, post)
	e.rank += statementRank
	return e
}

// before is an edit that takes code before a statement when the mutant is on.
func (c *collector) before(n ast.Node, code string) edit {
	return c.aroundStatement(n, "if "+on("On")+" { "+code+" }; ", "")
}

func (c *collector) neverTrue(e ast.Expr) edit { return c.around(e, "(", " && !"+on("On")+")") }

func (c *collector) alwaysTrue(e ast.Expr) edit { return c.around(e, "(", " || "+on("On")+")") }

// either has the alternative evaluated instead of the expression, which is a truth.
func (c *collector) either(e ast.Expr, alternative string) edit {
	return c.around(e, "("+on("On")+" && ("+alternative+") || !"+on("Is")+" && (", "))")
}

func (c *collector) offset(p token.Pos) int { return c.fset.Position(p).Offset }

func (c *collector) text(n ast.Node) string {
	return string(c.file.Source[c.offset(n.Pos()):c.offset(n.End())])
}

func (c *collector) constant(e ast.Expr) bool {
	tv := c.info.Types[e]
	return tv.Value != nil || tv.IsType() || tv.IsNil()
}

// callee is the function that is called, or nil.
func (c *collector) callee(n *ast.CallExpr) *types.Func {
	f, _ := typeutil.Callee(c.info, n).(*types.Func)
	return f
}

// reports says whether a call tells others what happened and changes nothing: announcements,
// assertions, messages.
func (c *collector) reports(n *ast.CallExpr) bool {
	f := c.callee(n)
	if f == nil || f.Pkg() == nil {
		id, ok := n.Fun.(*ast.Ident)
		return ok && id.Name == "panic"
	}
	if c.telling[f] {
		return true
	}
	switch path.Base(f.Pkg().Path()) {
	case "env":
		switch f.Name() {
		case "Emit", "Assert", "Sometimes", "Point", "Yield":
			return true
		}
	case "fmt", "trace":
		return true
	}
	return false
}

// isReport says whether values of the type only tell others what happened.
func (c *collector) isReport(t types.Type) bool {
	pkg, name := typeName(t)
	return path.Base(pkg) == "trace" || path.Base(pkg) == "env" && name == "Note"
}

// typeName is the package and the name of a named type, or of what a pointer points to.
func typeName(t types.Type) (pkg, name string) {
	if t == nil {
		return "", ""
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return "", ""
	}
	return named.Obj().Pkg().Path(), named.Obj().Name()
}

// isTask says whether the type is that of the thread of control that a call may make wait.
func isTask(t types.Type) bool {
	pkg, name := typeName(t)
	return path.Base(pkg) == "env" && name == "Task"
}

func isError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

func isTruth(t types.Type) bool {
	b, ok := under(t).(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

func isInteger(t types.Type) bool {
	b, ok := under(t).(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

func under(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	return t.Underlying()
}

// mayWait says whether a node holds a call that is given a task.
func (c *collector) mayWait(n ast.Node) (waits bool) {
	c.calls(n, func(call *ast.CallExpr) {
		for _, a := range call.Args {
			waits = waits || isTask(c.info.TypeOf(a))
		}
		if s, ok := call.Fun.(*ast.SelectorExpr); ok && isTask(c.info.TypeOf(s.X)) {
			waits = true
		}
	})
	return waits
}

// calls visits the calls of functions in a node, without those in function literals, conversions
// and builtins.
func (c *collector) calls(n ast.Node, do func(*ast.CallExpr)) {
	ast.Inspect(n, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok {
			if fun := c.info.Types[call.Fun]; !fun.IsType() && !fun.IsBuiltin() {
				do(call)
			}
		}
		return true
	})
}

func (c *collector) callsAny(n ast.Node) (any bool) {
	c.calls(n, func(*ast.CallExpr) { any = true })
	return any
}
