// Package mutants makes small bugs by rules over the syntax tree and its types: a wait skipped, a
// guard never taken, two neighbouring steps exchanged, a field not set. All mutants of a file stand
// in one changed copy of it, each behind a question to package active, so that one build holds all.
//
// The rules of boundaries, negation, logical operators, arithmetic and loop control are those that
// go-gremlins has, too. The tool itself does not serve here: it looks at tokens without types,
// knows nothing of waits, steps and fences, and builds and runs `go test` once for every mutant.
//
// Promise: with no mutant on, the copy behaves as the original; a mutant's identity (file,
// function, rule, ordinal) stays when other functions change. Refusal: it does not touch what only
// reports (events, assertions, notes), what only spells (String, Error, messages), and constants:
// mutants of those are no bugs of the system.
package mutants

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Mutant is one small bug.
type Mutant struct {
	// File is the path below the top folder, Func the function or variable in it, Rule the rule
	// that made it, and Ordinal counts from 1 the mutants of the rule in the function. Together
	// they are its identity.
	File, Func, Rule string
	Ordinal          int
	// Package is the path of the package below the top folder.
	Package string
	// Line is where it is; Source is that line without the blanks around it.
	Line   int
	Source string
	// Was and Becomes are the code before and after, cut short.
	Was, Becomes string
	// Number is what package active knows it by.
	Number int

	at      token.Pos
	edits   []edit
	imports map[string]string
}

// ID is the identity as one word.
func (m *Mutant) ID() string {
	return fmt.Sprintf("%s:%s:%s:%d", m.File, m.Func, m.Rule, m.Ordinal)
}

// Diff is the change as two lines.
func (m *Mutant) Diff() string { return fmt.Sprintf("- %s\n+ %s", m.Was, m.Becomes) }

// Rules names every rule with what it does, in the order of reports.
var Rules = []struct{ Name, About string }{
	{"negate", "a condition, or a truth that is returned, is negated"},
	{"guard", "a condition whose branch leaves (return, continue, break) is never true"},
	{"always", "a condition is always true"},
	{"never", "a condition is never true"},
	{"operand", "one operand of && or || is left out"},
	{"any-all", "&& becomes || or the other way, or an any becomes an all"},
	{"boundary", "a comparison includes its bound, or no longer does"},
	{"swap-operands", "the operands of an ordering are exchanged"},
	{"wait", "a wait, for instance for a majority, is skipped"},
	{"refresh", "a refresh, flush or reload is skipped"},
	{"step", "another call that may wait is skipped"},
	{"fence", "a check, lock, fence or its release is left out"},
	{"call", "another call without a result is left out"},
	{"error", "an error is ignored"},
	{"refusal", "a refusal becomes a success"},
	{"return", "a function returns early, as if it had done everything"},
	{"swap-steps", "two neighbouring steps of a protocol's list are exchanged"},
	{"drop-step", "a step is dropped from a protocol's list"},
	{"exchange", "two neighbouring statements are exchanged"},
	{"assign", "an assignment is left out: the older value stays"},
	{"field", "a field of a literal is not set"},
	{"older", "the older of two values is taken: min for max or the other way"},
	{"shift", "one more or one less is not added"},
	{"arithmetic", "plus becomes minus or the other way"},
	{"loop", "a loop ends one early"},
	{"loop-control", "continue becomes break or the other way"},
}

// edit inserts text around a piece of the source. Prefixes and suffixes nest: what spans less is
// further inside, and of the same span what has the lower rank.
type edit struct {
	from, to  int
	pre, post string
	rank      int
	// shared marks an edit that several mutants need once.
	shared bool
}

// number stands for the mutant's number in the texts of edits.
const number = "\x00"

// alias is the name by which copies know package active.
const alias = "mutation__"

func on(what string) string { return alias + "." + what + "(" + number + ")" }

// call begins a call of a function of package active for the mutant.
func call(name string) string { return alias + "." + name + "(" + number + ", " }

// short cuts code to one line that fits a report.
func short(code string) string {
	code = strings.Join(strings.Fields(code), " ")
	if len(code) > 160 {
		code = code[:160] + " …"
	}
	return code
}

// sorted orders the mutants by file and place and numbers them, and their ordinals.
func sorted(all []*Mutant) []*Mutant {
	slices.SortStableFunc(all, func(a, b *Mutant) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return int(a.at - b.at)
	})
	ordinals := map[string]int{}
	for i, m := range all {
		key := m.File + ":" + m.Func + ":" + m.Rule
		ordinals[key]++
		m.Ordinal, m.Number = ordinals[key], i
	}
	return all
}

// functionName is the name of a declaration as identities spell it.
func functionName(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || len(d.Recv.List) == 0 {
			return d.Name.Name
		}
		return receiver(d.Recv.List[0].Type) + "." + d.Name.Name
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				return v.Names[0].Name
			}
		}
	}
	return "-"
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "-"
}
