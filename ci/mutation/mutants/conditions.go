package mutants

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
)

// branch mutates an if: its condition, or the error that it looks at.
func (c *collector) branch(n *ast.IfStmt) {
	if c.constant(n.Cond) {
		return
	}
	if op, ok := c.errorCheck(n.Cond); ok {
		if !c.checksCheck(n) {
			c.ignored(n.Cond, op)
		}
		return
	}
	c.negate(n.Cond)
	if leaves(n.Body) && n.Else == nil {
		c.add("guard", n.Cond, "false", c.neverTrue(n.Cond))
		return
	}
	c.add("never", n.Cond, "false", c.neverTrue(n.Cond))
	c.add("always", n.Cond, "true", c.alwaysTrue(n.Cond))
}

// cases mutates the conditions of a switch without a value.
func (c *collector) cases(n *ast.CaseClause) {
	for _, e := range n.List {
		if !isTruth(c.info.TypeOf(e)) || c.constant(e) {
			continue
		}
		if op, ok := c.errorCheck(e); ok {
			c.ignored(e, op)
			continue
		}
		if _, plain := e.(*ast.Ident); plain {
			continue // a switch over a truth looks alike
		}
		c.add("guard", e, "false", c.neverTrue(e))
	}
}

// ignored has a check of an error find none.
func (c *collector) ignored(e ast.Expr, op token.Token) {
	if op == token.NEQ {
		c.add("error", e, "false", c.neverTrue(e))
	} else {
		c.add("error", e, "true", c.alwaysTrue(e))
	}
}

// errorCheck says whether a condition compares an error with nil, and how.
func (c *collector) errorCheck(e ast.Expr) (token.Token, bool) {
	b, ok := e.(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ && b.Op != token.EQL {
		return 0, false
	}
	return b.Op, isError(c.info.TypeOf(b.X)) && c.info.Types[b.Y].IsNil()
}

// checksCheck says whether an if looks at the error of its own first part, which is an announcement
// or a call that cannot wait: to ignore that error is to leave out the call, which is a mutant
// already.
func (c *collector) checksCheck(n *ast.IfStmt) bool {
	a, ok := n.Init.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return false
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	return ok && (c.reports(call) || !c.mayWait(call))
}

func (c *collector) negate(e ast.Expr) {
	c.add("negate", e, "!("+c.text(e)+")", c.around(e, call("Not"), ")"))
}

// leaves says whether a block ends by leaving.
func leaves(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch s := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := call.Fun.(*ast.Ident)
		return ok && id.Name == "panic"
	}
	return false
}

// binary mutates an operation with two operands.
func (c *collector) binary(n *ast.BinaryExpr) {
	switch n.Op {
	case token.LAND, token.LOR:
		c.logical(n)
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		c.ordering(n)
	case token.ADD, token.SUB:
		c.sum(n)
	}
}

// logical leaves out an operand, or exchanges the operator. What protects the other operand from
// nil stays.
func (c *collector) logical(n *ast.BinaryExpr) {
	leaveOut, other := c.alwaysTrue, token.LOR
	if n.Op == token.LOR {
		leaveOut, other = c.neverTrue, token.LAND
	}
	protects := comparesNil(n.X)
	for i, e := range []ast.Expr{n.X, n.Y} {
		if c.constant(e) || i == 0 && protects {
			continue
		}
		c.add("operand", e, fmt.Sprint(n.Op == token.LAND), leaveOut(e))
	}
	if !protects {
		alternative := fmt.Sprintf("(%s) %s (%s)", c.text(n.X), other, c.text(n.Y))
		c.add("any-all", n, alternative, c.either(n, alternative))
	}
}

// comparesNil says whether an operand is, or ends with, a comparison with nil.
func comparesNil(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	if !ok {
		return false
	}
	if b.Op == token.LAND || b.Op == token.LOR {
		return comparesNil(b.X) || comparesNil(b.Y)
	}
	id, ok := b.Y.(*ast.Ident)
	return ok && id.Name == "nil"
}

// shifted and turned are what becomes of a comparison when its bound is shifted, and when its
// operands are exchanged.
var (
	shifted = map[token.Token]token.Token{
		token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	}
	turned = map[token.Token]token.Token{
		token.LSS: token.GTR, token.LEQ: token.GEQ, token.GTR: token.LSS, token.GEQ: token.LEQ,
	}
)

func (c *collector) ordering(n *ast.BinaryExpr) {
	for _, r := range []struct {
		rule string
		op   token.Token
	}{{"boundary", shifted[n.Op]}, {"swap-operands", turned[n.Op]}} {
		becomes := fmt.Sprintf("%s %s %s", c.text(n.X), r.op, c.text(n.Y))
		c.add(r.rule, n, becomes, c.either(n, becomes))
	}
}

// sum leaves out one more or one less, or turns plus and minus. Operands that call something would
// do so twice.
func (c *collector) sum(n *ast.BinaryExpr) {
	if c.callsAny(n) || !isInteger(c.info.TypeOf(n)) {
		return
	}
	pick := func(rule, becomes string) {
		c.add(rule, n, becomes, c.around(n, call("Pick")+becomes+", ", ")"))
	}
	if one, ok := n.Y.(*ast.BasicLit); ok && one.Value == "1" {
		pick("shift", c.text(n.X))
		return
	}
	op := map[token.Token]token.Token{token.ADD: token.SUB, token.SUB: token.ADD}[n.Op]
	pick("arithmetic", fmt.Sprintf("%s %s (%s)", c.text(n.X), op, c.text(n.Y)))
}

// returned negates a truth that a function returns, and turns a refusal into a success.
func (c *collector) returned(n *ast.ReturnStmt) {
	if len(n.Results) != 1 {
		return
	}
	e := n.Results[0]
	t := c.info.TypeOf(e)
	if isTruth(t) && c.results.Len() == 1 {
		if b, ok := e.(*ast.BinaryExpr); !ok || b.Op != token.LAND && b.Op != token.LOR {
			c.negate(e)
		}
	}
	made, ok := e.(*ast.CallExpr)
	if ok && c.makesError(made) && c.results.Len() == 1 && isError(c.results.At(0).Type()) {
		c.add("refusal", e, "nil", c.around(e, call("Skip")+"func() error { return ", " })"))
	}
}

// makesError says whether a call only makes an error.
func (c *collector) makesError(n *ast.CallExpr) bool {
	f := c.callee(n)
	if f == nil || f.Pkg() == nil {
		return false
	}
	_, result := typeName(c.info.TypeOf(n))
	switch base := path.Base(f.Pkg().Path()); base {
	case "errors", "fmt":
		return true
	default:
		return base == "errcode" && (result == "Error" || isError(c.info.TypeOf(n)))
	}
}
