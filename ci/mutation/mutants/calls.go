package mutants

import (
	"go/ast"
	"go/types"
	"regexp"
)

// The names by which calls are told apart; what they do is known from their types alone: whether
// they may wait, and whether they can fail.
var (
	waits     = named("wait|majority|barrier|drain|settle|until|catchup|concern")
	refreshes = named("refresh|flush|reload|renew|persist|advance|invalidate|update")
	fences    = named("lock|enter|leave|fence|block|freeze|release|hold|begin|end|register|close|" +
		"cancel|clear|signal|detach|forget")
)

func named(words string) *regexp.Regexp { return regexp.MustCompile("(?i)" + words) }

// ruleOf names the rule by which a call is left out.
func (c *collector) ruleOf(n *ast.CallExpr, mayFail bool) string {
	name := ""
	if f := c.callee(n); f != nil {
		name = f.Name()
	}
	switch {
	case c.mayWait(n) && waits.MatchString(name):
		return "wait"
	case c.mayWait(n) && refreshes.MatchString(name):
		return "refresh"
	case mayFail && c.mayWait(n):
		return "step"
	case mayFail || fences.MatchString(name):
		return "fence"
	}
	return "call"
}

// called skips a call that gives an error and nothing else, takes the other of min and max, and all
// for any.
func (c *collector) called(n *ast.CallExpr) {
	if fun := c.info.Types[n.Fun]; fun.IsType() {
		return
	} else if fun.IsBuiltin() {
		c.older(n)
		return
	}
	f := c.callee(n)
	if isError(c.info.TypeOf(n)) && !c.makesError(n) && !readsError(f) {
		rule := c.ruleOf(n, true)
		c.add(rule, n, "nil // skipped", c.around(n, call("Skip")+"func() error { return ", " })"))
	}
	if f != nil && f.FullName() == "slices.ContainsFunc" && len(n.Args) == 2 {
		all := alias + ".All(" + c.text(n.Args[0]) + ", " + c.text(n.Args[1]) + ")"
		c.add("any-all", n, "all, not any", c.around(n, call("Pick")+all+", ", ")"))
	}
}

// readsError says whether a call only reads an error that is there: to skip it is to ignore the
// error.
func readsError(f *types.Func) bool {
	if f == nil {
		return false
	}
	return f.Name() == "Err" || f.Name() == "Unwrap" || f.Pkg() != nil && f.Pkg().Path() == "errors"
}

// older takes the other of min and max.
func (c *collector) older(n *ast.CallExpr) {
	id, ok := n.Fun.(*ast.Ident)
	if !ok || len(n.Args) != 2 || id.Name != "min" && id.Name != "max" {
		return
	}
	other := map[string]string{"min": "max", "max": "min"}[id.Name]
	alternative := other + "(" + c.text(n.Args[0]) + ", " + c.text(n.Args[1]) + ")"
	c.add("older", n, alternative, c.around(n, call("Pick")+alternative+", ", ")"))
}

// leaveOut leaves out a statement that is a call.
func (c *collector) leaveOut(s ast.Stmt, n *ast.CallExpr) {
	if c.reports(n) || isError(c.info.TypeOf(n)) {
		return
	}
	c.add(c.ruleOf(n, false), s, "// left out", c.unless(s))
}

// unless is the edit by which a statement is taken only when the mutant is not on.
func (c *collector) unless(s ast.Stmt) edit {
	return c.aroundStatement(s, "if !"+on("On")+" { ", " }")
}
