package mutants

import (
	"go/ast"
	"go/token"
	"go/types"
)

// reporters are the functions of the package that do nothing but tell others what happened: emit,
// announce, check.
func (c *collector) reporters(files []*ast.File) map[*types.Func]bool {
	all := map[*types.Func]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil && c.onlyTells(d.Body.List) {
				if of, ok := c.info.Defs[d.Name].(*types.Func); ok {
					all[of] = true
				}
			}
		}
	}
	return all
}

// onlyTells says whether statements only report: they call nothing else, and set nothing but what
// they declare.
func (c *collector) onlyTells(list []ast.Stmt) bool {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if n, ok := s.X.(*ast.CallExpr); !ok || !c.reports(n) {
				return false
			}
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE || c.callsAny(s) {
				return false
			}
		case *ast.IfStmt:
			if s.Else != nil || c.mayWait(s.Cond) || !c.onlyTells(s.Body.List) {
				return false
			}
		case *ast.RangeStmt:
			if !c.onlyTells(s.Body.List) {
				return false
			}
		default:
			return false
		}
	}
	return len(list) > 0
}
