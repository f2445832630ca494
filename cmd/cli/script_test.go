package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/shardproof/shardproof/harness"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"shardproof": func() {
		os.Exit(Main(harness.Targets()...))
	}})
}

// TestScripts runs the whole tool: what it prints, which files it writes, its exit codes. The
// command `exits CODE ARGS...` runs it and wants that code.
func TestScripts(t *testing.T) {
	schema, err := filepath.Abs("../../docs/result.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(schemaVariable, schema)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":  exits,
			"schema": followsSchema,
		},
	})
}

// exits runs the tool and compares its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	err := ts.Exec("shardproof", args[1:]...)
	code := "0"
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		code = strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// followsSchema validates what the last command printed by the documented schema. What follows the
// command are numbers that must be counted.
func followsSchema(ts *testscript.TestScript, _ bool, args []string) {
	schema, err := jsonschema.NewCompiler().Compile(os.Getenv(schemaVariable))
	ts.Check(err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile("stdout")))
	ts.Check(err)
	ts.Check(schema.Validate(doc))
	counts, _ := doc.(map[string]any)["counts"].(map[string]any)
	for _, name := range args {
		if _, there := counts[name]; !there {
			ts.Fatalf("%q is not counted in %v", name, counts)
		}
	}
}

// schemaVariable names the schema's file.
const schemaVariable = "SHARDPROOF_RESULT_SCHEMA"
