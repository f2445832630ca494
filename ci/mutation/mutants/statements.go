package mutants

import (
	"go/ast"
	"go/token"
	"go/types"
)

// statements mutates the statements of a list, alone and by neighbours.
func (c *collector) statements(list []ast.Stmt) {
	for i, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if n, ok := s.X.(*ast.CallExpr); ok {
				c.leaveOut(s, n)
			}
		case *ast.DeferStmt:
			c.leaveOut(s, s.Call)
		case *ast.AssignStmt:
			c.assigned(s)
		case *ast.IncDecStmt:
			c.add("assign", s, "// left out", c.unless(s))
		}
		if i > 0 {
			c.exchange(list[i-1], s)
		}
	}
}

// assigned leaves out an assignment to what exists.
func (c *collector) assigned(s *ast.AssignStmt) {
	if s.Tok == token.DEFINE {
		return
	}
	for _, to := range s.Lhs {
		if id, ok := to.(*ast.Ident); ok && id.Name == "_" || isError(c.info.TypeOf(to)) {
			return
		}
	}
	if len(s.Rhs) == 1 {
		if n, ok := s.Rhs[0].(*ast.CallExpr); ok && c.reports(n) {
			return
		}
	}
	c.add("assign", s, "// left out", c.unless(s))
}

// exchange has the second of two statements taken before the first, where that can matter: one of
// them may wait, or both call something.
func (c *collector) exchange(first, second ast.Stmt) {
	if !c.movable(first) || !c.movable(second) {
		return
	}
	if !c.mayWait(first) && !c.mayWait(second) && !(c.callsAny(first) && c.callsAny(second)) {
		return
	}
	text := c.text(second)
	m := c.add("exchange", first, text+"; "+c.text(first),
		c.before(first, text), c.aroundStatement(second, "if !"+on("Is")+" { ", " }"))
	m.Was = short(c.text(first) + "; " + text)
}

// movable says whether a statement can be taken earlier or later: it declares nothing, always goes
// on or fails, and does not only report.
func (c *collector) movable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		n, ok := s.X.(*ast.CallExpr)
		return ok && !c.reports(n)
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	case *ast.IncDecStmt:
		return true
	case *ast.IfStmt:
		return s.Else == nil && !c.onlyReports(s) && !labelled(s)
	}
	return false
}

// onlyReports says whether an if announces something and looks at nothing but the error of that.
func (c *collector) onlyReports(s *ast.IfStmt) bool {
	a, ok := s.Init.(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 {
		return false
	}
	n, ok := a.Rhs[0].(*ast.CallExpr)
	return ok && c.reports(n)
}

func labelled(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if _, ok := n.(*ast.LabeledStmt); ok {
			found = true
		}
		return true
	})
	return found
}

// body has a function without results, or with an error as its only one, return before each of its
// statements but the first. Before the first it would be the call that is left out, and before the
// last one the statement.
func (c *collector) body(b *ast.BlockStmt) {
	back := "return"
	switch {
	case c.results.Len() == 1 && isError(c.results.At(0).Type()):
		back = "return nil"
	case c.results.Len() > 0:
		return
	}
	for i := 1; i < len(b.List); i++ {
		if c.trivial(b.List[i:]) {
			return
		}
		s := b.List[i]
		m := c.add("return", s, back, c.before(s, back))
		m.Was = short(c.text(s))
		m.Becomes = back + " // before it"
	}
}

// trivial says whether the rest of a body is one statement that is left out by other rules, or a
// plain return.
func (c *collector) trivial(rest []ast.Stmt) bool {
	for len(rest) > 1 && c.onlyTells(rest[:1]) {
		rest = rest[1:]
	}
	if len(rest) > 1 {
		return false
	}
	switch rest[0].(type) {
	case *ast.ReturnStmt, *ast.ExprStmt, *ast.AssignStmt, *ast.IncDecStmt:
		return true
	}
	return false
}

// counted has a loop with a counter end one early.
func (c *collector) counted(n *ast.ForStmt) {
	b, ok := n.Cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.LSS || !isInteger(c.info.TypeOf(b.X)) || c.callsAny(b.X) {
		return
	}
	becomes := "(" + c.text(b.X) + ")+1 < " + c.text(b.Y)
	c.add("loop", n.Cond, becomes, c.either(b, becomes))
}

// ranged has a loop over something end one early.
func (c *collector) ranged(n *ast.RangeStmt) {
	if c.constant(n.X) {
		return
	}
	form := ""
	switch t := under(c.info.TypeOf(n.X)).(type) {
	case *types.Slice:
		form = "Short"
	case *types.Basic:
		if t.Info()&types.IsInteger != 0 {
			form = "Fewer"
		}
	case *types.Signature:
		yield, ok := under(t.Params().At(0).Type()).(*types.Signature)
		if ok {
			form = map[int]string{1: "ShortSeq", 2: "ShortSeq2"}[yield.Params().Len()]
		}
	}
	if form != "" {
		c.add("loop", n.X, "all but the last of "+c.text(n.X), c.around(n.X, call(form), ")"))
	}
}

// control exchanges the continues and breaks of a loop, without those of loops and switches inside
// it.
func (c *collector) control(body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit,
			*ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			return false
		case *ast.BranchStmt:
			other := map[token.Token]string{token.CONTINUE: "break", token.BREAK: "continue"}[n.Tok]
			if n.Label == nil && other != "" {
				c.add("loop-control", n, other, c.before(n, other))
			}
		}
		return true
	})
}
