package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/shardproof/shardproof/cmd/scripttest"
	"github.com/shardproof/shardproof/harness"
)

func TestMain(m *testing.M) {
	scripttest.Main(m, scripttest.Program{
		Name: "shardproof", Main: func() int { return Main(harness.Targets()...) },
	})
}

// TestScripts runs the whole tool: what it prints, which files it writes, its exit codes.
func TestScripts(t *testing.T) {
	file, err := filepath.Abs("../../docs/result.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	scripttest.Scripts{
		Folder: "testdata/script",
		Commands: map[string]scripttest.Command{
			"schema": func(ts *testscript.TestScript, _ bool, args []string) {
				followsSchema(ts, schema, args)
			},
		},
	}.Run(t)
}

// followsSchema validates what the last command printed by the documented schema. What follows the
// command are numbers that must be counted.
func followsSchema(ts *testscript.TestScript, schema *jsonschema.Schema, counted []string) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile("stdout")))
	ts.Check(err)
	ts.Check(schema.Validate(doc))
	counts, _ := doc.(map[string]any)["counts"].(map[string]any)
	for _, name := range counted {
		if _, there := counts[name]; !there {
			ts.Fatalf("%q is not counted in %v", name, counts)
		}
	}
}
