package reply

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/shardproof/shardproof/system/errcode"
)

// TestEveryCodeHasItsNumber: no code of the store is sent as an internal error, but the one that
// MongoDB does not have.
func TestEveryCodeHasItsNumber(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../errcode/errcode.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		text, ok := spec.Values[0].(*ast.BasicLit)
		if !ok || text.Kind != token.STRING {
			return true
		}
		name, err := strconv.Unquote(text.Value)
		if err != nil {
			t.Fatal(err)
		}
		codes++
		code := errcode.Code(name)
		if _, known := numbers[code]; !known && code != errcode.StaleSession {
			t.Errorf("%s has no number", code)
		}
		return true
	})
	if codes == 0 {
		t.Error("there are no codes")
	}
}
