// Command cmd judges the toy bank as shardproof judges its store: by exit codes, with a verdict in
// the folder of its last argument.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/shardproof/shardproof/ci/mutation/testdata/toy/bank"
	"github.com/shardproof/shardproof/ci/mutation/testdata/toy/env"
)

func main() {
	rounds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		os.Exit(64)
	}
	if broke := judge(rounds); broke != "" {
		fail(os.Args[2], broke)
	}
}

func judge(rounds int) string {
	b, t := &bank.Bank{From: 100}, &env.Task{}
	for range rounds {
		if err := b.Move(t, 7); err != nil {
			return "moves"
		}
	}
	b.Late(rounds + 5)
	switch {
	case b.From+b.To != 100 || b.To != 7*rounds:
		return "sum"
	case b.Sum() != b.To || b.Count() != rounds:
		return "log"
	case rounds > 1 && b.Move(t, 1000) == nil:
		return "refusals"
	case rounds > 1 && t.Waited != rounds:
		return "durability"
	}
	return ""
}

func fail(folder, broke string) {
	text := fmt.Sprintf(`{"verdict": [
		{"checker": "other", "outcome": "pass"},
		{"checker": %q, "outcome": "fail"}]}`, broke)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		os.Exit(4)
	}
	if err := os.WriteFile(filepath.Join(folder, "verdict.json"), []byte(text), 0o644); err != nil {
		os.Exit(4)
	}
	os.Exit(1)
}
