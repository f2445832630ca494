package command

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/codec"
)

// declared returns the exported struct types of this package's source.
func declared(t *testing.T) []string {
	t.Helper()
	packages, err := parser.ParseDir(token.NewFileSet(), ".", nil,
		0) //nolint:staticcheck // one directory, no build tags
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for path, file := range packages["command"].Files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() {
				if _, ok := spec.Type.(*ast.StructType); ok {
					names = append(names, "command."+spec.Name.Name)
				}
			}
			return true
		})
	}
	slices.Sort(names)
	return names
}

func TestEveryTypeIsRegistered(t *testing.T) {
	registered := slices.DeleteFunc(codec.Registered(), func(name string) bool {
		return !strings.HasPrefix(name, "command.")
	})
	if diff := cmp.Diff(declared(t), registered); diff != "" {
		t.Errorf("declared (-) and registered (+) commands differ:\n%s", diff)
	}
}

// TestRoundTrip sends random values of every command through the codec.
func TestRoundTrip(t *testing.T) {
	for _, name := range declared(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { roundTrip(t, name) })
		})
	}
}

func roundTrip(t *rapid.T, name string) {
	sent, _ := codec.New(name)
	fill(t, reflect.ValueOf(sent).Elem())
	b, err := codec.BSON.Encode(sent)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	got, err := codec.BSON.Decode(b)
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	if diff := cmp.Diff(sent, got); diff != "" {
		t.Fatalf("sent (-) and got (+):\n%s", diff)
	}
}

// fill sets a value and everything in it at random; texts have any bytes, as encoded keys do.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "present") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.Slice:
		if n := rapid.IntRange(-1, 3).Draw(t, "length"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.String:
		v.SetString(string(rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "text")))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int") >> (64 - v.Type().Bits()))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "uint") >> (64 - v.Type().Bits()))
	default:
		t.Fatalf("no random value for %s", v.Type())
	}
}
