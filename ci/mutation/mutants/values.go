package mutants

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"path"
)

// literal leaves fields of a struct unset, and exchanges and drops the steps of a list.
func (c *collector) literal(n *ast.CompositeLit) {
	switch under(c.info.TypeOf(n)).(type) {
	case *types.Struct:
		if !c.isReport(c.info.TypeOf(n)) {
			c.fields(n)
		}
	case *types.Slice:
		if c.isStep(under(c.info.TypeOf(n)).(*types.Slice).Elem()) {
			c.list(n.Elts, edit{from: c.offset(n.Pos()), to: c.offset(n.End())})
		}
	}
}

func (c *collector) fields(n *ast.CompositeLit) {
	for _, e := range n.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		name, ok := kv.Key.(*ast.Ident)
		if !ok || c.isZero(kv.Value) {
			continue
		}
		field := c.info.ObjectOf(name)
		if _, isFunc := under(field.Type()).(*types.Signature); isFunc {
			continue
		}
		if c.explicit(kv.Value, field.Type()) {
			text, imports, ok := c.spelled(field.Type())
			if ok {
				pre := fmt.Sprintf("%s.Zero[%s](%s, ", alias, text, number)
				m := c.add("field", kv, "// "+name.Name+" is not set", c.around(kv.Value, pre, ")"))
				m.imports = imports
			}
			continue
		}
		c.add("field", kv, "// "+name.Name+" is not set", c.around(kv.Value, call("Zero"), ")"))
	}
}

// explicit says whether the field's type must be written, because it does not follow from the
// value.
func (c *collector) explicit(v ast.Expr, field types.Type) bool {
	tv := c.info.Types[v]
	return tv.Value != nil || tv.IsNil() || !types.Identical(tv.Type, field)
}

// isZero says whether an expression is plainly the zero value.
func (c *collector) isZero(e ast.Expr) bool {
	tv := c.info.Types[e]
	if tv.IsNil() {
		return true
	}
	if tv.Value == nil {
		lit, ok := e.(*ast.CompositeLit)
		return ok && len(lit.Elts) == 0
	}
	switch tv.Value.Kind() {
	case constant.Bool:
		return !constant.BoolVal(tv.Value)
	case constant.String:
		return constant.StringVal(tv.Value) == ""
	}
	return constant.Sign(tv.Value) == 0
}

// spelled writes a type as the file may, with the imports that it needs, unless the type cannot be
// named here.
func (c *collector) spelled(t types.Type) (text string, imports map[string]string, ok bool) {
	imports, ok = map[string]string{}, true
	text = types.TypeString(t, func(p *types.Package) string {
		if p == c.pkg {
			return ""
		}
		name := "mutation_" + path.Base(p.Path()) + "__"
		imports[name] = p.Path()
		return name
	})
	return text, imports, ok && nameable(t, c.pkg)
}

// nameable says whether the parts of a type are exported or the package's own.
func nameable(t types.Type, in *types.Package) bool {
	switch t := t.(type) {
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			if !nameable(arg, in) {
				return false
			}
		}
		return isVisible(t.Obj(), in)
	case *types.Alias:
		return nameable(t.Rhs(), in) && isVisible(t.Obj(), in)
	case *types.Pointer:
		return nameable(t.Elem(), in)
	case *types.Slice:
		return nameable(t.Elem(), in)
	case *types.Map:
		return nameable(t.Key(), in) && nameable(t.Elem(), in)
	case *types.Basic:
		return true
	case *types.Interface:
		return t.Empty()
	}
	return false
}

func isVisible(o types.Object, in *types.Package) bool {
	return o.Pkg() == nil || o.Pkg() == in || o.Exported()
}

// steps exchanges and drops the last arguments of a call that takes any number of steps.
func (c *collector) steps(n *ast.CallExpr) {
	signature, ok := under(c.info.TypeOf(n.Fun)).(*types.Signature)
	if !ok || !signature.Variadic() || n.Ellipsis.IsValid() {
		return
	}
	fixed := signature.Params().Len() - 1
	slice, ok := signature.Params().At(fixed).Type().(*types.Slice)
	if !ok || len(n.Args)-fixed < 2 || !c.isStep(slice.Elem()) {
		return
	}
	element, imports, ok := c.spelled(slice.Elem())
	if !ok {
		return
	}
	args := n.Args[fixed:]
	whole := edit{from: c.offset(args[0].Pos()), to: c.offset(args[len(args)-1].End())}
	inner, outer := whole, whole
	inner.pre, inner.post, inner.shared = "[]"+element+"{", "}", true
	outer.post, outer.rank, outer.shared = "...", statementRank, true
	from := len(c.all)
	c.list(args, whole, inner, outer)
	for _, m := range c.all[from:] {
		m.imports = imports
	}
}

// isStep says whether values of the type are parts of a protocol: functions that may wait, alone or
// with a name.
func (c *collector) isStep(t types.Type) bool {
	switch t := under(t).(type) {
	case *types.Signature:
		return t.Params().Len() > 0 && isTask(t.Params().At(0).Type())
	case *types.Struct:
		for f := range t.Fields() {
			if c.isStep(f.Type()) {
				return true
			}
		}
	}
	return false
}

// list exchanges neighbours of a list of steps and drops single ones. Steps that do nothing are
// only announced. Whole is where the list is, shared what every mutant of it needs once.
func (c *collector) list(steps []ast.Expr, whole edit, shared ...edit) {
	ask := func(form string, i int) []edit {
		c.ranks++
		e := whole
		e.pre, e.post, e.rank = fmt.Sprintf("%s%d, ", call(form), i), ")", c.ranks
		return append([]edit{e}, shared...)
	}
	for i, s := range steps {
		if doesNothing(s) {
			continue
		}
		c.add("drop-step", s, "// dropped", ask("Drop", i)...)
		if i+1 < len(steps) && !doesNothing(steps[i+1]) {
			m := c.add("swap-steps", s, c.text(steps[i+1])+", "+c.text(s), ask("Swap", i)...)
			m.Was = short(c.text(s) + ", " + c.text(steps[i+1]))
		}
	}
}

// doesNothing says whether a step has a function that only succeeds.
func doesNothing(e ast.Expr) (nothing bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		f, ok := n.(*ast.FuncLit)
		if !ok {
			return true
		}
		if len(f.Body.List) == 1 {
			r, ok := f.Body.List[0].(*ast.ReturnStmt)
			nothing = ok && len(r.Results) == 1 && isNil(r.Results[0])
		}
		return false
	})
	return nothing
}

func isNil(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "nil"
}
