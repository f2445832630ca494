package checkers_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
)

// lostUpdate is a history in which the second client reads a value that was replaced before it
// asked.
func lostUpdate() []histories.Op {
	return []histories.Op{
		{
			ID: 1, Client: 1, NS: "test.docs", Kind: scenario.Insert, Key: 7, Value: "red",
			Call: 1, Return: 2, Outcome: histories.OK, Result: histories.Result{Applied: true},
		},
		{
			ID: 2, Client: 1, NS: "test.docs", Kind: scenario.Write, Key: 7, Value: "blue",
			Call: 3, Return: 4, Outcome: histories.OK,
			Result: histories.Result{Found: true, Value: "red", Applied: true},
		},
		{
			ID: 3, Client: 2, NS: "test.docs", Kind: scenario.Read, Key: 7,
			Call: 5, Return: 6, Outcome: histories.OK,
			Result: histories.Result{Found: true, Value: "red"},
		},
	}
}

// A history is a slice of operations with their order of calls and returns.
func ExampleCheck() {
	worst := checkers.Worst(checkers.Check(lostUpdate(), checkers.Limits{}))
	fmt.Println(worst.Checker, worst.Outcome)
	for _, v := range worst.Violations {
		fmt.Println(v.Signature, "on operations", v.Ops)
	}
	// Output:
	// unique-writes fail
	// lost-write on operations [2 3]
}

// A file is one that a run has left, or that histories.Write has written.
func ExampleCheckFile() {
	dir, err := os.MkdirTemp("", "history")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "history.ndjson.zst")
	file, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	if err := histories.Write(
		file, histories.Header{Scenario: "by hand"}, lostUpdate(),
	); err != nil {
		panic(err)
	}
	if err := file.Close(); err != nil {
		panic(err)
	}

	verdicts, err := checkers.CheckFile(path, checkers.Limits{})
	if err != nil {
		panic(err)
	}
	for _, v := range verdicts {
		if v.Outcome != checkers.Pass {
			fmt.Printf("%-15s %s\n", v.Checker, v.Outcome)
		}
	}
	// Output:
	// unique-writes   fail
	// linearizability fail
}
